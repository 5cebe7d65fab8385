# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find and remove the copies that moves of a write-ahead log make, also of a move that was abandoned.

A move copies the log to TARGET.moving, and links SOURCE.moving to the copy. The link leads to the copy when nothing names TARGET any more.
"""

from __future__ import annotations

import os
import shutil

from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import sync_path


def staging_path(target: str) -> str:
    """Return the folder of the copy, next to the target so that a rename can move it there."""
    return f"{target.rstrip('/')}.moving"


def copy_paths(folder: str) -> list[str]:
    """Return the copies that a move from or to a folder left, and the link to one."""
    path = staging_path(folder)
    if not os.path.islink(path):
        return [path] if os.path.isdir(path) else []
    copy = os.readlink(path)
    return [copy, path] if _is_copy(copy) else [path]


def _is_copy(folder: str) -> bool:
    """Return whether a folder can only be a copy of a log: etcd's user may write the link, and root removes what it leads to."""
    if not folder.endswith(staging_path("")) or os.path.islink(folder) or not os.path.isdir(folder):
        return False
    return all(entry.name.endswith(".wal") and entry.is_file(follow_symlinks=False) for entry in os.scandir(folder))


def remove_path(path: str) -> None:
    """Remove a folder or a link, also after a power failure."""
    if os.path.islink(path):
        os.unlink(path)
    else:
        shutil.rmtree(path)
        sync_path(os.path.dirname(path))
