# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which host takes the backup of an interval, and what it does while it holds the cluster's lock."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
import os
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import bucket_copies, directory_copies, store
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import snapshot as backup_snapshot
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.bucket import Bucket
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, Member, Quorum
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import program
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import snapshot as maintenance_snapshot
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.configuration import Config, parse_config
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.records import read_records

CONFIG: dict[str, Any] = json.loads((Path(__file__).parent.parent / "fixtures" / "maintenance.json").read_text())
BODY = b"page" * 2048


@pytest.mark.parametrize(("seconds", "window"), [(3600, 1800), (86400, 43200), (30 * 86400, 43200), (None, 43200)])
def test_due_window_is_half_the_interval(seconds: int | None, window: int) -> None:
    assert maintenance_snapshot.due_window(seconds) == window


def member(name: str, role: str, healthy: bool = True) -> Member:
    return Member(name, name, role, healthy, "", f"http://{name}:2379", [], [], version="3.6.16", lag=0)


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ([member("m0", "follower"), member("m1", "leader")], False),
        ([member("m0", "leader"), member("m1", "follower")], True),
        ([member("m0", "leader"), member("m1", "follower", healthy=False)], False),  # no other host could take it
        ([member("m0", "follower", healthy=False), member("m1", "follower"), member("m2", "leader")], True),
        ([member("m0", "learner"), member("m1", "follower"), member("m2", "leader")], True),
        ([member("m1", "follower"), member("m2", "leader")], True),
        ([member("m0", "leader")], False),
        ([], False),
    ],
)
def test_should_yield_to_a_healthy_follower(members: list[Member], expected: bool) -> None:
    cluster = Cluster("1", "", members, Quorum(len(members), 1, len(members), True), [])
    assert maintenance_snapshot.should_yield(cluster, "m0") is expected


@pytest.mark.parametrize(
    ("age", "due"), [(-301, True), (-300, False), (-3, False), (0, False), (99, False), (100, True)]
)
def test_a_clock_that_is_a_little_behind_takes_no_second_backup(age: int, due: bool) -> None:
    assert maintenance_snapshot._is_due({"taken": 1000}, 100, 1000 + age) is due
    assert maintenance_snapshot._is_due({}, 100, 1000)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The steps of a backup of a cluster that is replaced by fakes, in their order."""
    found: list[str] = []

    @contextlib.contextmanager
    def hold_lock(*_arguments: Any, **_options: Any) -> Iterator[object]:
        found.append("lock")
        yield object()
        found.append("release")

    def announce(*_arguments: Any) -> str:
        found.append("announce")
        return ""

    def plan(request: backup_snapshot.Request, *_arguments: Any) -> backup_snapshot.Plan:
        path = store.new_path(request.directory, request.prefix, 1_795_256_100)
        return backup_snapshot.Plan("75cf", member("m1", "follower"), path, len(BODY), [], [], [])

    def download(_member: Member, path: str, *_arguments: Any) -> None:
        Path(path).write_bytes(BODY)
        found.append("download")

    digest = hashlib.sha256(BODY).hexdigest()
    metadata = store.Metadata("75cf", "m1", "1", "3.6.16", "3.6.0", 5, "b3", 9, len(BODY), digest, 1_795_256_100)
    monkeypatch.setattr(maintenance_snapshot, "next_runs", lambda _calendar: [])
    monkeypatch.setattr(maintenance_snapshot, "_read_newest_backup", lambda _config: {})
    monkeypatch.setattr(
        maintenance_snapshot,
        "observe_cluster",
        lambda *_arguments: (Cluster("75cf", "", [], Quorum(0, 1, 0, False), []), ""),
    )
    monkeypatch.setattr(maintenance_snapshot.lock, "hold_lock", hold_lock)
    monkeypatch.setattr(maintenance_snapshot, "_announce", announce)
    monkeypatch.setattr(backup_snapshot, "plan_snapshot", plan)
    monkeypatch.setattr(backup_snapshot, "_download", download)
    monkeypatch.setattr(backup_snapshot, "_verify", lambda *_arguments: metadata)
    return found


def config_with_copies(folder: Path) -> Config:
    data = copy.deepcopy(CONFIG)
    for name in ("backups", "share"):
        (folder / name).mkdir()
    data["state_dir"] = str(folder / "state")
    (folder / "state").mkdir()
    data["snapshot"].update(directory=str(folder / "backups"), copy_dir=str(folder / "share"))
    return parse_config(data)


@pytest.mark.parametrize("check", [False, True])
def test_the_host_of_a_removed_member_takes_no_backup(
    tmp_path: Path, steps: list[str], monkeypatch: pytest.MonkeyPatch, check: bool
) -> None:
    """The others would take its backup for theirs, and it would go with the host."""
    config = config_with_copies(tmp_path)
    cluster = Cluster("75cf", "", [member("m8", "follower"), member("m9", "leader")], Quorum(2, 2, 2, True), [])
    monkeypatch.setattr(maintenance_snapshot, "observe_cluster", lambda *_arguments: (cluster, "m9"))
    reason = f"the cluster has no member named {config.member!r}; its members are m8, m9: if it was removed, stop the timers on this host"
    with pytest.raises(ValueError, match=re.escape(reason)):
        maintenance_snapshot.run(config, check=check)
    assert steps == []


def test_copies_are_made_without_the_lock(tmp_path: Path, steps: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A share whose server does not answer would keep the lock for as long as the job may run."""
    share, real = str(tmp_path / "share"), os.lstat

    def lstat(path: Any, *arguments: Any, **options: Any) -> os.stat_result:
        if os.fspath(path) == share and steps[-1] != "share":
            steps.append("share")
        return real(path, *arguments, **options)

    asked, copied = config_with_copies(tmp_path), directory_copies.copy_to_directory

    def copy_to_directory(*arguments: Any) -> tuple[str, list[str]]:
        steps.append("copy")
        return copied(*arguments)

    monkeypatch.setattr(os, "lstat", lstat)
    monkeypatch.setattr(directory_copies, "copy_to_directory", copy_to_directory)
    record = maintenance_snapshot.run(asked, check=False)
    assert record["result"] == "done" and record["copies"] == [f"{share}/etcd-20261121T101500Z.db"], record
    assert [step for step in steps if step != "share"] == ["lock", "download", "announce", "release", "copy"]
    assert "share" not in steps[: steps.index("release")], "even a link in its path is resolved later"


