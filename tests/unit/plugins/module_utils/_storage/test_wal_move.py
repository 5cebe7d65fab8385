# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the log is, and moving it: completed, or interrupted at any step and resumed, but never lost."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import wal_move
from ansible_collections.etcdops.headroom.plugins.module_utils._storage.wal_copies import copy_paths, staging_path
from ansible_collections.etcdops.headroom.plugins.module_utils._storage.wal_move import WalMoveError, aside_path

FILES = {"0000000000000000-0000000000000000.wal": b"first" * 5000, "0000000000000001-0000000000000042.wal": b"second"}


class Log:
    """A member's log in its data dir, and the folder to move it to."""

    def __init__(self, root: Path) -> None:
        self.source = str(root / "data/member/wal")
        self.target = str(root / "volume/member/wal")
        os.makedirs(self.source)
        os.makedirs(os.path.dirname(self.target))
        for name, content in FILES.items():
            Path(self.source, name).write_bytes(content)
        Path(self.source, "0.tmp").write_bytes(b"allocated ahead, never read")

    def move(self) -> str:
        """Run the next step and return its name."""
        step = wal_move.next_step(self.source, self.target)
        wal_move.move_log(self.source, self.target, step)
        return step.name

    def held(self, folder: str) -> dict[str, bytes]:
        """The log's files in a folder."""
        return {name: Path(folder, name).read_bytes() for name in wal_move.log_files(folder)}


@pytest.fixture(name="log")
def a_log(tmp_path: Path) -> Log:
    return Log(tmp_path)


def test_move_keeps_the_old_log_aside(log: Log) -> None:
    os.chmod(log.source, 0o700)
    assert log.move() == "begin"
    assert log.held(log.target) == FILES and os.stat(log.target).st_mode & 0o777 == 0o700
    assert log.held(aside_path(log.source)) == FILES
    # etcd finds the log with its old configuration too.
    assert os.path.islink(log.source) and log.held(log.source) == FILES
    assert log.move() == "done"


@pytest.mark.parametrize("cut", ["copy", "copied", "aside", "in place"])
def test_interrupted_move_continues(log: Log, cut: str) -> None:
    """Leave each step half done, as a kill would; the next run finishes it without loss."""
    if cut == "copy":
        os.mkdir(staging_path(log.target))
        Path(staging_path(log.target), next(iter(FILES))).write_bytes(b"fir")
    else:
        shutil.copytree(log.source, staging_path(log.target), ignore=shutil.ignore_patterns("*.tmp"))
    if cut in ("aside", "in place"):
        os.rename(log.source, aside_path(log.source))
    if cut == "in place":
        os.rename(staging_path(log.target), log.target)
    expected = {"copy": "begin", "copied": "begin", "aside": "swap", "in place": "link"}[cut]
    assert log.move() == expected
    assert log.held(log.target) == log.held(aside_path(log.source)) == FILES and os.path.islink(log.source)
    assert not os.path.exists(staging_path(log.target))


@pytest.mark.parametrize("after", ["nothing", "another folder", "the way back"])
def test_copy_of_an_abandoned_move_is_removed(log: Log, after: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "copyfile", lambda _origin, made: Path(made).write_bytes(b"less"))
    with pytest.raises(WalMoveError, match="the new disk loses data"):
        log.move()
    monkeypatch.undo()
    copy, data = staging_path(log.target), log.source[: -len("/member/wal")]
    assert os.path.isdir(copy)
    # The inventory and the config file no longer name the new folder.
    assert wal_move.member_facts(data, None)["wal_copies"] == [log.source]
    if after == "another folder":
        log.target = f"{os.path.dirname(log.target)}/other"
        assert log.move() == "begin" and not os.path.exists(copy)
        assert wal_move.leftovers(log.source, log.target) == [aside_path(log.source), log.source]
        return
    if after == "the way back":  # the member was replaced in the meantime, with its log in the new folder
        log.source, log.target = log.target, log.source
        os.rename(log.target, log.source)
        assert wal_move.member_facts(data, log.source)["wal_copies"] == [log.target, log.source]
    serving = log.source
    monkeypatch.setattr(wal_move, "locked_file", lambda folder: folder if folder == serving else None)
    wal_move.clean_up(log.target if after == "the way back" else serving, serving)
    assert log.held(serving) == FILES and not os.path.exists(copy)
    assert wal_move.member_facts(data, log.target)["wal_copies"] == []


