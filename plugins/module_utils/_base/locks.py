# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lock open files and folders. The kernel releases a lock when its process ends, however it ends."""

from __future__ import annotations

import fcntl
import time

POLL_SECONDS = 0.2


def try_lock(handle: int) -> bool:
    """Lock an open file, and return whether that succeeded: False while another process holds the lock. Raises OSError."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def wait_for_lock(handle: int, seconds: float) -> bool:
    """Lock an open file, and return whether that succeeded within ``seconds``. Raises OSError."""
    deadline = time.monotonic() + seconds
    while not try_lock(handle):
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True
