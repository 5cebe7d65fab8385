# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copy snapshots to another directory, for example a mounted share.

A copy is published like a snapshot, once its SHA-256 has been read back. Retention is the same. A failed copy is reported and
leaves the snapshot unchanged. Only child processes access the directory, because the server of a share may not answer.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import drilled_copies, store
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import encryption as crypt
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.drilled_copies import PassedDrill
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.store import (
    Metadata,
    SnapshotError,
    StoredSnapshot,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._base import deadline
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_sizes_distinctly
from ansible_collections.etcdops.headroom.plugins.module_utils._host.free_space import available_bytes
from ansible_collections.etcdops.headroom.plugins.module_utils._host.fstab import unmounted_problem


def copy_to_directory(
    path: str,
    metadata: Metadata,
    directory: str,
    prefix: str,
    expired: Callable[[list[StoredSnapshot]], list[str]],
    timeout: int,
    passed: PassedDrill | None = None,
) -> tuple[str, list[str]]:
    """Copy a published snapshot, then apply retention. Returns the copy's path (empty without a copy) and the problems.

    ``expired`` returns the paths of existing copies to remove. ``timeout`` is in seconds: for a copy of another host in the same directory, and
    as long for this one. It also ends if the server of the directory does not answer. ``passed`` is the host's newest passed drill, for the record
    of its copy.
    """
    limit = 2 * timeout
    try:
        target, failures = deadline.call_with_deadline(
            lambda: _copy(path, metadata, directory, prefix, expired, timeout, passed), limit
        )
    except deadline.DeadlineError:
        problem = f"did not finish within {limit} s: check the server of its volume, or raise timeout"
        return "", [f"the copy to {directory} {problem}"]
    except SnapshotError as error:
        return "", [f"there is no copy in {directory}: {error}"]
    except OSError as error:
        return "", [f"there is no copy in {directory}: {error.strerror}"]
    return target, [f"an old copy could not be removed: {failure}" for failure in failures]


def _copy(
    path: str,
    metadata: Metadata,
    directory: str,
    prefix: str,
    expired: Callable[[list[StoredSnapshot]], list[str]],
    wait: float,
    passed: PassedDrill | None,
) -> tuple[str, list[str]]:
    """Return the path of the copy, and the old copies that could not be removed. Raises SnapshotError or OSError."""
    _check_directory(directory, metadata.file_size, os.path.dirname(path))
    with store.lock_directory(directory, wait):
        store.remove_leftovers(directory, prefix)
        stored = store.scan_directory(directory, prefix)
        # Another host or cluster may have copied a snapshot of the same second here.
        target = store.unused_path(directory, os.path.basename(path))
        _publish(path, target, metadata)
        try:
            stored = drilled_copies.mark(stored, passed, store.write_drill)
        except OSError as error:
            return target, [f"{error.filename}, the record of a passed drill, cannot be written: {error.strerror}"]
        _removed, failures = store.remove_snapshots(expired(stored))
    return target, failures


def check_copy_dir(directory: str, size: int, snapshots: str) -> None:
    """Raise SnapshotError if a snapshot of ``size`` bytes could not be copied from ``snapshots`` to this directory now. Raises OSError."""
    try:
        deadline.call_with_deadline(lambda: _check_directory(directory, size, snapshots), deadline.ANSWER_SECONDS)
    except deadline.DeadlineError as error:
        raise SnapshotError(
            f"it does not answer within {deadline.ANSWER_SECONDS:g} s: check the server of its volume, or set another directory"
        ) from error


def _check_directory(directory: str, size: int, snapshots: str) -> None:
    """Raise SnapshotError if the directory's volume is not mounted, or has no room for a copy of ``size`` bytes.

    ``snapshots`` is the directory of the snapshots, which must be another one.
    """
    if not os.path.isdir(directory):
        raise SnapshotError("it is not a directory on this host: create it, or mount its volume")
    if os.path.samefile(directory, snapshots):
        raise SnapshotError("it is the directory of the snapshots: set another directory, or leave it out")
    free = available_bytes(directory)  # first, because it mounts an automount
    problem = unmounted_problem(directory)
    if problem:
        raise SnapshotError(problem)
    if free < size:
        has, needs = format_sizes_distinctly(free, size)
        raise SnapshotError(f"it has {has} free, but the copy needs {needs}: free some space")


def _publish(path: str, target: str, metadata: Metadata) -> None:
    with store.staging_folder(os.path.dirname(target)) as folder:
        temporary = os.path.join(folder, "copy")
        shutil.copyfile(path, temporary)
        os.chmod(temporary, 0o600)
        _size, sha256 = crypt.sync_and_hash(temporary)
        if sha256 != metadata.file_sha256:
            raise SnapshotError(
                f"its SHA-256 is {sha256} when read back, but was {metadata.file_sha256}: check the disk"
            )
        store.publish(temporary, target, metadata)
