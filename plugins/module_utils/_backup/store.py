# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Store snapshots and their records in a directory.

A snapshot is three files: ``NAME.db`` (encrypted ``NAME.db.age`` or ``NAME.db.gpg``), ``NAME.db.sha256`` (for ``sha256sum -c``)
and ``NAME.db.json``. They are written in a hidden directory next to the others and renamed into place with the ``.db`` last, so
that every visible ``.db`` is complete. ``NAME.db.drill`` records that it passed its restore drill, and when.
Invalid content raises SnapshotError; a failed system call raises OSError.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import time
from collections.abc import Iterator
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import owned_folder
from ansible_collections.etcdops.headroom.plugins.module_utils._base.durations import format_utc, parse_utc
from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import errors_name, sync_path
from ansible_collections.etcdops.headroom.plugins.module_utils._base.locks import wait_for_lock

METADATA = ".json"
CHECKSUM = ".sha256"
RECORDS = (METADATA, CHECKSUM)
DRILL = ".drill"
_DRILL_PART = ".drill-part"
# All files next to a snapshot.
SIDECARS = (*RECORDS, DRILL, _DRILL_PART)

_HIDDEN = ".headroom-snapshot-"
_LOCK = ".headroom-snapshot.lock"
_STAMP = "%Y%m%dT%H%M%SZ"
_PREFIX = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
# A snapshot's name; only further snapshots of the same second have a number.
_NAME = re.compile(r"(.+-\d{8}T\d{6}Z)(?:-(\d+))?(\.db.*)")
_FORMAT = 1


class SnapshotError(ValueError):
    """A snapshot that cannot be taken, or that differs from its records."""


class DamagedError(SnapshotError):
    """A snapshot whose content is proved to be bad, as opposed to one that could not be checked."""


@dataclass(frozen=True)
class Metadata:
    """The record of a snapshot, which a restore needs without opening the snapshot.

    ``taken_at`` is in seconds since 1970, ``size`` in bytes, ``sha256`` is that of the whole file. ``hash``, ``revision`` and
    ``total_keys`` come from etcdutl; ``etcd_version`` is the member's, ``storage_version`` that of the database's layout, empty
    before etcd 3.6. ``encryption`` is ``age`` or ``gpg`` for an encrypted file: ``encrypted_size`` and ``encrypted_sha256``
    describe that file, the other fields its decrypted content.
    """

    cluster_id: str
    member: str
    member_id: str
    etcd_version: str
    storage_version: str
    revision: int
    hash: str
    total_keys: int
    size: int
    sha256: str
    taken_at: int
    encryption: str = ""
    encrypted_size: int = 0
    encrypted_sha256: str = ""

    @property
    def file_size(self) -> int:
        """Size in bytes of the stored file."""
        return self.encrypted_size if self.encryption else self.size

    @property
    def file_sha256(self) -> str:
        """SHA-256 of the stored file."""
        return self.encrypted_sha256 if self.encryption else self.sha256

    def as_dict(self) -> dict[str, Any]:
        """Return the content of the record."""
        data = {"format": _FORMAT, **asdict(self), "taken_at": format_utc(self.taken_at)}
        return {name: value for name, value in data.items() if value or not name.startswith("encrypt")}


@dataclass(frozen=True)
class StoredSnapshot:
    """A snapshot in a directory or bucket.

    ``problem`` is why it does not count as good, else empty; ``drilled`` is whether it passed its restore drill.
    """

    path: str
    metadata: Metadata | None
    problem: str
    drilled: bool = False


