# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Choosing a backup for a drill, and comparing its keys. tests/integration restores real etcd."""

from __future__ import annotations

import hashlib
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import compare, drill, store
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import scratch_member as scratch
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.key_listing import Endpoint, Key
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, Member, Quorum
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.hashes import Hash

BODY = b"page" * 2048


def save(folder: Path, hour: int, cluster_id: str = "75cf", number: int = 0) -> Path:
    """A backup of that hour, the numbered one of its second."""
    path = folder / f"etcd-20261121T{hour:02}0000Z{f'-{number}' if number else ''}.db"
    (folder / "work").write_bytes(BODY)
    digest = hashlib.sha256(BODY).hexdigest()
    metadata = store.Metadata(cluster_id, "m2", "2", "3.6.16", "3.6.0", hour, "b3", 9, len(BODY), digest, hour * 3600)
    store.publish(str(folder / "work"), str(path), metadata)
    return path


def request(folder: Path, path: Path | None = None) -> drill.Request:
    return drill.Request(str(folder), "etcd", str(path or ""), str(folder), 1 << 30, 0, 60, live=True)


def test_newest_backup_of_the_cluster(tmp_path: Path) -> None:
    save(tmp_path, 1)
    ours = save(tmp_path, 2)
    other = save(tmp_path, 3, "3c2d")
    assert drill.choose_backup(request(tmp_path), "75cf")[0] == str(ours)
    assert drill.choose_backup(request(tmp_path), "")[0] == str(other)
    assert drill.choose_backup(request(tmp_path, ours), "75cf")[1].revision == 2


def member(name: str, role: str, **more: Any) -> Member:
    base = Member(name, name, role, True, "", f"https://{name}:2379", [], [], version="3.6.16", lag=0)
    return replace(base, **more)


def plan(folder: Path, monkeypatch: pytest.MonkeyPatch, *members: Member) -> drill.Plan:
    """Plan the drill of a cluster with these members, asked through m2."""
    cluster = Cluster("75cf", "", list(members), Quorum(3, 2, 3, True), [])
    monkeypatch.setattr(drill, "observe_serving_cluster", lambda *_arguments: (cluster, "m2"))
    tools = drill.Tools(scratch.connection("/nowhere", 1), sys.executable, sys.executable)
    return drill.plan_drill(replace(request(folder), memory_max=1 << 30), tools, [])