def test_a_link_to_something_else_is_removed_alone(log: Log, tmp_path: Path) -> None:
    """etcd's user may write it."""
    for name, file in (("keys", "a.wal"), ("other.moving", "key"), ("wal.moving", "0.tmp")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / file).touch()
        os.symlink(folder, staging_path(log.source))
        assert copy_paths(log.source) == [staging_path(log.source)]
        assert log.move() == "begin" and (folder / file).exists()
        shutil.rmtree(log.target)
        os.unlink(log.source)
        os.rename(aside_path(log.source), log.source)


def test_damaged_copy_is_replaced(log: Log) -> None:
    shutil.copytree(log.source, staging_path(log.target))
    os.rename(log.source, aside_path(log.source))
    Path(staging_path(log.target), next(iter(FILES))).write_bytes(b"something else")
    assert log.move() == "swap" and log.held(log.target) == FILES


def test_disk_that_loses_data(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "copyfile", lambda _origin, made: Path(made).write_bytes(b"less"))
    with pytest.raises(WalMoveError, match="the new disk loses data"):
        log.move()
    assert log.held(log.source) == FILES and not os.path.exists(log.target)


def test_move_back_into_the_data_dir(log: Log) -> None:
    assert log.move() == "begin"
    os.unlink(log.source)
    shutil.rmtree(aside_path(log.source))
    log.source, log.target = log.target, log.source
    assert log.move() == "begin" and log.held(log.target) == FILES


@pytest.mark.parametrize("cut", [False, True])
def test_move_back_before_the_clean_up(log: Log, cut: bool) -> None:
    log.move()
    newer = {name: content + b"and more" for name, content in FILES.items()}
    for name, content in newer.items():
        Path(log.target, name).write_bytes(content)
    log.source, log.target = log.target, log.source
    if cut:  # killed before the link was replaced by the copy
        os.rename(log.source, aside_path(log.source))
    assert log.move() == ("swap" if cut else "begin")
    assert log.held(log.target) == newer and not os.path.islink(log.target) and os.path.islink(log.source)
    assert wal_move.leftovers(log.source, log.target) == [aside_path(log.source), aside_path(log.target), log.source]


def test_blank_disk_after_the_move_is_not_filled_with_the_outdated_log(log: Log) -> None:
    log.move()
    shutil.rmtree(log.target)
    with pytest.raises(WalMoveError, match="was complete, and the member may have written since"):
        log.move()
    assert log.held(aside_path(log.source)) == FILES and not os.path.exists(log.target)


def test_blank_disk_before_the_move_was_complete_is_filled_again(log: Log) -> None:
    os.rename(log.source, aside_path(log.source))
    assert log.move() == "swap" and log.held(log.target) == FILES


@pytest.mark.parametrize(("snapshot", "refused"), [(0x41, False), (0x42, True)])
def test_log_that_ends_before_the_newest_snapshot(log: Log, snapshot: int, refused: bool) -> None:
    snap = Path(log.source).parent / "snap"
    snap.mkdir()
    (snap / f"{2:016x}-{snapshot:016x}.snap").touch()
    (snap / f"{2:016x}-{0x99:016x}.snap.broken").touch()
    os.rename(log.source, aside_path(log.source))
    if refused:
        with pytest.raises(WalMoveError, match="ends with raft entry 65, but the member has a snapshot at entry 66 in"):
            log.move()
        assert not os.path.exists(log.target)
    else:
        assert log.move() == "swap"


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda log: shutil.copytree(log.source, log.target), "both hold a log: find the newest"),
        (lambda log: shutil.copytree(log.source, aside_path(log.source)), "an earlier move left another one"),
        (lambda log: shutil.rmtree(log.source), "holds no log"),
        (lambda log: setattr(log, "target", log.source), "are the same folder"),
        (lambda log: setattr(log, "target", "wal"), "write an absolute path"),
    ],
)
def test_refused_moves(log: Log, prepare: object, message: str) -> None:
    assert callable(prepare)
    prepare(log)
    with pytest.raises(WalMoveError, match=message):
        log.move()


