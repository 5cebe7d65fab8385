# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lock a folder, so that one process at a time works in it. Private to the collection."""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.module_utils._base import locks


def wait_for_lock(handle: int, seconds: float) -> bool:
    """Lock an open folder, and return whether that succeeded within ``seconds``."""
    try:
        return locks.wait_for_lock(handle, seconds)
    except OSError:  # NFS does not lock folders
        return True