def test_a_job_that_is_killed_while_it_copies_leaves_a_failed_record(
    tmp_path: Path, steps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_arguments: Any) -> tuple[str, list[str]]:
        raise SystemExit(143)

    asked = config_with_copies(tmp_path)
    monkeypatch.setattr(directory_copies, "copy_to_directory", killed)
    with pytest.raises(SystemExit):
        maintenance_snapshot.run(asked, check=False)
    record = read_records(str(tmp_path / "state"))["snapshot"]
    assert (record["result"], record["settled"]) == ("failed", False) and steps[-1] == "release"
    assert record["reason"].endswith("etcd-20261121T101500Z.db, but its copies were not finished")
    # SIGTERM lets the program add what ended it.
    with pytest.raises(SystemExit):
        program.run_operation("snapshot", asked, check=False)
    ended = read_records(str(tmp_path / "state"))["snapshot"]
    assert (ended["result"], ended["hash"], ended["newest_at"]) == ("failed", record["hash"], record["newest_at"])
    assert ended["reason"].startswith(f"{record['reason']}: SIGTERM ended it".replace(".db", "-2.db"))


def test_a_copy_into_the_directory_of_the_backups_fails(tmp_path: Path, steps: list[str]) -> None:
    """Only the copy can find a link to it."""
    asked = config_with_copies(tmp_path)
    (tmp_path / "share").rmdir()
    (tmp_path / "share").symlink_to(tmp_path / "backups")
    record = maintenance_snapshot.run(asked, check=False)
    assert steps[-1] == "release" and record["result"] == "failed"
    assert record["reason"].endswith(
        f"there is no copy in {tmp_path}/share: it is the directory of the snapshots: set another directory, or leave it out"
    )
    assert Path(record["path"]).exists() and len(store.scan_directory(str(tmp_path / "backups"), "etcd")) == 1


def test_a_share_that_hangs_delays_no_copy_to_the_bucket(
    tmp_path: Path, steps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def copy_to_bucket(*_arguments: Any) -> tuple[str, list[str]]:
        steps.append("bucket")
        return "s3://etcd-backups/etcd-20261121T101500Z.db", []

    def hang(*_arguments: Any) -> None:
        time.sleep(600)

    asked = config_with_copies(tmp_path)
    asked = replace(asked, snapshot=replace(asked.snapshot, bucket=Bucket("etcd-backups"), timeout=1))
    monkeypatch.setattr(bucket_copies, "copy_to_bucket", copy_to_bucket)
    monkeypatch.setattr(directory_copies, "_publish", hang)
    record = maintenance_snapshot.run(asked, check=False)
    assert steps[-2:] == ["release", "bucket"]
    assert (record["result"], record["copies"]) == ("failed", ["s3://etcd-backups/etcd-20261121T101500Z.db"])
    assert f"but the copy to {tmp_path}/share did not finish within 2 s: check the server" in record["reason"]
