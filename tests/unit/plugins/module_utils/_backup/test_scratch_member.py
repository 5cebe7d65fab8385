# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stop a temporary member. Its program is not etcd, but a script that takes its time; tests/integration runs real etcd."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import scratch_member as scratch

# Writes its process id, and stops this many seconds after it was asked to.
SLOW = """#!/bin/sh
trap 'sleep {seconds}; echo yes > "$FOLDER/stopped"; exit 0' TERM
echo $$ > "$FOLDER/pid.part"
mv "$FOLDER/pid.part" "$FOLDER/pid"
while :; do sleep 0.05; done
"""


@pytest.fixture(name="folder")
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("FOLDER", str(tmp_path))
    yield tmp_path


def start(folder: Path, seconds: float) -> subprocess.Popen[bytes]:
    """Start a program that takes this many seconds to stop, as a temporary member is started, and wait until it runs."""
    program = folder / "etcd"
    program.write_text(SLOW.format(seconds=seconds))
    program.chmod(0o755)
    argv = scratch.command_line(str(program), str(folder), str(folder), "m1", scratch.Limits(1 << 30, 60), ())
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while not (folder / "pid").exists():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
    return process


def runs(folder: Path, seconds: float = 10.0) -> bool:
    """Return whether the program still runs after at most this many seconds. The kernel may need them to end a killed program."""
    deadline = time.monotonic() + seconds
    while is_running(folder):
        if time.monotonic() >= deadline:
            return True
        time.sleep(0.02)
    return False


def is_running(folder: Path) -> bool:
    """Return whether the program runs; one that has ended may wait for its parent to notice."""
    try:
        state = Path("/proc", (folder / "pid").read_text().strip(), "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


def test_timeout_does_not_kill_etcd_while_it_stops(folder: Path) -> None:
    """Before it kills etcd, it waits for longer than _stop does."""
    argv = scratch.command_line("/etcd", str(folder), str(folder), "m1", scratch.Limits(1 << 30, 60), ())
    (kill_after,) = (word.partition("=")[2] for word in argv if word.startswith("--kill-after="))
    assert float(kill_after) > scratch._STOP_SECONDS


def test_a_slow_stop_is_graceful(folder: Path) -> None:
    process = start(folder, 1)
    assert not scratch._stop(process)
    assert (folder / "stopped").exists() and not runs(folder)


def test_a_kill_by_timeout_is_noticed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database may be incomplete."""
    monkeypatch.setattr(scratch, "_KILL_MARGIN", 0.5 - scratch._STOP_SECONDS)
    assert scratch._stop(start(folder, 30))
    assert not (folder / "stopped").exists() and not runs(folder)


def test_a_kill_by_another_process_is_noticed(folder: Path) -> None:
    process = start(folder, 0)
    os.kill(int((folder / "pid").read_text()), 9)
    process.wait(30)
    assert scratch._stop(process)


def test_a_member_that_does_not_stop_is_killed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not only the program `timeout` above it."""
    monkeypatch.setattr(scratch, "_STOP_SECONDS", 0.5)
    assert scratch._stop(start(folder, 30))
    assert not runs(folder), "the member still runs"
    assert not (folder / "stopped").exists()
