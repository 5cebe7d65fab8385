"""Kill a command with all the processes that it started, and let a thread run before other processes."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path


def descendants(ancestor: int) -> set[int]:
    """Return the processes below a process: Ansible's workers have sessions of their own, and hang if they survive."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    found = {ancestor}
    while more := {process for process, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {ancestor}


def kill_descendants(ancestor: int) -> None:
    """Kill the processes below a process, but not the process itself."""
    for process in descendants(ancestor):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def kill_with_descendants(ancestor: int) -> None:
    """Stop a process, so that it starts no other, and kill it with all processes below it."""
    os.kill(ancestor, signal.SIGSTOP)
    kill_descendants(ancestor)
    os.kill(ancestor, signal.SIGKILL)


def run_first() -> None:
    """Let this thread, and those that it starts, run before all ordinary processes. Does nothing without the permission.

    Processes that these threads start inherit it. A client has a machine of its own: beside Ansible's processes on two processors its TLS
    handshakes took longer than a write may take.
    """
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(os.sched_get_priority_min(os.SCHED_RR)))
