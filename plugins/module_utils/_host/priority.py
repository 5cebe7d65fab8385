# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Priority of a running process on disk and CPU: of each of its threads. Private to the collection.

The kernel keeps I/O priority and nice per thread, and a new thread gets those of the one that starts it. ``ionice -p`` and
``renice -p`` of a process change its main thread only. Sources: ioprio_set(2), setpriority(2) ("C library/kernel
differences"), kernel, Documentation/block/ioprio.rst.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._host.process import (
    IO_CLASSES,
    IOPRIO_CLASS_SHIFT,
    IOPRIO_WHO_PROCESS,
    count_io_classes,
    io_priority,
    thread_ids,
)

# ioprio_set(2), as IOPRIO_GET in _process.
IOPRIO_SET = {
    "x86_64": 251,
    "aarch64": 30,
    "riscv64": 30,
    "loongarch64": 30,
    "ppc64le": 273,
    "s390x": 282,
}
LOWEST_LEVEL = 7
NICE_RANGE = (-20, 19)
# A thread may be started by one that has not had its turn; the next pass finds it.
MOST_PASSES = 10
MOST_NAMED = 8


class PriorityError(ValueError):
    """An invalid or refused priority, or one that could not be set; the text names the reason and the fix."""


@dataclass(frozen=True)
class Priority:
    """I/O class, its level (None where the class has none) and nice. In what is wanted, None leaves a part as it is."""

    io_class: str | None
    io_level: int | None
    nice: int | None

    def __str__(self) -> str:
        parts = []
        if self.io_class is not None:
            parts.append(self.io_class if self.io_level is None else f"{self.io_class}/{self.io_level}")
        if self.nice is not None:
            parts.append(f"nice {self.nice}")
        return ", ".join(parts)


@dataclass(frozen=True)
class Thread:
    """A thread, and what it has."""

    tid: int
    priority: Priority


def wanted(io_class: str | None, io_level: int | None, nice: int | None) -> Priority:
    """Return the requested priority. Raises PriorityError if it is invalid or refused."""
    if io_class == "realtime":
        raise PriorityError(
            "io_class is realtime, which is refused: while such a thread writes, nothing else on the disk gets its turn, "
            "neither the journal of the filesystem that etcd itself waits for nor sshd. best-effort with io_priority 0 "
            "is the highest that leaves the host alive."
        )
    if io_class is not None and io_class not in IO_CLASSES.values():
        raise PriorityError(f"io_class is {io_class!r}, but must be best-effort, idle or none.")
    if io_class == "best-effort":
        io_level = 0 if io_level is None else io_level
    elif io_level is not None:
        raise PriorityError(f"io_priority is {io_level}, but only io_class best-effort has priorities: leave it out.")
    if io_level is not None and not 0 <= io_level <= LOWEST_LEVEL:
        raise PriorityError(f"io_priority is {io_level}, but must be 0 (highest) to {LOWEST_LEVEL}.")
    if nice is not None and not NICE_RANGE[0] <= nice <= NICE_RANGE[1]:
        raise PriorityError(f"nice is {nice}, but must be {NICE_RANGE[0]} (highest) to {NICE_RANGE[1]}.")
    return Priority(io_class, io_level, nice)


def differs(thread: Thread, goal: Priority) -> bool:
    """Whether a thread has something else than what is wanted; what cannot be read is taken to differ."""
    has = thread.priority
    io_differs = goal.io_class is not None and (has.io_class, has.io_level) != (goal.io_class, goal.io_level)
    return io_differs or (goal.nice is not None and has.nice != goal.nice)


def reckoned(threads: Sequence[Thread], goal: Priority) -> list[Thread]:
    """The threads as they would be with what is wanted."""
    found = []
    for thread in threads:
        has = thread.priority
        io = (has.io_class, has.io_level) if goal.io_class is None else (goal.io_class, goal.io_level)
        found.append(Thread(thread.tid, Priority(*io, has.nice if goal.nice is None else goal.nice)))
    return found


def read_threads(pid: int) -> list[Thread]:
    """The threads of a process with what they have; none if it has ended."""
    found = []
    for tid in thread_ids(Path(f"/proc/{pid}")):
        try:
            nice = os.getpriority(os.PRIO_PROCESS, tid)
        except OSError:
            continue  # it has ended since
        io_class, io_level = io_priority(tid)
        found.append(Thread(tid, Priority(io_class or None, io_level, nice)))
    return found


def bring(pid: int, goal: Priority) -> list[Thread]:
    """Give every thread the priority; returns the threads as they then are.

    Goes on until a pass finds nothing to do, because threads may start during a pass. Raises PriorityError if the
    kernel refuses, or if there are still others after many passes.
    """
    for _turn in range(MOST_PASSES):
        threads = read_threads(pid)
        others = [thread for thread in threads if differs(thread, goal)]
        if not others:
            return threads
        for thread in others:
            _set(thread.tid, goal)
    raise PriorityError(f"threads {tids(others)} of process {pid} do not keep {goal}: something else sets them, too.")


def _set(tid: int, goal: Priority) -> None:
    """Set what is wanted of one thread; one that has ended is none to set."""
    try:
        if goal.nice is not None:
            os.setpriority(os.PRIO_PROCESS, tid, goal.nice)
        if goal.io_class is not None:
            set_io_priority(tid, goal.io_class, goal.io_level)
    except ProcessLookupError:
        return
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EACCES):
            raise PriorityError(f"thread {tid} cannot get {goal}: {error.strerror}") from error
        raise PriorityError(
            f"thread {tid} may not get {goal}: a process of another user, and a higher priority than one's own, need "
            "root (in a container also CAP_SYS_NICE). Use become."
        ) from error


def set_io_priority(tid: int, io_class: str, io_level: int | None) -> None:
    """Set a thread's I/O class and level. Raises OSError as the kernel says, PriorityError on an unknown machine."""
    number = IOPRIO_SET.get(platform.machine())
    if number is None:
        raise PriorityError(
            f"the system call ioprio_set is not known on {platform.machine()}; known are {', '.join(IOPRIO_SET)}."
        )
    value = encode_io_priority(io_class, io_level)
    if ctypes.CDLL(None, use_errno=True).syscall(number, IOPRIO_WHO_PROCESS, tid, value) < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def encode_io_priority(io_class: str, io_level: int | None) -> int:
    """What ioprio_set(2) takes; the inverse of ``decode_io_priority``."""
    number = next(number for number, name in IO_CLASSES.items() if name == io_class)
    return number << IOPRIO_CLASS_SHIFT | (io_level or 0)


def tids(threads: Sequence[Thread]) -> str:
    """The ids of threads with what they have, shortened where there are many."""
    named = [f"{thread.tid} ({thread.priority})" for thread in threads[:MOST_NAMED]]
    more = len(threads) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


def summary(threads: Sequence[Thread]) -> dict[str, dict[str, int]]:
    """Threads by I/O class and level, and by nice: ``{"io_classes": {"best-effort/0": 14}, "nice": {"-5": 14}}``."""
    known = [as_dict(thread) for thread in threads if thread.priority.io_class]
    nice: dict[str, int] = {}
    for thread in threads:
        nice[str(thread.priority.nice)] = nice.get(str(thread.priority.nice), 0) + 1
    return {"io_classes": count_io_classes(known), "nice": dict(sorted(nice.items()))}


def as_dict(thread: Thread) -> dict[str, Any]:
    """A thread as the module returns it."""
    has = thread.priority
    return {"tid": thread.tid, "io_class": has.io_class, "io_level": has.io_level, "nice": has.nice}
