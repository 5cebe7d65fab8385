# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read and set the disk and CPU priority of each thread of a process. Private to the collection.

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

# ioprio_set(2), in the order of process.IOPRIO_GET.
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
# A thread that has not been changed yet may start another one; the next pass finds it.
MAX_PASSES = 10
MAX_NAMED = 8


class PriorityError(ValueError):
    """An invalid or refused priority, or one that could not be set; the text names the reason and the fix."""


@dataclass(frozen=True)
class Priority:
    """I/O class, its level (None if the class has none) and nice. In a requested priority, None means unchanged."""

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
    """A thread and its priority."""

    tid: int
    priority: Priority


def parse_priority(io_class: str | None, io_level: int | None, nice: int | None) -> Priority:
    """Return the requested priority. Raises PriorityError if it is invalid or refused."""
    if io_class == "realtime":
        raise PriorityError(
            "io_class is realtime, which is refused: a thread of this class blocks all other I/O of the disk, including sshd "
            "and the filesystem's journal, for which etcd itself waits. Use best-effort with io_priority 0, the highest "
            "supported priority."
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
    """Return whether a thread's priority differs from the requested one; an unreadable one counts as different."""
    has = thread.priority
    io_differs = goal.io_class is not None and (has.io_class, has.io_level) != (goal.io_class, goal.io_level)
    return io_differs or (goal.nice is not None and has.nice != goal.nice)


def predicted_threads(threads: Sequence[Thread], goal: Priority) -> list[Thread]:
    """Return the threads with the requested priority, for check mode."""
    found = []
    for thread in threads:
        has = thread.priority
        io = (has.io_class, has.io_level) if goal.io_class is None else (goal.io_class, goal.io_level)
        found.append(Thread(thread.tid, Priority(*io, has.nice if goal.nice is None else goal.nice)))
    return found


def read_threads(pid: int) -> list[Thread]:
    """Return the threads of a process with their priorities; none if it has ended."""
    found = []
    for tid in thread_ids(Path(f"/proc/{pid}")):
        try:
            nice = os.getpriority(os.PRIO_PROCESS, tid)
        except OSError:
            continue  # it has ended since
        io_class, io_level = io_priority(tid)
        found.append(Thread(tid, Priority(io_class or None, io_level, nice)))
    return found


def set_priority(pid: int, goal: Priority) -> list[Thread]:
    """Set the priority of every thread. Returns the threads afterwards.

    Repeats until a pass finds no difference, because threads may start during a pass. Raises PriorityError if the
    kernel refuses, or if there are still others after many passes.
    """
    for _pass in range(MAX_PASSES):
        threads = read_threads(pid)
        others = [thread for thread in threads if differs(thread, goal)]
        if not others:
            return threads
        for thread in others:
            _set(thread.tid, goal)
    raise PriorityError(
        f"threads {describe_threads(others)} of process {pid} do not keep {goal}: another program changes them. Stop it, and run this again."
    )


def _set(tid: int, goal: Priority) -> None:
    """Set the requested priority of one thread, unless it has ended."""
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
            f"thread {tid} may not get {goal}: changing another user's process, or raising a priority, needs root (in a "
            "container also CAP_SYS_NICE). Use become."
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
    """Encode a priority for ioprio_set(2); the inverse of ``decode_io_priority``."""
    number = next(number for number, name in IO_CLASSES.items() if name == io_class)
    return number << IOPRIO_CLASS_SHIFT | (io_level or 0)


def compare(pid: int, goal: Priority) -> dict[str, Any] | None:
    """Compare every thread of a process with a priority; None without threads."""
    threads = read_threads(pid)
    if not threads:
        return None
    others = [thread for thread in threads if differs(thread, goal)]
    wrong = f"{len(others)} of {len(threads)} threads of process {pid} do not have {goal}: {describe_threads(others)}."
    return {
        "msg": wrong if others else f"All {len(threads)} threads of process {pid} have {goal}.",
        "threads": [as_dict(thread) for thread in threads],
        "differing": [as_dict(thread) for thread in others],
    }


def describe_threads(threads: Sequence[Thread]) -> str:
    """Return the ids of threads with their priorities, shortened if there are many."""
    named = [f"{thread.tid} ({thread.priority})" for thread in threads[:MAX_NAMED]]
    more = len(threads) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


def summary(threads: Sequence[Thread]) -> dict[str, dict[str, int]]:
    """Return the numbers of threads by I/O class and level, and by nice value: ``{"io_classes": {"best-effort/0": 14}, "nice": {"-5": 14}}``."""
    known = [as_dict(thread) for thread in threads if thread.priority.io_class]
    nice: dict[str, int] = {}
    for thread in threads:
        nice[str(thread.priority.nice)] = nice.get(str(thread.priority.nice), 0) + 1
    return {"io_classes": count_io_classes(known), "nice": dict(sorted(nice.items()))}


def as_dict(thread: Thread) -> dict[str, Any]:
    """Return a thread in the format of the module's result."""
    has = thread.priority
    return {"tid": thread.tid, "io_class": has.io_class, "io_level": has.io_level, "nice": has.nice}