def parse_metadata(text: str, path: str) -> Metadata:
    """Parse the text of the record at ``path``. Raises SnapshotError, which names the first invalid field."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise SnapshotError(f"{path} is not JSON, so its snapshot is unknown: use another snapshot") from error
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise SnapshotError(f"{path} is not the record of a snapshot (format {_FORMAT}): use another snapshot")
    found: dict[str, Any] = {}
    for name, kind, default in ((entry.name, entry.type, entry.default) for entry in fields(Metadata)):
        value = data.get(name, None if default is MISSING else default)
        if name == "taken_at":
            found[name] = _parse_date(value, path)
        elif type(value).__name__ != kind:  # isinstance would accept a bool as int
            raise SnapshotError(f"{path}: {name} is {value!r}, but must be of type {kind}")
        else:
            found[name] = value
    return Metadata(**found)


def _parse_date(value: Any, path: str) -> int:
    try:
        return parse_utc(value)
    except (TypeError, ValueError) as error:
        raise SnapshotError(f"{path}: taken_at is {value!r}, but must be a date like 2026-11-21T10:15:00Z") from error


def check_prefix(prefix: str) -> None:
    """Raise SnapshotError if the names of snapshots cannot start with ``prefix``."""
    if _PREFIX.fullmatch(prefix) is None:
        raise SnapshotError(f"name is {prefix!r}: write letters, digits, '.', '_' and '-', such as etcd or my-cluster")


def new_path(directory: str, prefix: str, now: float, encryption: str = "") -> str:
    """Return an unused path for a snapshot taken at ``now``. ``encryption`` becomes the file's last suffix."""
    return unused_path(
        directory, f"{prefix}-{time.strftime(_STAMP, time.gmtime(now))}.db{f'.{encryption}' if encryption else ''}"
    )


def unused_path(directory: str, name: str) -> str:
    """Return the path of a snapshot with this name, or with a numbered one if it is taken."""
    paths = (os.path.join(directory, one) for one in numbered_names(name))
    return next(path for path in paths if not os.path.lexists(path))


def numbered_names(name: str) -> Iterator[str]:
    """Yield the name of a snapshot, then numbered names for others of the same second. Raises SnapshotError."""
    found = _NAME.fullmatch(name)
    if found is None:
        raise SnapshotError(f"{name} is not the name of a snapshot")
    yield name
    start, number, ending = found.groups()
    for following in itertools.count(int(number or 1) + 1):
        yield f"{start}-{following}{ending}"


def name_order(path: str) -> tuple[str, int]:
    """Return a sort key for paths or names of snapshots with one prefix: numbered names of a second follow the plain one."""
    found = _NAME.match(os.path.basename(path))
    return (found[1], int(found[2] or 1)) if found else (path, 1)


def name_pattern(prefix: str) -> re.Pattern[str]:
    """Return the pattern of the names of snapshots with this prefix."""
    return re.compile(re.escape(prefix) + r"-\d{8}T\d{6}Z(?:-\d+)?\.db(?:\.age|\.gpg)?")


def scan_directory(directory: str, prefix: str) -> list[StoredSnapshot]:
    """Return the snapshots with this prefix, oldest name first. Compares their sizes with their records, but not their content."""
    ours = name_pattern(prefix)
    names = sorted((name for name in os.listdir(directory) if ours.fullmatch(name)), key=name_order)
    return [_inspect(os.path.join(directory, name)) for name in names]


def _inspect(path: str) -> StoredSnapshot:
    try:
        metadata = read_metadata(path)
        read_checksum(path)
        size = os.stat(path).st_size
    except (SnapshotError, OSError) as error:
        return StoredSnapshot(path, None, str(error))
    if size != metadata.file_size:
        return StoredSnapshot(path, metadata, f"it has {size} bytes, but {metadata.file_size} according to its record")
    return StoredSnapshot(path, metadata, "", os.path.isfile(path + DRILL))


def read_metadata(path: str) -> Metadata:
    """Read the record of the snapshot at ``path``. Raises SnapshotError if it is missing or invalid."""
    return parse_metadata(_read_record(path, METADATA), path + METADATA)


def read_checksum(path: str) -> str:
    """Read the recorded SHA-256 of the snapshot at ``path``. Raises SnapshotError if it is missing or invalid."""
    match = re.match(r"([0-9a-f]{64}) [ *](.+)\n", _read_record(path, CHECKSUM))
    if match is None:
        raise SnapshotError(f"{path + CHECKSUM} is not in the format of sha256sum: use another snapshot")
    return match.group(1)


