# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Call a function with a time limit, also if it waits for a volume whose server does not answer.

Such a call blocks in the kernel, where neither a signal nor a thread ends it. It therefore runs in a child process, which is left behind
if even SIGKILL does not end it; the kernel ends it once the server answers. The child inherits no open files, so it keeps no lock of this
process, and nobody waits for it to close a pipe.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import pickle
import select
import signal
import time
from collections.abc import Callable
from typing import NoReturn, TypeVar

from ansible_collections.etcdops.headroom.plugins.module_utils._base.signals import exit_on_signals

_Result = TypeVar("_Result")
# Seconds for the server of a volume to answer.
ANSWER_SECONDS = 10.0
# Seconds in which the child may remove its unfinished files, and in which the kernel ends it.
_CLEANUP_SECONDS = 5.0
_KILL_SECONDS = 1.0
_POLL_SECONDS = 0.001, 0.05  # at first, and at most
_CHUNK = 1 << 16


class DeadlineError(ValueError):
    """A call that did not return within its time limit."""


def call_with_deadline(function: Callable[[], _Result], seconds: float) -> _Result:
    """Return the result of a function that runs in a child process, or raise its exception; both must be picklable.

    Changes that the function makes in memory are lost. Raises DeadlineError after ``seconds``, and ChildProcessError if the child was killed.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(function, writer)
    os.close(writer)
    answer, status = None, None
    try:
        answer = _read_answer(reader, time.monotonic() + seconds)
    finally:
        os.close(reader)
        status = _end(child, finished=answer is not None)
    if answer is None:
        raise DeadlineError(f"no result within {seconds:g} s")
    if not answer:
        raise ChildProcessError(0, f"the process ended without a result (status {status})")
    returned, value = pickle.loads(answer)
    if returned:
        result: _Result = value
        return result
    raise value


def _answer(function: Callable[[], object], writer: int) -> NoReturn:
    """Write what the function returns or raises, as the child."""
    status = 1
    try:
        gc.freeze()  # a finalizer of the parent's garbage would close a descriptor that this process has opened since
        writer = _close_inherited_files(writer)
        exit_on_signals()
        try:
            answer = pickle.dumps((True, function()))
        except Exception as error:
            answer = pickle.dumps((False, error))
        with os.fdopen(writer, "wb") as stream:
            stream.write(answer)
        status = 0
    finally:
        os._exit(status)


def _close_inherited_files(kept: int) -> int:
    """Close all files of the parent but one. Returns its new number."""
    kept = fcntl.fcntl(kept, fcntl.F_DUPFD, 3)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(null, standard)
    for handle in map(int, os.listdir("/proc/self/fd")):
        if handle > 2 and handle != kept:
            with contextlib.suppress(OSError):  # that of the listing itself
                os.close(handle)
    return kept


def _read_answer(reader: int, deadline: float) -> bytes | None:
    """Return all that the child writes, None if it has not finished at the deadline."""
    found = b""
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([reader], [], [], left)[0]:
            return None
        chunk = os.read(reader, _CHUNK)
        if not chunk:
            return found
        found += chunk


def _end(child: int, *, finished: bool) -> int | str | None:
    """End the child. Returns its exit status; None if it does not end, because a system call cannot be interrupted."""
    if not finished:
        _signal(child, signal.SIGTERM)
    status = _wait(child, _CLEANUP_SECONDS)
    if status is None:
        _signal(child, signal.SIGKILL)
        status = _wait(child, _KILL_SECONDS)
    return status


def _signal(child: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # as in _wait
        os.kill(child, number)


def _wait(child: int, seconds: float) -> int | str | None:
    deadline = time.monotonic() + seconds
    pause, longest = _POLL_SECONDS
    while True:
        try:
            ended, status = os.waitpid(child, os.WNOHANG)
        except ChildProcessError:
            return "unknown"  # this process was started with SIGCHLD ignored, so the kernel reaps the child
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= deadline:
            return None
        time.sleep(pause)
        pause = min(2 * pause, longest)