def test_target_that_is_not_empty(log: Log) -> None:
    os.mkdir(log.target)
    step = wal_move.next_step(log.source, log.target)
    assert wal_move.move_problem(log.source, log.target, step) is None
    Path(log.target, "precious").touch()
    assert "is not empty (1 entries)" in str(wal_move.move_problem(log.source, log.target, step))


def test_target_volume_that_is_missing(log: Log) -> None:
    log.target = "/no/such/folder/wal"
    step = wal_move.next_step(log.source, log.target)
    assert "/no/such/folder does not exist" in str(wal_move.move_problem(log.source, log.target, step))


def test_clean_up_requires_a_running_member(log: Log) -> None:
    log.move()
    left = [aside_path(log.source), log.source]
    assert wal_move.leftovers(log.source, log.target) == left
    with pytest.raises(WalMoveError, match="stays: start the member first"):
        wal_move.clean_up(log.source, log.target)
    assert log.held(aside_path(log.source)) == FILES


@pytest.mark.parametrize(
    ("text", "folder"),
    [
        ("name: a\nwal-dir: /var/lib/etcd-wal/member/wal\n", "/var/lib/etcd-wal/member/wal"),
        ("wal-dir: '/srv/the log'  # moved\n", "/srv/the log"),
        ('wal-dir: "/srv/wal"', "/srv/wal"),
        ("#wal-dir: /srv/wal\nname: a\n", None),
        ("wal-dir: ''\n", None),
        ("", None),
    ],
)
def test_configured_wal_dir(text: str, folder: str | None) -> None:
    assert wal_move.configured_wal_dir(text) == folder


def test_member_facts_find_the_log_inside_and_outside_the_data_dir(tmp_path: Path) -> None:
    data, wal = tmp_path / "data", tmp_path / "wal"
    nothing = {
        "present": False,
        "db_size": None,
        "wal_files": 0,
        "wal_size": 0,
        "wal_dirs": [],
        "wal_asides": [],
        "wal_links": [],
        "wal_copies": [],
    }
    assert wal_move.member_facts(str(data), None) == nothing
    wal.mkdir()
    assert wal_move.member_facts(str(data), str(wal)) == nothing
    (wal / "0.wal").write_bytes(b"123")
    (wal / "0.tmp").touch()
    beside = {**nothing, "present": True, "wal_files": 1, "wal_size": 3, "wal_dirs": [str(wal)]}
    assert wal_move.member_facts(str(data), str(wal)) == beside
    # The current config file sets another WAL dir than the requested one.
    assert wal_move.member_facts(str(data), None, f"wal-dir: {wal}\n") == beside
    (data / "member/snap").mkdir(parents=True)
    (data / "member/snap/db").write_bytes(b"12345")
    assert wal_move.member_facts(str(data), None) == {**nothing, "present": True, "db_size": 5}
    (data / "member/wal").mkdir()
    (data / "member/wal/0.wal").touch()
    both = wal_move.member_facts(str(data), str(wal))
    assert both["wal_files"] == 2 and both["wal_dirs"] == [str(data / "member/wal"), str(wal)]


def test_link_of_a_move_is_not_a_second_log(log: Log) -> None:
    log.move()
    data = log.source[: -len("/member/wal")]
    found = wal_move.member_facts(data, log.target)
    assert found["wal_dirs"] == [log.target] and found["wal_asides"] == found["wal_links"] == [log.source]
