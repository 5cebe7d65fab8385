# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lock a folder, so that one process at a time works in it. Private to the collection."""

from __future__ import annotations

import fcntl
import time

_POLL_SECONDS = 0.2


def wait_for_lock(handle: int, seconds: float) -> bool:
    """Lock an open folder, and return whether that succeeded within ``seconds``. The kernel releases the lock when the process ends."""
    deadline = time.monotonic() + seconds
    while not _is_locked(handle):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _is_locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # NFS does not lock folders
        return True
    return True
