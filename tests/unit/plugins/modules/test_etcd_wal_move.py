# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd_wal_move as Ansible runs it; what it does is tested with its core."""

from __future__ import annotations

import fcntl
import json
import os
import struct
import threading
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.etcdops.headroom.plugins.module_utils._base import locks
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import wal_copies, wal_move
from ansible_collections.etcdops.headroom.plugins.modules import etcd_wal_move

NAME = "0000000000000000-0000000000000000.wal"


def run(capsys: pytest.CaptureFixture[str], root: Path, **other: Any) -> dict[str, Any]:
    """The module's result for a log below root."""
    arguments = {"source": f"{root}/data/member/wal/", "target": f"{root}/volume/wal", **other}
    with patch_module_args(arguments), pytest.raises(SystemExit):
        etcd_wal_move.main()
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


@pytest.fixture(name="root")
def a_member(tmp_path: Path) -> Path:
    """A stopped member's log, and a volume without one."""
    (tmp_path / "data/member/wal").mkdir(parents=True)
    (tmp_path / "data/member/wal" / NAME).write_bytes(b"entries")
    (tmp_path / "volume").mkdir()
    return tmp_path


def test_dry_run_then_move_then_no_change(capsys: pytest.CaptureFixture[str], root: Path) -> None:
    dry_run = run(capsys, root, _ansible_check_mode=True)
    assert dry_run["changed"] and dry_run["msg"].startswith("Would move 1 files (7 B) from")
    assert not (root / "volume/wal").exists()
    moved = run(capsys, root)
    assert moved["changed"] and moved["files"] == [NAME] and moved["size"] == 7
    assert (root / "volume/wal" / NAME).read_bytes() == b"entries" and moved["aside"].endswith("/wal.moved")
    again = run(capsys, root)
    assert not again["changed"] and again["msg"].startswith("Had already moved")


def test_failure_reports_whether_the_source_is_intact(capsys: pytest.CaptureFixture[str], root: Path) -> None:
    (root / "volume/wal").mkdir()
    (root / "volume/wal/other").touch()
    refused = run(capsys, root)
    assert refused["failed"] and refused["source_intact"] is True
    assert refused["msg"].endswith("is not empty (1 entries): move them away first. Nothing was changed.")
    (root / "data/member/wal" / NAME).unlink()
    lost = run(capsys, root)
    assert lost["failed"] and lost["source_intact"] is False and "holds no log" in lost["msg"]


def lock(path: Path) -> Any:
    """Lock a file as etcd does: the whole of it, for the open file and not for the process (F_OFD_SETLK)."""
    stream = path.open("r+b")
    fcntl.fcntl(stream, 37, struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0))
    return stream


def test_running_member_prevents_the_move_and_allows_the_clean_up(
    capsys: pytest.CaptureFixture[str], root: Path
) -> None:
    with lock(root / "data/member/wal" / NAME):
        refused = run(capsys, root)
    assert refused["failed"] and "locked: stop the member first. Nothing was changed." in refused["msg"]
    assert run(capsys, root)["changed"]
    early = run(capsys, root, state="cleaned")
    assert early["failed"] and "stays: start the member first" in early["msg"]
    with lock(root / "volume/wal" / NAME):
        assert run(capsys, root, state="cleaned", _ansible_check_mode=True)["msg"].startswith("Would remove")
        cleaned = run(capsys, root, state="cleaned")
    assert cleaned["changed"] and not (root / "data/member/wal.moved").exists()
    assert not (root / "data/member/wal").is_symlink() and (root / "volume/wal" / NAME).exists()
    again = run(capsys, root, state="cleaned")
    assert not again["changed"] and again["msg"] == "There was nothing to remove."


@pytest.fixture(name="other_move")
def another_move(root: Path) -> Any:
    """The lock of another process that is moving the same log."""
    handle = os.open(root / "data/member", os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    return handle


def test_the_copy_of_another_process_is_left_alone(
    capsys: pytest.CaptureFixture[str], root: Path, other_move: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The play must not start the member either: the other process is copying its log."""
    monkeypatch.setattr(wal_copies, "WAIT_SECONDS", 1)
    (root / "volume/wal.moving").mkdir()
    (root / "data/member/wal.moving").symlink_to(root / "volume/wal.moving")
    refused = run(capsys, root)
    assert refused["msg"] == (
        f"another process is moving the log in {root}/data/member/wal (waited 1 s): wait until it ends, or stop it "
        f"(`fuser -v {root}/data/member` lists it), and run this again."
    )
    assert refused["source_intact"] is False and (root / "volume/wal.moving").exists()
    assert run(capsys, root, _ansible_check_mode=True)["msg"].startswith("Would move")
    os.close(other_move)
    assert run(capsys, root)["msg"].startswith("Moved 1 files")


def test_the_move_continues_once_another_process_has_ended(
    capsys: pytest.CaptureFixture[str], root: Path, other_move: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "POLL_SECONDS", 0.01)
    threading.Timer(0.3, os.close, [other_move]).start()
    assert run(capsys, root)["msg"].startswith("Moved 1 files")


def test_a_member_that_is_started_during_the_copy_keeps_its_log(
    capsys: pytest.CaptureFixture[str], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, copy, started = root / "data/member/wal" / NAME, wal_move._copy, []

    def copy_and_start(source: str, target: str) -> None:
        copy(source, target)
        started.append(lock(name))

    monkeypatch.setattr(wal_move, "_copy", copy_and_start)
    refused = run(capsys, root)
    assert refused["msg"].startswith(f"a member was started during the copy, and has {name} locked: stop the member")
    assert refused["source_intact"] is True and not (root / "data/member/wal.moved").exists()
    started.pop().close()
    monkeypatch.setattr(wal_move, "_copy", copy)
    assert run(capsys, root)["changed"]