def test_compare_with_another_member_than_the_backup_was_taken_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A backup of m2 says nothing new about m2, although m2 is the follower on this host."""
    monkeypatch.setattr(drill, "check_scratch_dir", lambda *_arguments: [])
    save(tmp_path, 2)
    leader, backed_up = member("m1", "leader"), member("m2", "follower")
    for other, compared in ((member("m3", "follower"), "m3"), (member("m3", "follower", healthy=False), "m1")):
        found = plan(tmp_path, monkeypatch, leader, backed_up, other).member
        assert found is not None and found.name == compared
    found = plan(tmp_path, monkeypatch, replace(backed_up, role="leader")).member
    assert found is not None and found.name == "m2", "the only member"


def test_newer_damaged_backup_is_an_error(tmp_path: Path) -> None:
    """A damaged backup counts only if it is newer than every good one."""
    old, new = save(tmp_path, 1), save(tmp_path, 2)
    old.write_bytes(b"")
    assert drill.choose_backup(request(tmp_path), "75cf")[0] == str(new)
    new.write_bytes(BODY[:-1])
    with pytest.raises(drill.DrillError, match=r"the newest backup is damaged: .*T020000Z.db: it has 8191 bytes"):
        drill.choose_backup(request(tmp_path), "75cf")


def test_a_damaged_backup_of_the_same_second_is_an_error(tmp_path: Path) -> None:
    save(tmp_path, 1)
    damaged = save(tmp_path, 1, number=10)
    damaged.write_bytes(BODY[:-1])
    with pytest.raises(drill.DrillError, match=r"the newest backup is damaged: .*T010000Z-10.db: it has 8191 bytes"):
        drill.choose_backup(request(tmp_path), "75cf")
    newer = save(tmp_path, 1, number=11)
    assert drill.choose_backup(request(tmp_path), "75cf")[0] == str(newer)


def test_no_backup_to_choose(tmp_path: Path) -> None:
    with pytest.raises(drill.DrillError, match=r"there is no backup of the cluster 75cf named etcd-… in .*: take one"):
        drill.choose_backup(request(tmp_path), "75cf")
    with pytest.raises(
        drill.DrillError, match="is not a directory on this host: take a backup first, or mount its volume"
    ):
        drill.choose_backup(request(tmp_path / "none"), "75cf")
    other = save(tmp_path, 3, "3c2d")
    with pytest.raises(store.SnapshotError, match=r"belongs to the cluster 3c2d \(member m2\), not to 75cf"):
        drill.choose_backup(request(tmp_path, other), "75cf")


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        (9, "it has 9 keys, and was not compared with a cluster."),
        (
            None,
            "it was not compared with a cluster, and its keys were not counted, because authentication could not be disabled in the restored copy.",
        ),
    ],
)
def test_check_copy_counts_the_keys(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, keys: int | None, sentence: str
) -> None:
    monkeypatch.setattr(compare, "hash_at", lambda copy, revision: Hash("5ab1c2d3", 7))
    monkeypatch.setattr(compare, "count_at", lambda copy, revision: keys)
    metadata = store.read_metadata(str(save(tmp_path, 1)))
    found = compare.check_copy(Endpoint(scratch.connection("/nowhere", 1), "", "the backup"), metadata)
    assert (found.keys, found.compared, found.sentence) == (keys, "nothing", sentence)


@pytest.mark.parametrize(
    ("theirs", "ours", "text"),
    [
        (Key(5, 5, 1), Key(5, 5, 1), ""),
        (Key(5, 12, 3), Key(5, 8, 2), ""),  # changed since the backup at 10
        (Key(5, 5, 1), None, "exists in the cluster since revision 5 and is not in the backup"),
        (Key(5, 12, 2), None, "exists in the cluster since revision 5 and is not in the backup"),
        (Key(5, 8, 2), Key(6, 8, 2), "exists in the cluster since revision 5, but in the backup since 6"),
        (Key(5, 8, 2), Key(5, 7, 1), "last changed at revision 8, but in the backup at 7"),
        (Key(5, 8, 2), Key(5, 8, 3), "last changed at revision 8, but in the backup at 8"),
    ],
)
def test_key_problem(theirs: Key, ours: Key | None, text: str) -> None:
    assert compare.key_problem(theirs, ours, 10) == text


@pytest.mark.parametrize(
    ("lines", "cause"),
    [
        ([], "its log is empty"),
        (
            ["runtime: out of memory: cannot allocate 4194304-byte block"],
            "it needs more than 1.0 GiB of memory, raise memory_max",
        ),
        (['{"level":"fatal","msg":"discovery failed","error":"bad"}'], "discovery failed: bad"),
        (["sh: 1: etcd: not found"], "sh: 1: etcd: not found"),
    ],
)
def test_exit_reason(tmp_path: Path, lines: list[str], cause: str) -> None:
    (tmp_path / "etcd.log").write_text("\n".join(lines))
    assert scratch.exit_reason(str(tmp_path), 1 << 30) == cause


def test_time_limit() -> None:
    assert 50 < scratch.Limits(0, 60).seconds_left() <= 60
    with pytest.raises(scratch.ScratchMemberError, match=r"^the time limit of 60 s has passed: raise timeout$"):
        scratch.Limits(0, 60, began=time.monotonic() - 61).seconds_left()


def test_missing_programs(tmp_path: Path) -> None:
    tools = drill.Tools(scratch.connection("/nowhere", 1), "/nowhere/etcd", "/nowhere/etcdutl")
    with pytest.raises(
        drill.DrillError, match="/nowhere/etcd is not an executable program: install etcd, or set etcd_path"
    ):
        drill.plan_drill(request(tmp_path), tools, [])
    with pytest.raises(drill.DrillError, match=r"memory_max is 1.0 KiB, but must be at least 128.0 MiB"):
        drill.plan_drill(replace(request(tmp_path), memory_max=1024), tools, [])


def test_etcd_next_to_etcdutl(tmp_path: Path) -> None:
    (tmp_path / "etcdutl").touch(mode=0o755)
    (tmp_path / "link").symlink_to(tmp_path / "etcdutl")
    assert drill.etcd_next_to(str(tmp_path / "link")) == str(tmp_path / "etcd")


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ("kill -9 $$", scratch.ScratchMemberError),
        ("echo 'write snap: no space left on device' >&2; exit 1", scratch.ScratchMemberError),
        ("echo 'panic: freepages: failed to get all reachable pages' >&2; exit 2", scratch.StartError),
    ],
    ids=["killed", "no space", "panic"],
)
def test_only_a_reason_of_etcd_itself_is_a_reason_against_the_backup(
    tmp_path: Path, script: str, kind: type[Exception]
) -> None:
    etcd = tmp_path / "etcd"
    etcd.write_text(f"#!/bin/sh\n{script}\n")
    etcd.chmod(0o755)
    limits = scratch.Limits(1 << 30, 60)
    with pytest.raises(scratch.ScratchMemberError, match="etcd does not start with it") as raised:
        with scratch.run_member(str(etcd), "etcdctl", str(tmp_path), str(tmp_path / "data"), limits):
            pass
    assert raised.type is kind
