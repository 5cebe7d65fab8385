# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Create temporary folders that a later run can remove if their owner was killed, but never while it lives.

The owner holds a lock on a file in its folder. The kernel releases it when the process ends, also on other hosts of a shared directory.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator

from ansible_collections.etcdops.headroom.plugins.module_utils._base.locks import try_lock

_LOCK = "lock"


@contextlib.contextmanager
def owned_folder(parent: str, prefix: str) -> Iterator[str]:
    """Yield a new folder that only this user can enter, and remove it afterwards. Raises OSError."""
    folder, handle = _create(parent, prefix)
    try:
        yield folder
    finally:
        # Before the removal, because NFS keeps an open file, and with it the folder.
        os.close(handle)
        shutil.rmtree(folder, ignore_errors=True)


def _create(parent: str, prefix: str) -> tuple[str, int]:
    """Return a new folder and the handle of its lock."""
    while True:
        folder = tempfile.mkdtemp(prefix=prefix, dir=parent)
        try:
            handle = os.open(os.path.join(folder, _LOCK), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except FileNotFoundError:  # removed before it was locked
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError:
            os.close(handle)
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if os.fstat(handle).st_nlink:
            return folder, handle
        os.close(handle)


def find_abandoned(parent: str, prefix: str) -> list[str]:
    """Return the folders that ``remove_abandoned`` would remove. Changes nothing. Raises OSError."""
    return sorted(folder for folder in _owned_folders(parent, prefix) if _is_abandoned(folder))


def _owned_folders(parent: str, prefix: str) -> Iterator[str]:
    for name in os.listdir(parent):
        folder = os.path.join(parent, name)
        if name.startswith(prefix) and os.path.isdir(folder) and not os.path.islink(folder):
            yield folder


def _is_abandoned(folder: str) -> bool:
    """Return whether no owner of a folder lives."""
    try:
        handle = os.open(os.path.join(folder, _LOCK), os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:  # its owner is about to create it, or was killed before
        return os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)
    except OSError:
        return False
    try:
        return try_lock(handle)
    except OSError:
        return False
    finally:
        os.close(handle)


def remove_abandoned(parent: str, prefix: str) -> bool:
    """Remove the folders whose owner has ended. Returns whether the owner of another one lives. Raises OSError."""
    alive = False
    for folder in _owned_folders(parent, prefix):
        alive = not _remove(folder) or alive
    return alive


def _remove(folder: str) -> bool:
    """Remove a folder unless its owner lives, or it belongs to another user. Returns whether no owner lives."""
    try:
        # Without a lock file its owner is about to create it, or was killed before.
        handle = os.open(os.path.join(folder, _LOCK), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        if not try_lock(handle):
            return False
        shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        return False
    finally:
        os.close(handle)
    with contextlib.suppress(OSError):  # on NFS it is empty only now
        os.rmdir(folder)
    return True
