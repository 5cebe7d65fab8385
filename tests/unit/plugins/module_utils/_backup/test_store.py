# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stored snapshots: their records, their validity, retention and locks."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import retention, store
from ansible_collections.etcdops.headroom.plugins.module_utils._base import locks
from hypothesis import given
from hypothesis import strategies as st

NOW = 1_795_256_100  # 2026-11-21T10:15:00Z
DAY = 86400
METADATA = store.Metadata(
    cluster_id="75cf",
    member="etcd-2",
    member_id="8e9e",
    etcd_version="3.6.16",
    storage_version="3.6.0",
    revision=8123,
    hash="b3cf2f0a",
    total_keys=2000,
    size=4,
    sha256="9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",  # of "test"
    taken_at=NOW,
)


def put(folder: Path, name: str, **differences: Any) -> Path:
    """A snapshot of four bytes with its records."""
    path = folder / name
    work = folder / "work"
    work.write_text("test")
    store.publish(str(work), str(path), replace(METADATA, **differences))
    return path


def stored(name: str, age: float = 0, cluster: str = "75cf", problem: str = "") -> store.StoredSnapshot:
    return store.StoredSnapshot(name, replace(METADATA, cluster_id=cluster, taken_at=int(NOW - age * DAY)), problem)


def test_files_of_a_published_snapshot(tmp_path: Path) -> None:
    path = put(tmp_path, "etcd-20261121T101500Z.db")
    assert sorted(item.name for item in tmp_path.iterdir()) == [
        path.name + suffix for suffix in ("", ".json", ".sha256")
    ]
    record = json.loads((tmp_path / f"{path.name}.json").read_text())
    assert (record["format"], record["taken_at"], record["cluster_id"]) == (1, "2026-11-21T10:15:00Z", "75cf")
    for suffix in store.RECORDS:
        assert stat.S_IMODE(Path(f"{path}{suffix}").stat().st_mode) == 0o600
    subprocess.run(["sha256sum", "--check", "--strict", f"{path.name}.sha256"], cwd=tmp_path, check=True)
    assert store.read_metadata(str(path)) == METADATA


