# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Choosing a member, and verifying snapshots. tests/integration takes snapshots of real etcd."""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import check, encryption, store
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import snapshot as backup_snapshot
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import ProcessResult
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, Member, Quorum
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection
from ansible_collections.etcdops.headroom.plugins.module_utils._host import fstab

REQUEST = backup_snapshot.Request("/nowhere", "etcd", "", keep=1, keep_days=None, reserve=0, timeout=10)
STATUS = '{"hash":3016699658,"revision":8123,"totalKey":2000,"totalSize":8192,"version":"3.6.0"}'
CONTENT = b"page" * 2048


def member(name: str, role: str = "follower", **more: Any) -> Member:
    base = Member(name, name, role, True, "", f"https://{name}:2379", [], [], version="3.6.16", lag=0)
    return replace(base, **more)


def of(*members: Member, alarms: tuple[tuple[str, str], ...] = (), error: str = "") -> Cluster:
    listed = [{"member": who, "type": what} for who, what in alarms]
    return Cluster("75cf", "", list(members), Quorum(3, 2, 3, True), listed, error)


def answering(stdout: str = STATUS, stderr: str = "", returncode: int | None = 0) -> check.Runner:
    """A runner whose programs all say the same."""
    return lambda _argv, _timeout, _name: ProcessResult(returncode, stdout, stderr)


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """A snapshot that is whole, with its records; only etcdutl would find nothing in it."""
    body = CONTENT + hashlib.sha256(CONTENT).digest()
    path = tmp_path / "etcd-20261121T101500Z.db"
    (tmp_path / "work").write_bytes(body)
    metadata = store.Metadata(
        "75cf", "m2", "2", "3.6.16", "3.6.0", 8123, "b3cf2f0a", 9, len(body), hashlib.sha256(body).hexdigest(), 0
    )
    store.publish(str(tmp_path / "work"), str(path), metadata)
    return path


