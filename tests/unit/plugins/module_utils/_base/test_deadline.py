# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calling a function with a time limit, also if it cannot be interrupted."""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base import deadline
from ansible_collections.etcdops.headroom.plugins.module_utils._base.deadline import DeadlineError, call_with_deadline


def stuck() -> None:
    """Wait as for a server that does not answer: signals that a process can catch do not end it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    time.sleep(600)


def test_returns_the_result() -> None:
    large = "x" * (1 << 20)
    assert call_with_deadline(lambda: ([large], os.getpid() != os.getppid()), 60) == ([large], True)
    assert call_with_deadline(lambda: None, 60) is None


def test_raises_the_exception_of_the_function() -> None:
    with pytest.raises(FileNotFoundError, match="No such file or directory: '/no/such/file'"):
        call_with_deadline(lambda: os.stat("/no/such/file"), 60)


def test_a_child_that_is_killed_has_no_result() -> None:
    with pytest.raises(ChildProcessError) as found:
        call_with_deadline(lambda: os.kill(os.getpid(), signal.SIGKILL), 60)
    assert found.value.strerror == "the process ended without a result (status -9)"


def test_a_slow_function_removes_its_unfinished_files(tmp_path: Path) -> None:
    def slow() -> None:
        try:
            (tmp_path / "part").write_text("")
            time.sleep(600)
        finally:
            (tmp_path / "part").unlink()

    with pytest.raises(DeadlineError, match=r"^no result within 3 s$"):
        call_with_deadline(slow, 3)
    assert list(tmp_path.iterdir()) == []


def test_a_function_that_is_stuck_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "_CLEANUP_SECONDS", 0.1)
    with pytest.raises(DeadlineError):
        call_with_deadline(stuck, 0.5)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.fixture
def left_behind(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[int]]:
    """Let no signal end the child, as if it waited in the kernel. Returns the children, which the test ends."""
    found: list[int] = []
    kill = os.kill
    monkeypatch.setattr(deadline, "_CLEANUP_SECONDS", 0.1)
    monkeypatch.setattr(deadline, "_KILL_SECONDS", 0.1)
    monkeypatch.setattr(os, "kill", lambda child, _number: found.append(child))

    def end() -> list[int]:
        for child in set(found):
            kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        return found

    return end


def test_nobody_waits_for_a_child_that_cannot_be_killed(
    tmp_path: Path, left_behind: Callable[[], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither this process, nor who waits for its locks or its output."""
    reader, writer = os.pipe()
    with open(tmp_path / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        began = time.monotonic()
        with pytest.raises(DeadlineError):
            call_with_deadline(stuck, 0.5)
        assert time.monotonic() - began < 30
    try:
        with open(tmp_path / "lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(writer)
        assert os.read(reader, 1) == b"", "the child has no copy of the pipe"
    finally:
        os.close(reader)
        children = left_behind()
    assert len(children) == 2, "it is asked to end, then killed"


def test_a_signal_to_this_process_ends_the_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_arguments: object) -> bytes:
        while not (tmp_path / "started").exists():
            time.sleep(0.01)
        raise SystemExit

    def slow() -> None:
        try:
            (tmp_path / "started").write_text("")
            time.sleep(600)
        finally:
            (tmp_path / "ended").write_text("")

    monkeypatch.setattr(deadline, "_read_answer", stop)
    with pytest.raises(SystemExit):
        call_with_deadline(slow, 60)
    assert (tmp_path / "ended").exists()


def test_garbage_of_the_parent_closes_no_file_of_the_child() -> None:
    class Holder:
        def __init__(self) -> None:
            self.handle, self.cycle = os.open(os.devnull, os.O_RDONLY), self

        def __del__(self) -> None:
            with contextlib.suppress(OSError):
                os.close(self.handle)

    def reopen(handle: int) -> bool:
        os.dup2(os.open(os.devnull, os.O_RDONLY), handle)
        gc.collect()
        os.fstat(handle)
        return True

    gc.collect()
    gc.disable()
    try:
        holder = Holder()
        handle = holder.handle
        del holder
        assert call_with_deadline(lambda: reopen(handle), 60)
    finally:
        gc.enable()
        gc.collect()


@pytest.fixture
def without_children() -> Iterator[None]:
    """Ignore SIGCHLD, so that the kernel reaps each child."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGCHLD, before)


@pytest.mark.usefixtures("without_children")
def test_the_kernel_may_reap_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "_CLEANUP_SECONDS", 0.1)
    assert call_with_deadline(lambda: "result", 60) == "result"
    with pytest.raises(FileNotFoundError):
        call_with_deadline(lambda: os.stat("/no/such/file"), 60)
    with pytest.raises(DeadlineError):
        call_with_deadline(stuck, 0.5)
    with pytest.raises(ChildProcessError) as found:
        call_with_deadline(lambda: os.kill(os.getpid(), signal.SIGKILL), 60)
    assert found.value.strerror == "the process ended without a result (status unknown)"


@pytest.mark.usefixtures("without_children")
def test_a_child_that_ends_at_the_deadline_needs_no_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(reader: int, _deadline: float) -> None:
        while os.read(reader, 1):
            pass
        time.sleep(0.5)

    monkeypatch.setattr(deadline, "_read_answer", late)
    with pytest.raises(DeadlineError):
        call_with_deadline(lambda: None, 1)
