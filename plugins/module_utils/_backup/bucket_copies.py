# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copy snapshots to a bucket and fetch them back.

As in a directory, each snapshot has two records and is written after them, so that every listed snapshot is complete; then it
is read back and compared by SHA-256. Retention is the same. The hosts of a cluster may share a folder of the bucket, also while
several of them copy: snapshots of one cluster differ in their second, and what is unfinished stays for a day.
A failed copy is reported and leaves the snapshot on the host unchanged.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import check as backup_check
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import drilled_copies, retention, store
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.bucket import (
    Bucket,
    BucketError,
    Entry,
    Objects,
    connect,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.drilled_copies import PassedDrill
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.store import (
    Metadata,
    SnapshotError,
    StoredSnapshot,
)

# The objects next to a snapshot.
_RECORDS = (*store.RECORDS, store.DRILL)
# Maximum bytes of a record.
_RECORD_LIMIT = 64 << 10
# Seconds after which an unfinished upload or record is the leftover of a killed backup.
_ABANDONED = 86400


def copy_to_bucket(
    path: str,
    metadata: Metadata,
    bucket: Bucket,
    prefix: str,
    expired: Callable[[list[StoredSnapshot]], list[str]],
    timeout: int,
    now: float,
    passed: PassedDrill | None = None,
) -> tuple[str, list[str]]:
    """Copy a published snapshot, then apply retention. Returns the copy's URL (empty without a copy) and the problems.

    ``expired`` returns the paths of existing copies to remove. ``timeout`` is in seconds for each direction. ``now`` is in seconds
    since 1970. ``passed`` is the host's newest passed drill, for the record of its copy.
    """
    try:
        objects = connect(bucket)
        entries = objects.entries()
        _remove_leftovers(objects, entries, prefix, now - _ABANDONED)
        stored = scan_bucket(objects, entries, prefix)
        name = _claim(objects, entries, os.path.basename(path), metadata)
        _publish(objects, path, name, metadata, timeout)
    except (BucketError, OSError) as error:
        return "", [f"there is no copy in {bucket.url()}: {error}"]
    problems = []
    try:
        stored = drilled_copies.mark(
            stored, passed, lambda copy, text: objects.write(copy + store.DRILL, text.encode())
        )
    except BucketError as error:
        return bucket.url(name), [
            f"an old copy could not be removed: the record of a passed drill cannot be written: {error}"
        ]
    for old in expired(stored):
        try:
            _remove(objects, old)
        except BucketError as error:
            problems.append(f"an old copy could not be removed: {bucket.url(old)}: {error}")
    return bucket.url(name), problems


def scan_bucket(objects: Objects, entries: dict[str, Entry], prefix: str) -> list[StoredSnapshot]:
    """Return the snapshots with this prefix, oldest name first. Reads only their records. Raises BucketError."""
    ours = store.name_pattern(prefix)
    return [_inspect(objects, entries, name) for name in sorted(filter(ours.fullmatch, entries), key=store.name_order)]


def _inspect(objects: Objects, entries: dict[str, Entry], name: str) -> StoredSnapshot:
    missing = [name + suffix for suffix in store.RECORDS if name + suffix not in entries]
    if missing:
        return StoredSnapshot(name, None, f"{missing[0]} is missing")
    record = name + store.METADATA
    try:
        metadata = store.parse_metadata(objects.read(record, _RECORD_LIMIT).decode(errors="replace"), record)
    except SnapshotError as error:
        return StoredSnapshot(name, None, str(error))
    except BucketError as error:  # the store may refuse a single object, for example an archived one
        return StoredSnapshot(name, None, f"{record} cannot be read: {error}")
    if entries[name].size != metadata.file_size:
        return StoredSnapshot(
            name, metadata, f"it has {entries[name].size} bytes, but {metadata.file_size} according to its record"
        )
    return StoredSnapshot(name, metadata, "", name + store.DRILL in entries)


def fetch_snapshot(
    bucket: Bucket,
    wanted: str,
    prefix: str,
    directory: str,
    timeout: int,
    *,
    check: bool,
    warn: Callable[[str], None] = lambda _text: None,
) -> tuple[str, Metadata, bool]:
    """Fetch a snapshot and its records into a directory. Returns its path, its metadata, and whether it was fetched.

    ``wanted`` is its URL or name; empty for the newest good one with this prefix, and ``warn`` is called with a sentence for each newer one that is skipped.
    With ``check`` nothing is downloaded. A snapshot that is already there is not fetched again. Raises SnapshotError.
    """
    try:
        objects = connect(bucket)
        found = _find(objects, wanted, prefix, warn)
        metadata = found.metadata
        if metadata is None or found.problem:
            raise SnapshotError(f"{bucket.url(found.path)} is not a complete backup: {found.problem}")
        target = os.path.join(directory, found.path)
        if os.path.lexists(target):
            if store.read_metadata(target).file_sha256 != metadata.file_sha256:
                raise SnapshotError(f"{target} is a different snapshot: choose another dest")
            backup_check.check_existing(target, metadata)
            return target, metadata, False
        if not check:
            _download(objects, found.path, target, metadata, timeout)
    except (BucketError, OSError) as error:
        raise SnapshotError(f"no snapshot from {bucket.url()}: {error}") from error
    return target, metadata, True


def _find(objects: Objects, wanted: str, prefix: str, warn: Callable[[str], None]) -> StoredSnapshot:
    """Return the wanted snapshot, or the newest good one. Raises SnapshotError."""
    entries = objects.entries()
    if wanted:
        name = wanted[len(objects.bucket.url()) :] if wanted.startswith(objects.bucket.url()) else wanted
        if name not in entries:
            raise SnapshotError(
                f"there is no {name} in {objects.bucket.url()}: correct path, or leave it out for the newest"
            )
        return _inspect(objects, entries, name)
    stored = scan_bucket(objects, entries, prefix)
    good = retention.newest_first(stored, "", time.time())
    newer = retention.problems_after(stored, good[0] if good else None)
    skipped = [f"{item.path} was skipped: {item.problem}" for item in newer]
    if not good:
        newest_problem = f"; {skipped[-1]}" if skipped else ""
        raise SnapshotError(f"{objects.bucket.url()} contains no complete backup named {prefix}-…{newest_problem}")
    for text in skipped:
        warn(f"the newer {text}")
    return good[0]


def _download(objects: Objects, name: str, target: str, metadata: Metadata, timeout: int) -> None:
    with store.staging_folder(os.path.dirname(target)) as folder:
        temporary = os.path.join(folder, "fetched")
        _size, sha256 = objects.download(name, temporary, timeout)
        if sha256 != metadata.file_sha256:
            raise SnapshotError(
                f"{objects.bucket.url(name)} was altered: its SHA-256 is {sha256}, but {metadata.file_sha256} according to its record"
            )
        os.chmod(temporary, 0o600)
        store.publish(temporary, target, metadata)


def _claim(objects: Objects, entries: dict[str, Entry], wanted: str, metadata: Metadata) -> str:
    """Write the first record under an unused name, since another host may have a snapshot of the same second."""

    def claimed(name: str) -> bool:
        text = store.render_records(metadata, name)[store.CHECKSUM]
        return name not in entries and objects.claim(name + store.CHECKSUM, text.encode())

    return next(filter(claimed, store.numbered_names(wanted)))


def _publish(objects: Objects, path: str, name: str, metadata: Metadata, timeout: int) -> None:
    try:
        objects.write(name + store.METADATA, store.render_records(metadata, name)[store.METADATA].encode())
        objects.upload(path, name, timeout)
        _size, sha256 = objects.sha256(name, timeout)
        if sha256 != metadata.file_sha256:
            raise BucketError(
                f"its SHA-256 is {sha256} when read back, but was {metadata.file_sha256}: check the store"
            )
    except (BucketError, OSError):
        with contextlib.suppress(BucketError):  # report the first error; the next backup cleans up
            _remove(objects, name)
        raise


def _remove(objects: Objects, name: str) -> None:
    """Remove a snapshot, then its records."""
    for suffix in ("", *_RECORDS):
        objects.remove(name + suffix)


def _remove_leftovers(objects: Objects, entries: dict[str, Entry], prefix: str, before: float) -> None:
    """Remove the leftovers of killed backups: unfinished uploads, and records without a snapshot."""
    ours = store.name_pattern(prefix)
    objects.abort_stale_uploads(before, ours)
    for name, entry in entries.items():
        start, suffix = os.path.splitext(name)
        if suffix in _RECORDS and ours.fullmatch(start) and start not in entries and entry.written < before:
            objects.remove(name)