def test_a_file_is_flushed_before_it_is_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power failure must not leave a name whose content never reached the disk."""
    steps: list[tuple[str, str]] = []
    flush, rename = store.sync_path, os.rename
    monkeypatch.setattr(store, "sync_path", lambda path: (steps.append(("flush", Path(path).name)), flush(path)))
    monkeypatch.setattr(os, "rename", lambda old, new: (steps.append(("rename", Path(new).name)), rename(old, new)))
    put(tmp_path, "etcd.db")
    assert steps.index(("flush", "work")) < steps.index(("rename", "etcd.db.json")) < steps.index(("rename", "etcd.db"))


TEXT = st.text(max_size=20)
COUNT = st.integers(min_value=0, max_value=2**63 - 1)


@given(
    st.builds(
        store.Metadata,
        **{name: TEXT for name, kind in store.Metadata.__annotations__.items() if kind == "str"},
        **dict.fromkeys(("revision", "total_keys", "size"), COUNT),
        taken_at=st.integers(min_value=0, max_value=2**32),
    )
)
def test_metadata_round_trip(metadata: store.Metadata) -> None:
    assert store.parse_metadata(json.dumps(metadata.as_dict()), "x.json") == metadata


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"format": 2}, "x.json is not the record of a snapshot (format 1): use another snapshot"),
        ({"revision": "8123"}, "x.json: revision is '8123', but must be of type int"),
        ({"size": True}, "x.json: size is True, but must be of type int"),
        ({"cluster_id": None}, "x.json: cluster_id is None, but must be of type str"),
        ({"taken_at": "yesterday"}, "x.json: taken_at is 'yesterday', but must be a date like 2026-11-21T10:15:00Z"),
        ({"taken_at": 5}, "x.json: taken_at is 5, but must be a date like 2026-11-21T10:15:00Z"),
    ],
)
def test_invalid_metadata(change: dict[str, Any], text: str) -> None:
    with pytest.raises(store.SnapshotError) as error:
        store.parse_metadata(json.dumps({**METADATA.as_dict(), **change}), "x.json")
    assert str(error.value) == text


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"x"'])
def test_missing_metadata(text: str) -> None:
    with pytest.raises(store.SnapshotError, match=r"x\.json"):
        store.parse_metadata(text, "x.json")


@pytest.mark.parametrize("prefix", ["", "-x", ".x", "a/b", "a b", "x" * 101, "a\n"])
def test_invalid_prefix(prefix: str) -> None:
    with pytest.raises(store.SnapshotError, match="name is "):
        store.check_prefix(prefix)


def test_names(tmp_path: Path) -> None:
    first = store.new_path(str(tmp_path), "etcd", NOW)
    assert first == str(tmp_path / "etcd-20261121T101500Z.db")
    Path(first).touch()
    second = store.new_path(str(tmp_path), "etcd", NOW + 0.9)
    assert second == str(tmp_path / "etcd-20261121T101500Z-2.db")
    Path(second).touch()
    assert store.new_path(str(tmp_path), "etcd", NOW).endswith("-3.db")
    # A copy of a numbered snapshot, where that number is taken: its name must stay one that is listed.
    copy = os.path.basename(store.unused_path(str(tmp_path), Path(second).name))
    assert copy == "etcd-20261121T101500Z-3.db" and store.name_pattern("etcd").fullmatch(copy)
    with pytest.raises(store.SnapshotError, match=r"etcd\.db is not the name of a snapshot"):
        store.unused_path(str(tmp_path), "etcd.db")


def test_scan(tmp_path: Path) -> None:
    good = put(tmp_path, "etcd-20261121T101500Z.db")
    shorter = put(tmp_path, "etcd-20261121T101500Z-2.db")
    shorter.write_text("tes")
    alone = put(tmp_path, "etcd-20261121T101501Z.db")
    Path(f"{alone}.json").unlink()
    unsigned = put(tmp_path, "etcd-20261121T101502Z.db")
    Path(f"{unsigned}.sha256").write_text("who knows\n")
    put(tmp_path, "other-20261121T101500Z.db")
    put(tmp_path, "etcd-other-20261121T101500Z.db")
    (tmp_path / "etcd.db").touch()
    found = {Path(item.path).name: item.problem for item in store.scan_directory(str(tmp_path), "etcd")}
    assert found == {
        good.name: "",
        shorter.name: "it has 3 bytes, but 4 according to its record",
        alone.name: f"{alone}.json is missing: {alone} is not a complete backup, or was copied without its records",
        unsigned.name: f"{unsigned}.sha256 is not in the format of sha256sum: use another snapshot",
    }


@pytest.mark.parametrize(
    ("keep", "keep_days", "removed"),
    [
        (1, None, ["d", "c", "b", "a"]),
        (2, None, ["d", "c", "b"]),
        (4, None, ["d"]),
        (5, None, []),
        (99, None, []),
        (1, 1, ["d", "c", "b"]),  # when a was saved, b was a day old to the second
        (1, 2, ["d", "c"]),
        (1, 3, ["d"]),
        (3, 2, ["d", "c"]),
        (4, 2, ["d"]),
        (1, 99, []),
    ],
)
def test_retention(keep: int, keep_days: int | None, removed: list[str]) -> None:
    old = [stored("c", 3), stored("a", 1), stored("d", 40), stored("b", 2)]
    assert retention.expired_paths(old, cluster_id="75cf", keep=keep, keep_days=keep_days, now=NOW) == removed


def test_retention_within_one_second() -> None:
    names = [f"etcd-20261121T101500Z{number}.db" for number in ("", "-2", "-9", "-10")]
    old = [stored(name) for name in sorted(names)]
    assert retention.expired_paths(old, cluster_id="75cf", keep=1, keep_days=None, now=NOW) == names


def test_retention_ignores_damaged_and_other_clusters_snapshots() -> None:
    old = [stored("a", 9), stored("other", 8, cluster="3c2d"), stored("cut", 7, problem="it has 3 bytes")]
    old.append(store.StoredSnapshot("bare", None, "no record"))
    assert retention.expired_paths(old, cluster_id="75cf", keep=1, keep_days=None, now=NOW) == ["a"]
    assert retention.expired_paths(old, cluster_id="75cf", keep=2, keep_days=None, now=NOW) == []
    assert retention.untouched(old, "75cf", NOW) == [
        {"path": "other", "reason": "it belongs to the cluster 3c2d"},
        {"path": "cut", "reason": "it has 3 bytes"},
        {"path": "bare", "reason": "no record"},
    ]


def test_a_snapshot_dated_in_the_future_is_not_the_newest() -> None:
    """A clock that was a year ahead for one run must not keep the later ones from being tested, nor push them out."""
    old = [stored("future", -365), stored("new", 1), stored("old", 2)]
    assert [item.path for item in retention.newest_first(old, "75cf", NOW)] == ["new", "old"]
    assert retention.expired_paths(old, cluster_id="75cf", keep=2, keep_days=None, now=NOW) == ["old"]
    assert retention.untouched(old, "75cf", NOW) == [
        {"path": "future", "reason": "it is dated in the future: check the clocks of the hosts"}
    ]


@pytest.mark.parametrize("ahead", [29, 31, 365])
def test_a_clock_that_is_ahead_for_one_run_removes_no_history(ahead: int) -> None:
    """That run and the next one, with the right time, remove what expires then anyway. Both had removed the whole history."""
    daily = [stored(f"{age:03}", age) for age in range(1, 33)]
    rule = {"cluster_id": "75cf", "keep": 7, "keep_days": 30}
    assert retention.expired_paths(daily, **rule, now=NOW + ahead * DAY) == ["032", "031"]
    assert retention.expired_paths([*daily[:-2], stored("bad", -ahead)], **rule, now=NOW) == []


@pytest.mark.parametrize(("days", "keep_days"), [(1, 30), (7, 1), (7, 30)])
def test_no_history_accumulates(days: int, keep_days: int) -> None:
    """Neither after a pause of backups, nor if they are further apart than keep_days."""
    held: list[store.StoredSnapshot] = []
    pause, most = 90, max(3, -(-keep_days // days) + 1)
    for run in range(200):
        now = NOW + (run * days + pause * (run > 150)) * DAY
        removed = retention.expired_paths(held, cluster_id="75cf", keep=3, keep_days=keep_days, now=now)
        held = [item for item in held if item.path not in removed] + [stored(str(run), (NOW - now) / DAY)]
        assert len(held) <= most
    assert len(held) == most


@pytest.mark.parametrize(
    ("age", "revision", "lost"), [(1, 9000, True), (0.02, 9000, False), (1, 8123, False), (1, 8122, False)]
)
def test_a_lower_revision_replaces_nothing(age: float, revision: int, lost: bool) -> None:
    """A cluster that was deployed again has its old id. Members may be behind one another for a short time."""
    old = store.StoredSnapshot("old", replace(METADATA, revision=revision, taken_at=int(NOW - age * DAY)), "")
    new = replace(METADATA, revision=8123, taken_at=int(NOW))
    older = store.StoredSnapshot("older", replace(METADATA, revision=7000, taken_at=int(NOW - 5 * DAY)), "")
    said = retention.lost_revisions([older, old, stored("other", 9, cluster="3c2d")], new)
    assert bool(said) is lost and ("revision 8123 is lower than 9000" in said) is lost


AGES = st.lists(st.floats(min_value=-5, max_value=100), max_size=12)


@given(AGES, st.integers(1, 15), st.none() | st.integers(1, 120))
def test_retention_invariants(ages: list[float], keep: int, keep_days: int | None) -> None:
    old = [stored(str(number), age) for number, age in enumerate(ages)]
    removed = set(retention.expired_paths(old, cluster_id="75cf", keep=keep, keep_days=keep_days, now=NOW))
    left = [item for item in old if item.path not in removed]
    assert len(left) >= min(len(old), keep - 1)
    ages_of = {item.path: NOW - item.metadata.taken_at for item in old if item.metadata}
    for gone in removed:
        assert keep_days is None or ages_of[gone] >= keep_days * DAY
        assert all(ages_of[gone] >= ages_of[item.path] for item in left)
    if keep_days is None:
        in_future = sum(age < -3600 for age in ages_of.values())
        assert len(left) == in_future + min(len(old) - in_future, keep - 1)


def test_removal(tmp_path: Path) -> None:
    first, second = put(tmp_path, "etcd-20261121T101500Z.db"), put(tmp_path, "etcd-20261121T101501Z.db")
    gone = str(tmp_path / "etcd-20261121T101502Z.db")
    removed, failures = store.remove_snapshots([str(first), gone])
    assert (removed, failures) == ([str(first)], [f"{gone}: No such file or directory"])
    assert sorted(item.name for item in tmp_path.iterdir()) == [
        second.name + suffix for suffix in ("", ".json", ".sha256")
    ]


def test_leftovers(tmp_path: Path) -> None:
    good = put(tmp_path, "etcd-20261121T101500Z.db")
    kept = {item.name for item in tmp_path.iterdir()} | {"notes.json", "other-20261121T101500Z.db.json"}
    for name in (
        "notes.json",
        "other-20261121T101500Z.db.json",
        "etcd-20261121T101501Z.db.json",
        "etcd-20261121T101501Z.db.sha256",
    ):
        (tmp_path / name).touch()
    with pytest.raises(KeyboardInterrupt), store.staging_folder(str(tmp_path)) as folder:
        assert stat.S_IMODE(Path(folder).stat().st_mode) == 0o700
        raise KeyboardInterrupt
    left = tmp_path / ".headroom-snapshot-killed"
    left.mkdir()
    (left / "snapshot.db.part").touch()
    with store.lock_directory(str(tmp_path)):
        store.remove_leftovers(str(tmp_path), "etcd")
    assert {item.name for item in tmp_path.iterdir()} == kept | {".headroom-snapshot.lock"}
    assert good.exists()


def test_leftovers_of_a_living_owner_stay(tmp_path: Path) -> None:
    """A decryption that is about to rename its snapshot: its folder and its records stay while it lives."""
    record = tmp_path / "etcd-20261121T101501Z.db.json"
    with store.staging_folder(str(tmp_path)) as folder:
        Path(folder, "snapshot.db").touch()
        record.touch()
        with store.lock_directory(str(tmp_path)):
            store.remove_leftovers(str(tmp_path), "etcd")
        assert Path(folder, "snapshot.db").exists() and record.exists()
    store.remove_leftovers(str(tmp_path), "etcd")
    assert [item.name for item in tmp_path.iterdir()] == [".headroom-snapshot.lock"]


def test_lock_allows_one_backup_at_a_time(tmp_path: Path) -> None:
    with store.lock_directory(str(tmp_path)):
        with pytest.raises(store.SnapshotError, match=f"another backup into {tmp_path} is running: wait for it"):
            with store.lock_directory(str(tmp_path)):
                pass
    with store.lock_directory(str(tmp_path)):
        pass


def test_a_copy_waits_for_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with contextlib.ExitStack() as other:
        other.enter_context(store.lock_directory(str(tmp_path)))
        monkeypatch.setattr(locks.time, "sleep", lambda _seconds: other.close())
        with store.lock_directory(str(tmp_path), wait=60):
            pass


def test_newest_drilled_snapshot_is_kept() -> None:
    """Newer snapshots have not passed a drill yet. Once one has, the older one may be removed."""
    old, proven, newer = (stored(f"{name}.db", age) for name, age in (("a", 3), ("b", 2), ("c", 1)))
    keep_one = {"cluster_id": "75cf", "keep": 1, "keep_days": None, "now": float(NOW)}
    assert retention.expired_paths([old, replace(proven, drilled=True), newer], **keep_one) == ["a.db", "c.db"]
    assert retention.expired_paths([old, replace(proven, drilled=True), replace(newer, drilled=True)], **keep_one) == [
        "a.db",
        "b.db",
    ]


def test_a_drill_record_on_a_full_disk_is_reported_with_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error of a write names no file, unlike that of an open."""
    opened = os.open
    monkeypatch.setattr(os, "open", lambda _path, flags, *_mode: opened("/dev/full", flags & ~(os.O_CREAT | os.O_EXCL)))
    with pytest.raises(OSError, match="No space left on device") as caught:
        store.write_drill(str(tmp_path / "etcd.db"), "{}")
    assert str(caught.value.filename).startswith(f"{tmp_path}/etcd.db.")


def test_drill_record(tmp_path: Path) -> None:
    path = put(tmp_path, "etcd-20261121T101500Z.db")
    assert not store.scan_directory(str(tmp_path), "etcd")[0].drilled
    Path(f"{path}.drill-part").write_text("of a drill that was killed")
    store.record_drill(str(path), {"compared": "hash"})
    assert store.scan_directory(str(tmp_path), "etcd")[0].drilled
    assert json.loads(Path(f"{path}.drill").read_text()) == {"format": 1, "compared": "hash"}
    assert stat.S_IMODE(Path(f"{path}.drill").stat().st_mode) == 0o600
    store.record_drill(str(path), None)
    store.record_drill(str(path), None)
    assert not store.scan_directory(str(tmp_path), "etcd")[0].drilled
    store.record_drill(str(path), {"compared": "keys"})
    assert store.remove_snapshots([str(path)]) == ([str(path)], [])
    assert list(tmp_path.iterdir()) == []