def bytes_from_disk() -> int:
    """The bytes that this process has read from block devices."""
    return int(Path("/proc/self/io").read_text().partition("\nread_bytes: ")[2].split()[0])


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A snapshot that was just written, so that all of it is in the page cache."""
    path = tmp_path / "written.db"
    body = b"page" * (1 << 20)
    path.write_bytes(body + hashlib.sha256(body).digest())
    before = bytes_from_disk()
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        stream.read()
    if bytes_from_disk() - before < len(body):
        pytest.skip("the files of this folder are not on a block device")
    path.write_bytes(path.read_bytes())
    return path


def test_a_new_snapshot_is_read_back_from_the_disk(written: Path) -> None:
    before = bytes_from_disk()
    planned = backup_snapshot.Plan("75cf", member("m2"), "", 0, [], [], [])
    tools = backup_snapshot.Tools(Connection("", "", "", "", 10.0), "")
    metadata = backup_snapshot._verify(str(written), planned, tools, 10, answering(), 0)
    assert bytes_from_disk() - before >= metadata.size == written.stat().st_size


def test_a_copy_is_read_back_from_the_disk(written: Path) -> None:
    before = bytes_from_disk()
    size, sha256 = encryption.sync_and_hash(str(written))
    assert bytes_from_disk() - before >= size == written.stat().st_size
    assert sha256 == hashlib.sha256(written.read_bytes()).hexdigest()


ILL = {"healthy": False, "health_error": "connection refused"}


@pytest.mark.parametrize(
    ("cluster", "name", "near", "chosen"),
    [
        (of(member("a", "leader"), member("b"), member("c")), "", "", "b"),
        (of(member("a", "leader"), member("b"), member("c")), "", "c", "c"),
        (of(member("a", "leader"), member("b"), member("c")), "", "a", "b"),
        (of(member("a", "leader"), member("b", lag=9), member("c")), "", "", "c"),
        (of(member("a", "leader"), member("b", **ILL), member("c", lag=9)), "", "b", "c"),
        (of(member("a", "leader"), member("b", **ILL), member("c", **ILL)), "", "", "a"),
        (of(member("a", "leader"), member("l", "learner")), "", "l", "a"),
        (of(member("a", "leader"), member("b", version=None)), "", "", "a"),
        (of(member("a", "leader"), member("b")), "a", "b", "a"),
        (of(member("a", "leader"), alarms=(("a", "NOSPACE"),)), "", "", "a"),
    ],
)
def test_choose_member(cluster: Cluster, name: str, near: str, chosen: str) -> None:
    assert backup_snapshot.choose_member(cluster, name, near).name == chosen


@pytest.mark.parametrize(
    ("cluster", "avoid", "chosen"),
    [
        (of(member("a", "leader"), member("b"), member("c", lag=9)), "b", "c"),
        (of(member("a", "leader"), member("b"), member("c", **ILL)), "b", "a"),
        (of(member("a", "leader"), member("b"), member("l", "learner")), "a", "b"),
        (of(member("a", "leader")), "a", "a"),
        (of(member("a", "leader"), member("b")), "gone", "b"),
    ],
)
def test_choose_another_member_than_that_of_the_backup(cluster: Cluster, avoid: str, chosen: str) -> None:
    assert backup_snapshot.choose_member(cluster, "", "b", avoid).name == chosen


@pytest.mark.parametrize(
    ("cluster", "name", "text"),
    [
        (of(error="x: refused"), "", "no member of the cluster answers (x: refused); start etcd, or set endpoints"),
        (
            of(member("a", **ILL), member("l", "learner")),
            "",
            "no voting member is healthy (a: connection refused); repair the cluster first",
        ),
        (
            of(member("a"), alarms=(("b", "CORRUPT"),)),
            "a",
            "the alarm CORRUPT is set for b; replace the member that differs",
        ),
        (of(member("a"), member("b")), "c", "the cluster has no voting member named 'c'; those are a, b"),
        (of(member("a"), member("l", "learner")), "l", "the cluster has no voting member named 'l'; those are a"),
        (of(member("a"), member("b", **ILL)), "b", "b is not healthy: connection refused; choose another member"),
    ],
)
def test_no_suitable_member(cluster: Cluster, name: str, text: str) -> None:
    with pytest.raises(store.SnapshotError) as error:
        backup_snapshot.choose_member(cluster, name, "")
    assert str(error.value).startswith(text)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"keep": 0}, "keep is 0, but must be at least 1, because the newest snapshot is always kept"),
        ({"keep": -3}, "keep is -3, but must be at least 1"),
        ({"keep_days": 0}, "keep_days is 0, but must be at least 1: leave it out to keep by number only"),
        ({"timeout": 0}, "timeout is 0, but must be 1 to 86400 seconds"),
        ({"timeout": 86401}, "timeout is 86401, but must be 1 to 86400 seconds"),
        ({"prefix": "../etc"}, "name is '../etc': write letters"),
    ],
)
def test_invalid_request(change: dict[str, Any], text: str) -> None:
    with pytest.raises(store.SnapshotError) as error:
        backup_snapshot.check_request(replace(REQUEST, **change))
    assert str(error.value).startswith(text)


def test_verify_returns_the_metadata(snapshot: Path) -> None:
    metadata = check.verify_snapshot(str(snapshot), sys.executable, 10, run=answering())
    assert (metadata.cluster_id, metadata.revision) == ("75cf", 8123)
    assert check.read_status(str(snapshot), "", 10, answering()) == check.Status("b3cf2f0a", 8123, 2000, "3.6.0")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-512])


def flip(path: Path) -> None:
    body = bytearray(path.read_bytes())
    body[5000] ^= 1
    path.write_bytes(body)


def forge(path: Path) -> None:
    """Other content with a correct digest, as an attacker who knows the format could write."""
    other = CONTENT[::-1]
    path.write_bytes(other + hashlib.sha256(other).digest())


def unsign(path: Path) -> None:
    Path(f"{path}.sha256").write_text(f"{'0' * 64}  {path.name}\n")


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (cut, "is truncated or altered: it has 7712 bytes, but 8224 according to its record"),
        (flip, "was altered: the SHA-256 of its content is "),
        (forge, "was altered: its SHA-256 is "),
        (unsign, "was altered: its SHA-256 is "),
    ],
)
def test_damaged_snapshots_are_refused(snapshot: Path, damage: Any, text: str) -> None:
    damage(snapshot)
    with pytest.raises(store.DamagedError) as error:
        check.verify_snapshot(str(snapshot), sys.executable, 10, run=answering())
    assert text in str(error.value)
    assert str(snapshot) in str(error.value)


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".json", "is not a complete backup, or was copied without its records"),
        (".sha256", "is not a complete backup, or was copied without its records"),
        ("", "is not a file on this host"),
    ],
)
def test_incomplete_snapshots_are_refused(snapshot: Path, suffix: str, text: str) -> None:
    Path(f"{snapshot}{suffix}").unlink()
    with pytest.raises(store.SnapshotError, match=text) as error:
        check.verify_snapshot(str(snapshot), sys.executable, 10, run=answering())
    assert str(snapshot) in str(error.value) and not isinstance(error.value, store.DamagedError)


@pytest.mark.parametrize("size", [0, 1, 31, 33, 512, 8191])
def test_invalid_sizes(tmp_path: Path, size: int) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(b"x" * size)
    with pytest.raises(
        store.DamagedError, match=f"is truncated or not a snapshot: its size of {size} bytes does not include"
    ):
        check.verify_digest(str(path))


@pytest.mark.parametrize(
    ("runner", "text", "damaged"),
    [
        (answering(stderr="Error: snapshot file integrity check failed", returncode=1), "integrity check failed", True),
        (
            answering(stderr="panic: page 4 already freed\n\ngoroutine 1", returncode=2),
            "is damaged: panic: page 4",
            True,
        ),
        (answering(returncode=None), "cannot be checked: etcdutl did not finish within 10 s", False),
        (answering(returncode=-9), "cannot be checked: ", False),
        (
            answering(stderr="fatal error: runtime: out of memory", returncode=2),
            "cannot be checked: fatal error",
            False,
        ),
        (answering(stderr="Error: open x: permission denied", returncode=1), "cannot be checked: ", False),
        (answering(stdout="null"), "etcdutl did not print the status of", False),
        (answering(stdout='{"hash": 1}'), "etcdutl did not print the status of", False),
        (answering(stdout="Usage:"), "etcdutl did not print the status of", False),
    ],
)
def test_snapshots_that_etcdutl_refuses(snapshot: Path, runner: check.Runner, text: str, damaged: bool) -> None:
    with pytest.raises(store.SnapshotError, match=text) as error:
        check.verify_snapshot(str(snapshot), sys.executable, 10, run=runner)
    assert isinstance(error.value, store.DamagedError) is damaged


def test_missing_etcdutl(snapshot: Path) -> None:
    with pytest.raises(store.SnapshotError, match="/nowhere/etcdutl is not an executable program: install etcdutl"):
        check.verify_snapshot(str(snapshot), "/nowhere/etcdutl", 10)


@pytest.mark.parametrize(
    ("cluster_id", "version", "text"),
    [
        ("", "", ""),
        ("75cf", "3.6.16", ""),
        ("75cf", "3.6.0", ""),  # within a minor version the database is the same
        ("", "3.7.3", ""),
        ("", "3.10.0", ""),
        ("3c2d", "", "the snapshot belongs to the cluster 75cf (member m2), not to 3c2d"),
        ("75cf", "3.5.35", "the snapshot is of etcd 3.6.16, which etcd 3.5.35 cannot read: restore it with 3.6 or"),
        ("", "newest", "'newest' is not an etcd version: write it like 3.6.16"),
    ],
)
def test_restorable_clusters_and_versions(snapshot: Path, cluster_id: str, version: str, text: str) -> None:
    metadata = store.read_metadata(str(snapshot))
    try:
        check.check_restorable(metadata, cluster_id=cluster_id, etcd_version=version)
    except store.SnapshotError as error:
        assert text
        assert str(error).startswith(text)
    else:
        assert not text


def test_a_volume_that_is_not_mounted_gets_no_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its mount point is an empty folder of the volume around it, and would hide the snapshot once it is mounted."""
    monkeypatch.setattr(fstab, "read_text", lambda _path: f"/dev/vdz {tmp_path} ext4 noauto")
    request = replace(REQUEST, directory=str(tmp_path))
    tools = backup_snapshot.Tools(Connection("false", None, None, None, 1), "true")
    for take in (
        lambda: backup_snapshot.plan_snapshot(request, tools, ["http://127.0.0.1:1"], 0),
        lambda: backup_snapshot.save_snapshot(request, tools, ["http://127.0.0.1:1"]),
    ):
        with pytest.raises(
            store.SnapshotError,
            match=f"^{tmp_path}: nothing is mounted at {tmp_path}, which /etc/fstab lists: mount it$",
        ):
            take()
