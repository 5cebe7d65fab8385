# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of snapshots in another directory, for example a mounted share. Private to the collection.

A copy is published as the snapshot was, once its SHA-256 was read back from where it lies; retention is the same there.
What goes wrong is said, and leaves the snapshot itself as it is.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import encryption as crypt
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import store
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.store import Metadata, SnapshotError, Stored
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size


def copy(
    path: str, metadata: Metadata, directory: str, prefix: str, unwanted: Callable[[list[Stored]], list[str]]
) -> tuple[str, list[str]]:
    """Copy a published snapshot, then apply retention there. Returns the copy's path (empty: none) and what went wrong.

    unwanted: which of those that are there already retention no longer wants.
    """
    target = os.path.join(directory, os.path.basename(path))
    try:
        check(directory, metadata.file_size)
        with store.locked(directory):
            store.remove_leftovers(directory, prefix)
            stored = store.scan(directory, prefix)
            _publish(path, target, metadata)
            _removed, failures = store.remove(unwanted(stored))
    except SnapshotError as error:
        return "", [f"there is no copy in {directory}: {error}"]
    except OSError as error:
        return "", [f"there is no copy in {directory}: {error.strerror}"]
    return target, [f"an old copy could not be removed: {failure}" for failure in failures]


def check(directory: str, size: int) -> None:
    """Raise SnapshotError for a directory that takes no copy of so many bytes."""
    if not os.path.isdir(directory):
        raise SnapshotError("it is no directory on this host; make it, or mount its volume")
    room = os.statvfs(directory)
    free = room.f_bavail * room.f_frsize
    if free < size:
        raise SnapshotError(f"it has {format_size(free)} free, but the copy needs {format_size(size)}")


def _publish(path: str, target: str, metadata: Metadata) -> None:
    with store.workplace(os.path.dirname(target)) as folder:
        temporary = os.path.join(folder, "copy")
        shutil.copyfile(path, temporary)
        os.chmod(temporary, 0o600)
        _size, sha256 = crypt.sha256_of(temporary)
        if sha256 != metadata.file_sha256:
            raise SnapshotError(f"read back, its SHA-256 is {sha256} instead of {metadata.file_sha256}")
        store.publish(temporary, target, metadata)
