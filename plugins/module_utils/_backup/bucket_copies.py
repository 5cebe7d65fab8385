# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of snapshots in a bucket, and the way back. Private to the collection.

There as in a directory: two records beside each snapshot, the snapshot last, so that one in sight is whole; then it is read
back and compared by SHA-256. Retention is the same too. The hosts of a cluster may share a bucket's folder: one of them at a
time takes the backup. What goes wrong is said, and leaves the snapshot on the host as it is.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import store
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.bucket import (
    Bucket,
    BucketError,
    Entry,
    Objects,
    connect,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.store import (
    Metadata,
    SnapshotError,
    Stored,
)

# Records of so many bytes are none of ours.
_RECORD = 64 << 10
# What another host may still be about, in seconds: what is older was left by one that was killed.
_ABANDONED = 86400


def copy(
    path: str,
    metadata: Metadata,
    bucket: Bucket,
    prefix: str,
    unwanted: Callable[[list[Stored]], list[str]],
    timeout: int,
    now: float,
) -> tuple[str, list[str]]:
    """Copy a published snapshot, then apply retention there. Returns the copy's URL (empty: none) and what went wrong.

    unwanted: which of those that are there already retention no longer wants. timeout: seconds for each way of the file.
    """
    try:
        kept = connect(bucket)
        entries = kept.entries()
        _remove_leftovers(kept, entries, prefix, now - _ABANDONED)
        stored = scan(kept, entries, prefix)
        name = _claim(kept, entries, os.path.basename(path), metadata)
        _publish(kept, path, name, metadata, timeout)
    except (BucketError, OSError) as error:
        return "", [f"there is no copy in {bucket.url()}: {error}"]
    problems = []
    for old in unwanted(stored):
        try:
            _remove(kept, old)
        except BucketError as error:
            problems.append(f"an old copy could not be removed: {bucket.url(old)}: {error}")
    return bucket.url(name), problems


def scan(kept: Objects, entries: dict[str, Entry], prefix: str) -> list[Stored]:
    """Return the snapshots of this prefix by name; only their records are read. Raises BucketError."""
    ours = store.pattern(prefix)
    return [_look(kept, entries, name) for name in sorted(entries) if ours.fullmatch(name)]


def _look(kept: Objects, entries: dict[str, Entry], name: str) -> Stored:
    missing = [name + suffix for suffix in store.RECORDS if name + suffix not in entries]
    if missing:
        return Stored(name, None, f"{missing[0]} is missing")
    record = name + store.METADATA
    try:
        metadata = store.parse_metadata(kept.read(record, _RECORD).decode(errors="replace"), record)
    except SnapshotError as error:
        return Stored(name, None, str(error))
    if entries[name].size != metadata.file_size:
        return Stored(name, metadata, f"it has {entries[name].size} bytes, when taken {metadata.file_size}")
    return Stored(name, metadata, "")


def fetch(
    bucket: Bucket, wanted: str, prefix: str, directory: str, timeout: int, *, check: bool
) -> tuple[str, Metadata, bool]:
    """Bring a snapshot back into a directory, beside its records. Returns its path there, what it is, and whether it was brought.

    wanted: its URL or its name; empty: the newest good one of this prefix. check: only say which. One that is there
    already, the same, is left as it is. Raises SnapshotError.
    """
    try:
        kept = connect(bucket)
        found = _find(kept, wanted, prefix)
        metadata = found.metadata
        if metadata is None or found.problem:
            raise SnapshotError(f"{bucket.url(found.path)} is no finished backup: {found.problem}")
        target = os.path.join(directory, found.path)
        if os.path.lexists(target):
            if store.read_metadata(target).file_sha256 != metadata.file_sha256:
                raise SnapshotError(f"{target} is another snapshot: choose another dest")
            return target, metadata, False
        if not check:
            _bring(kept, found.path, target, metadata, timeout)
    except (BucketError, OSError) as error:
        raise SnapshotError(f"no snapshot from {bucket.url()}: {error}") from error
    return target, metadata, True


def _find(kept: Objects, wanted: str, prefix: str) -> Stored:
    """Look up the snapshot that is asked for."""
    entries = kept.entries()
    if wanted:
        name = wanted[len(kept.bucket.url()) :] if wanted.startswith(kept.bucket.url()) else wanted
        if name not in entries:
            raise SnapshotError(f"there is no {name} in {kept.bucket.url()}; leave path out for the newest")
        return _look(kept, entries, name)
    newest = store.newest_first(scan(kept, entries, prefix), "")
    if not newest:
        raise SnapshotError(f"there is no finished backup called {prefix}-… in {kept.bucket.url()}")
    return newest[0]


def _bring(kept: Objects, name: str, target: str, metadata: Metadata, timeout: int) -> None:
    with store.workplace(os.path.dirname(target)) as folder:
        temporary = os.path.join(folder, "fetched")
        _size, sha256 = kept.download(name, temporary, timeout)
        if sha256 != metadata.file_sha256:
            raise SnapshotError(
                f"{kept.bucket.url(name)} was altered: its SHA-256 is {sha256}, not {metadata.file_sha256}"
            )
        os.chmod(temporary, 0o600)
        store.publish(temporary, target, metadata)


def _claim(kept: Objects, entries: dict[str, Entry], wanted: str, metadata: Metadata) -> str:
    """Write the first record under a name that nobody has: of the same second may be one of another host."""

    def claimed(name: str) -> bool:
        text = store.records(metadata, name)[store.CHECKSUM]
        return name not in entries and kept.claim(name + store.CHECKSUM, text.encode())

    return next(filter(claimed, store.numbered(wanted)))


def _publish(kept: Objects, path: str, name: str, metadata: Metadata, timeout: int) -> None:
    try:
        kept.write(name + store.METADATA, store.records(metadata, name)[store.METADATA].encode())
        kept.upload(path, name, timeout)
        _size, sha256 = kept.sha256(name, timeout)
        if sha256 != metadata.file_sha256:
            raise BucketError(f"read back, its SHA-256 is {sha256} instead of {metadata.file_sha256}")
    except (BucketError, OSError):
        with contextlib.suppress(BucketError):  # the first reason is the one to tell; the next backup cleans up
            _remove(kept, name)
        raise


def _remove(kept: Objects, name: str) -> None:
    """Remove a snapshot, then its records."""
    for suffix in ("", *store.RECORDS):
        kept.remove(name + suffix)


def _remove_leftovers(kept: Objects, entries: dict[str, Entry], prefix: str, before: float) -> None:
    """Remove what killed backups left: parts of a file, and records whose snapshot never came."""
    kept.abandon_uploads(before)
    ours = store.pattern(prefix)
    for name, entry in entries.items():
        start, suffix = os.path.splitext(name)
        if suffix in store.RECORDS and ours.fullmatch(start) and start not in entries and entry.written < before:
            kept.remove(name)
