# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Identify the play that runs on this controller, and say whether another one has ended.

An identity is ``boot id:PID namespace:PID:start time``. The same boot and PID namespace make a PID comparable, and the start
time tells a process from a later one with the same PID.
"""

from __future__ import annotations

import multiprocessing
import os
import socket
from pathlib import Path

BOOT_ID = "/proc/sys/kernel/random/boot_id"


def this_play() -> str:
    """Return the identity of the process that runs the play: ansible-playbook, which forks a process for each task."""
    parent = multiprocessing.parent_process()
    pid = parent.pid if parent is not None and parent.pid else os.getpid()
    return f"{_machine()}:{pid}:{_start_time(pid)}"


def has_ended(play: str) -> bool:
    """Return whether a play is known to have ended. One that ran elsewhere, or before a reboot, is not known."""
    machine, _colon, process = play.rpartition(":")[0].rpartition(":")
    start = play.rpartition(":")[2]
    if machine != _machine() or not process.isdigit() or not start.isdigit():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass  # it belongs to another user
    now = _start_time(int(process))
    return bool(now) and now != start


def _machine() -> str:
    """Identify the running kernel and the PID namespace; the host's name where there is no /proc."""
    try:
        boot = Path(BOOT_ID).read_text(encoding="ascii").strip()
        return f"{boot}:{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return f"{socket.gethostname()}:"


def _start_time(pid: int) -> str:
    """Return the kernel's start time of a process, ``ended`` for a zombie, empty if it cannot be read. Source: proc(5)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(") ")[2].split()
    except OSError:
        return ""
    return "ended" if fields[0] in ("Z", "X") else fields[19]
