# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lock the move of a write-ahead log, and find and remove the copies that moves make, including abandoned ones.

A move copies the log to TARGET.moving, and links SOURCE.moving to the copy. The link leads to the copy when nothing names TARGET any more.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator

from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import sync_path
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import folder_lock

# A log has a few segments of 64 MB. A slow disk copies them in minutes.
WAIT_SECONDS = 300


class MoveBusyError(ValueError):
    """Another process is moving the same log."""


@contextlib.contextmanager
def exclusive_move(source: str) -> Iterator[None]:
    """Let one process at a time move the log in ``source`` while the block runs. Raises MoveBusyError after WAIT_SECONDS.

    Another play may move the same log, or the module of a play that was killed on its controller may still run. The kernel releases
    the lock when its process ends.
    """
    parent = os.path.dirname(source.rstrip("/"))
    try:
        handle = os.open(parent, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:  # the folder does not exist, and so neither does a log in it
        yield
        return
    try:
        if not folder_lock.wait_for_lock(handle, WAIT_SECONDS):
            raise MoveBusyError(
                f"another process is moving the log in {source} (waited {WAIT_SECONDS} s): wait until it ends, or stop it "
                f"(`fuser -v {parent}` lists it), and run this again."
            )
        yield
    finally:
        os.close(handle)


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
