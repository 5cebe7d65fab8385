# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the log is, and moving it: complete, or interrupted at any step and gone on with, but never lost."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import wal_move
from ansible_collections.etcdops.headroom.plugins.module_utils._storage.wal_move import WalError, aside, staging

FILES = {"0000000000000000-0000000000000000.wal": b"first" * 5000, "0000000000000001-0000000000000042.wal": b"second"}


class Log:
    """A member's log below its data dir, and the folder that it shall move to."""

    def __init__(self, root: Path) -> None:
        self.source = str(root / "data/member/wal")
        self.target = str(root / "volume/member/wal")
        os.makedirs(self.source)
        os.makedirs(os.path.dirname(self.target))
        for name, content in FILES.items():
            Path(self.source, name).write_bytes(content)
        Path(self.source, "0.tmp").write_bytes(b"made ahead, and never read")

    def move(self) -> str:
        """Take the next step; its name."""
        step = wal_move.next_step(self.source, self.target)
        wal_move.move(self.source, self.target, step)
        return step.name

    def held(self, folder: str) -> dict[str, bytes]:
        """The log's files in a folder."""
        return {name: Path(folder, name).read_bytes() for name in wal_move.segments(folder)}


@pytest.fixture(name="log")
def a_log(tmp_path: Path) -> Log:
    return Log(tmp_path)


def test_the_log_moves_and_the_old_one_stays_aside(log: Log) -> None:
    os.chmod(log.source, 0o700)
    assert log.move() == "begin"
    assert log.held(log.target) == FILES and os.stat(log.target).st_mode & 0o777 == 0o700
    assert log.held(aside(log.source)) == FILES
    # Started as it was configured before, etcd finds the log.
    assert os.path.islink(log.source) and log.held(log.source) == FILES
    assert log.move() == "done"


@pytest.mark.parametrize("cut", ["copy", "copied", "aside", "in place"])
def test_an_interrupted_move_is_gone_on_with(log: Log, cut: str) -> None:
    """Each step is left half done as a kill would leave it; the next run finishes it, with nothing lost."""
    if cut == "copy":
        os.mkdir(staging(log.target))
        Path(staging(log.target), next(iter(FILES))).write_bytes(b"fir")
    else:
        shutil.copytree(log.source, staging(log.target), ignore=shutil.ignore_patterns("*.tmp"))
    if cut in ("aside", "in place"):
        os.rename(log.source, aside(log.source))
    if cut == "in place":
        os.rename(staging(log.target), log.target)
    expected = {"copy": "begin", "copied": "begin", "aside": "swap", "in place": "link"}[cut]
    assert log.move() == expected
    assert log.held(log.target) == log.held(aside(log.source)) == FILES and os.path.islink(log.source)
    assert not os.path.exists(staging(log.target))


def test_a_copy_that_was_damaged_is_made_anew(log: Log) -> None:
    shutil.copytree(log.source, staging(log.target))
    os.rename(log.source, aside(log.source))
    Path(staging(log.target), next(iter(FILES))).write_bytes(b"something else")
    assert log.move() == "swap" and log.held(log.target) == FILES


def test_a_disk_that_does_not_keep_what_it_is_given(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "copyfile", lambda _origin, made: Path(made).write_bytes(b"less"))
    with pytest.raises(WalError, match="the new disk does not keep what it is given"):
        log.move()
    assert log.held(log.source) == FILES and not os.path.exists(log.target)


def test_back_into_the_data_dir(log: Log) -> None:
    assert log.move() == "begin"
    os.unlink(log.source)
    shutil.rmtree(aside(log.source))
    log.source, log.target = log.target, log.source
    assert log.move() == "begin" and log.held(log.target) == FILES


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda log: shutil.copytree(log.source, log.target), "both hold a log: find out which one"),
        (lambda log: shutil.copytree(log.source, aside(log.source)), "although an earlier move set one aside"),
        (lambda log: shutil.rmtree(log.source), "holds no log"),
        (lambda log: setattr(log, "target", log.source), "are one folder"),
        (lambda log: setattr(log, "target", "wal"), "write the whole path"),
    ],
)
def test_what_is_refused(log: Log, prepare: object, message: str) -> None:
    assert callable(prepare)
    prepare(log)
    with pytest.raises(WalError, match=message):
        log.move()


def test_a_folder_that_is_not_empty_is_no_target(log: Log) -> None:
    os.mkdir(log.target)
    step = wal_move.next_step(log.source, log.target)
    assert wal_move.obstacle(log.source, log.target, step) is None
    Path(log.target, "precious").touch()
    assert "is not empty (1 entries)" in str(wal_move.obstacle(log.source, log.target, step))


def test_the_volume_must_be_there(log: Log) -> None:
    log.target = "/no/such/folder/wal"
    step = wal_move.next_step(log.source, log.target)
    assert "/no/such/folder does not exist" in str(wal_move.obstacle(log.source, log.target, step))


def test_only_a_member_that_serves_settles_it(log: Log) -> None:
    log.move()
    left = [aside(log.source), log.source]
    assert wal_move.unsettled(log.source, log.target) == left
    with pytest.raises(WalError, match="stays until it serves"):
        wal_move.settle(log.source, log.target)
    assert log.held(aside(log.source)) == FILES


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
def test_the_folder_that_a_config_file_names(text: str, folder: str | None) -> None:
    assert wal_move.configured(text) == folder


def test_member_with_its_log_beside_or_below(tmp_path: Path) -> None:
    data, wal = tmp_path / "data", tmp_path / "wal"
    nothing = {"present": False, "db_size": None, "wal_files": 0, "wal_size": 0, "wal_dirs": [], "wal_asides": []}
    assert wal_move.member_facts(str(data), None) == nothing
    wal.mkdir()
    assert wal_move.member_facts(str(data), str(wal)) == nothing
    (wal / "0.wal").write_bytes(b"123")
    (wal / "0.tmp").touch()
    beside = {**nothing, "present": True, "wal_files": 1, "wal_size": 3, "wal_dirs": [str(wal)]}
    assert wal_move.member_facts(str(data), str(wal)) == beside
    # Where the configuration in place says that it is, although another folder is asked for.
    assert wal_move.member_facts(str(data), None, f"wal-dir: {wal}\n") == beside
    (data / "member/snap").mkdir(parents=True)
    (data / "member/snap/db").write_bytes(b"12345")
    assert wal_move.member_facts(str(data), None) == {**nothing, "present": True, "db_size": 5}
    (data / "member/wal").mkdir()
    (data / "member/wal/0.wal").touch()
    both = wal_move.member_facts(str(data), str(wal))
    assert both["wal_files"] == 2 and both["wal_dirs"] == [str(data / "member/wal"), str(wal)]


def test_the_link_that_a_move_leaves_is_no_second_log(log: Log) -> None:
    log.move()
    data = log.source[: -len("/member/wal")]
    found = wal_move.member_facts(data, log.target)
    assert found["wal_dirs"] == [log.target] and found["wal_asides"] == [log.source]
