"""Kill a command with all the processes that it started."""

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