def _read_record(path: str, suffix: str) -> str:
    try:
        with open(path + suffix, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except FileNotFoundError as error:
        raise SnapshotError(
            f"{path + suffix} is missing: {path} is not a complete backup, or was copied without its records"
        ) from error


def remove_snapshots(paths: list[str]) -> tuple[list[str], list[str]]:
    """Remove snapshots, each ``.db`` before its records. Returns the removed paths and the failures as sentences."""
    removed, failures = [], []
    for path in paths:
        try:
            os.unlink(path)
            removed.append(path)
            _remove_records(path)
        except OSError as error:
            failures.append(f"{error.filename}: {error.strerror}")
    return removed, failures


def _remove_records(path: str) -> None:
    for suffix in SIDECARS:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path + suffix)


@contextlib.contextmanager
def lock_directory(directory: str, wait: float = 0.0) -> Iterator[None]:
    """Lock the directory for one backup, after at most ``wait`` seconds. The kernel releases the lock when the process ends. Raises SnapshotError."""
    handle = os.open(os.path.join(directory, _LOCK), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        if not wait_for_lock(handle, wait):
            raise SnapshotError(f"another backup into {directory} is running: wait for it")
        yield
    finally:
        os.close(handle)


def remove_leftovers(directory: str, prefix: str) -> None:
    """Remove the leftovers of killed backups: hidden folders, and records without a snapshot.

    Call it only while the directory is locked. Records may belong to a fetch or a decryption that is about to rename its snapshot,
    so they stay while another process owns a hidden folder.
    """
    if owned_folder.remove_abandoned(directory, _HIDDEN):
        return
    ours = name_pattern(prefix)
    for name in os.listdir(directory):
        start, suffix = os.path.splitext(name)
        if suffix in SIDECARS and ours.fullmatch(start) and not os.path.lexists(os.path.join(directory, start)):
            os.unlink(os.path.join(directory, name))


@contextlib.contextmanager
def staging_folder(directory: str) -> Iterator[str]:
    """Yield a hidden folder on the same filesystem, accessible to this user only; remove it afterwards."""
    with owned_folder.owned_folder(directory, _HIDDEN) as path:
        yield path


def render_records(metadata: Metadata, name: str) -> dict[str, str]:
    """Return the content of each record of the snapshot ``name``, by file suffix."""
    return {
        METADATA: json.dumps(metadata.as_dict(), indent=2) + "\n",
        CHECKSUM: f"{metadata.file_sha256}  {name}\n",
    }


def publish(temporary: str, path: str, metadata: Metadata) -> None:
    """Flush the file ``temporary``, write its records and rename all three to ``path``, the snapshot itself last.

    Flushes the directory in between, so that the order survives a power failure.
    """
    sync_path(temporary)
    for suffix, text in render_records(metadata, os.path.basename(path)).items():
        _write(temporary + suffix, text)
    directory = os.path.dirname(path)
    for suffix in RECORDS:
        os.rename(temporary + suffix, path + suffix)
    sync_path(directory)
    os.rename(temporary, path)
    sync_path(directory)


def record_drill(path: str, record: dict[str, Any] | None) -> None:
    """Record the result of a snapshot's drill atomically; None removes an earlier record."""
    if record:
        write_drill(path, json.dumps({"format": _FORMAT, **record}, indent=2) + "\n")
        return
    for suffix in (_DRILL_PART, DRILL):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path + suffix)


def read_drill(path: str) -> str:
    """Read the text of the record of a snapshot's drill. Raises OSError."""
    with open(path + DRILL, encoding="utf-8", errors="replace") as stream:
        return stream.read()


def write_drill(path: str, text: str) -> None:
    """Write the text of the record of a snapshot's drill atomically. Raises OSError."""
    temporary = path + _DRILL_PART
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temporary)
    _write(temporary, text)
    os.rename(temporary, path + DRILL)
    sync_path(os.path.dirname(path))


def _write(path: str, text: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with errors_name(path), os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
