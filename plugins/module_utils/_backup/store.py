# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A directory of snapshots: names, the records beside each, what is kept. Private to the collection.

A snapshot is three files: ``NAME.db`` (encrypted ``NAME.db.age`` or ``NAME.db.gpg``), ``NAME.db.sha256`` (as ``sha256sum -c``
reads it) and ``NAME.db.json``. They are made in a hidden directory beside the others and moved into place with the ``.db``
last, so that a ``.db`` in sight is whole, whatever interrupted the backup. ``NAME.db.drill`` says that it passed its
restore drill, and when.
Bad content raises SnapshotError, what the system refuses raises OSError.
"""

from __future__ import annotations

import calendar
import contextlib
import fcntl
import itertools
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import sync_path

METADATA = ".json"
CHECKSUM = ".sha256"
RECORDS = (METADATA, CHECKSUM)
DRILL = ".drill"
_DRILL_PART = ".drill-part"
_BESIDE = (*RECORDS, DRILL, _DRILL_PART)

_HIDDEN = ".headroom-snapshot-"
_LOCK = ".headroom-snapshot.lock"
_STAMP = "%Y%m%dT%H%M%SZ"
DATE = "%Y-%m-%dT%H:%M:%SZ"
_PREFIX = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_FORMAT = 1
_DAY = 86400


class SnapshotError(ValueError):
    """A snapshot that cannot be taken, or one that is not what its records say."""


@dataclass(frozen=True)
class Metadata:
    """What a restore has to know of a snapshot without opening it.

    ``taken_at`` is in seconds since 1970, ``size`` in bytes, ``sha256`` that of the whole file. ``hash``, ``revision``
    and ``total_keys`` are etcdutl's; ``etcd_version`` is that of the member, ``storage_version`` that of the
    database's layout, empty before etcd 3.6. ``encryption`` is ``age`` or ``gpg`` if the file is encrypted:
    ``encrypted_size`` and ``encrypted_sha256`` are of it then, the others of what it decrypts to.
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
        """The size in bytes of the file as it lies there."""
        return self.encrypted_size if self.encryption else self.size

    @property
    def file_sha256(self) -> str:
        """The SHA-256 of the file as it lies there."""
        return self.encrypted_sha256 if self.encryption else self.sha256

    def as_dict(self) -> dict[str, Any]:
        """Return what the file holds."""
        data = {"format": _FORMAT, **asdict(self), "taken_at": time.strftime(DATE, time.gmtime(self.taken_at))}
        return {name: value for name, value in data.items() if value or not name.startswith("encrypt")}


@dataclass(frozen=True)
class Stored:
    """A snapshot as it lies in the directory. ``problem`` says why it does not count as good, else it is empty.

    ``drilled`` is whether it passed its restore drill.
    """

    path: str
    metadata: Metadata | None
    problem: str
    drilled: bool = False


def parse_metadata(text: str, path: str) -> Metadata:
    """Read the record at ``path``. Raises SnapshotError, naming the first entry that is not right."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise SnapshotError(f"{path} holds no JSON: the snapshot cannot be told apart from others") from error
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise SnapshotError(f"{path} is no record of a snapshot (format {_FORMAT})")
    found: dict[str, Any] = {}
    for name, kind, default in ((entry.name, entry.type, entry.default) for entry in fields(Metadata)):
        value = data.get(name, None if default is MISSING else default)
        if name == "taken_at":
            found[name] = _parse_date(value, path)
        elif type(value).__name__ != kind:  # a bool is no int here
            raise SnapshotError(f"{path}: {name} is {value!r}, which is no {kind}")
        else:
            found[name] = value
    return Metadata(**found)


def _parse_date(value: Any, path: str) -> int:
    try:
        return calendar.timegm(time.strptime(value, DATE))
    except (TypeError, ValueError) as error:
        raise SnapshotError(f"{path}: taken_at is {value!r}, which is no date like 2026-11-21T10:15:00Z") from error


def check_prefix(prefix: str) -> None:
    """Raise SnapshotError if the names of snapshots cannot start so."""
    if _PREFIX.fullmatch(prefix) is None:
        raise SnapshotError(f"name is {prefix!r}: write letters, digits, '.', '_' and '-', such as etcd or my-cluster")


def new_path(directory: str, prefix: str, now: float, encryption: str = "") -> str:
    """Return where a snapshot taken now belongs; no file is there yet. ``encryption`` becomes its ending."""
    name = f"{prefix}-{time.strftime(_STAMP, time.gmtime(now))}.db{f'.{encryption}' if encryption else ''}"
    paths = (os.path.join(directory, one) for one in numbered(name))
    return next(path for path in paths if not os.path.lexists(path))


def numbered(name: str) -> Iterator[str]:
    """Return the name of a snapshot, then those of further ones of the same second."""
    yield name
    start, ending = name.split(".db", 1)
    for number in itertools.count(2):
        yield f"{start}-{number}.db{ending}"


def pattern(prefix: str) -> re.Pattern[str]:
    """Return what the names of snapshots of this prefix match."""
    return re.compile(re.escape(prefix) + r"-\d{8}T\d{6}Z(?:-\d+)?\.db(?:\.age|\.gpg)?")


def scan(directory: str, prefix: str) -> list[Stored]:
    """Return the snapshots of this prefix by name. Their content is not read: a changed size is seen, a bit is not."""
    ours = pattern(prefix)
    names = sorted(name for name in os.listdir(directory) if ours.fullmatch(name))
    return [_look(os.path.join(directory, name)) for name in names]


def _look(path: str) -> Stored:
    try:
        metadata = read_metadata(path)
        read_checksum(path)
        size = os.stat(path).st_size
    except (SnapshotError, OSError) as error:
        return Stored(path, None, str(error))
    if size != metadata.file_size:
        return Stored(path, metadata, f"it has {size} bytes, when it was taken it had {metadata.file_size}")
    return Stored(path, metadata, "", os.path.isfile(path + DRILL))


def read_metadata(path: str) -> Metadata:
    """Return the record of the snapshot at ``path``. Raises SnapshotError if there is none or it is not readable."""
    return parse_metadata(_read_record(path, METADATA), path + METADATA)


def read_checksum(path: str) -> str:
    """Return the SHA-256 of the whole file that was recorded beside it. Raises SnapshotError."""
    match = re.match(r"([0-9a-f]{64}) [ *](.+)\n", _read_record(path, CHECKSUM))
    if match is None:
        raise SnapshotError(f"{path + CHECKSUM} holds no SHA-256 as sha256sum writes it")
    return match.group(1)


def _read_record(path: str, suffix: str) -> str:
    try:
        with open(path + suffix, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except FileNotFoundError as error:
        raise SnapshotError(f"{path + suffix} is missing: {path} is no finished backup, or was copied alone") from error


def removable(stored: list[Stored], *, cluster_id: str, keep: int, keep_days: int | None, now: float) -> list[str]:
    """Return the paths that retention no longer wants, oldest first, once a new snapshot is saved and verified.

    The new one is not in ``stored`` and is the first of the ``keep``, so the last good one is never in the answer.
    Of the others, those stay that are among the newest ``keep`` or younger than ``keep_days`` (None: no such rule), and
    the newest one that passed its drill, as the newer ones have yet to. What is damaged or of another cluster is neither
    counted nor removed.
    """
    ours = newest_first(stored, cluster_id)
    proven = next((item.path for item in ours if item.drilled), "")
    young = now - keep_days * _DAY if keep_days is not None else float("inf")
    return [
        item.path
        for item in reversed(ours[keep - 1 :])
        if item.metadata and item.metadata.taken_at <= young and item.path != proven
    ]


def newest_first(stored: list[Stored], cluster_id: str) -> list[Stored]:
    """Return the good snapshots of a cluster, the newest first; with an empty id those of all clusters."""
    ours = [
        (item.metadata.taken_at, len(item.path), item.path, item)  # within a second the one with the number is newer
        for item in stored
        if item.metadata and not item.problem and cluster_id in ("", item.metadata.cluster_id)
    ]
    return [item for _taken_at, _length, _path, item in sorted(ours, key=lambda entry: entry[:3], reverse=True)]


def left_alone(stored: list[Stored], cluster_id: str) -> list[dict[str, str]]:
    """Return the snapshots that retention does not touch, each with the reason."""
    found = []
    for item in stored:
        if item.problem:
            found.append({"path": item.path, "reason": item.problem})
        elif item.metadata and item.metadata.cluster_id != cluster_id:
            found.append({"path": item.path, "reason": f"it is of the cluster {item.metadata.cluster_id}"})
    return found


def remove(paths: list[str]) -> tuple[list[str], list[str]]:
    """Remove snapshots, each ``.db`` before its records. Returns those removed, and why others were not."""
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
    for suffix in _BESIDE:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path + suffix)


@contextlib.contextmanager
def locked(directory: str) -> Iterator[None]:
    """Let one backup at a time work in the directory; the kernel lets go when its process ends, however it ends."""
    handle = os.open(os.path.join(directory, _LOCK), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SnapshotError(f"another backup into {directory} is running: wait for it") from error
        yield
    finally:
        os.close(handle)


def remove_leftovers(directory: str, prefix: str) -> None:
    """Remove what killed backups left: hidden directories, and records whose snapshot was never put in place.

    Only while the directory is locked.
    """
    ours = pattern(prefix)
    for name in os.listdir(directory):
        path = os.path.join(directory, name)
        if name.startswith(_HIDDEN):
            shutil.rmtree(path, ignore_errors=True)
            continue
        start, suffix = os.path.splitext(name)
        if suffix in _BESIDE and ours.fullmatch(start) and not os.path.lexists(os.path.join(directory, start)):
            os.unlink(path)


@contextlib.contextmanager
def workplace(directory: str) -> Iterator[str]:
    """Give a hidden directory, on the same filesystem and for this user alone, that is gone afterwards."""
    path = tempfile.mkdtemp(prefix=_HIDDEN, dir=directory)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def records(metadata: Metadata, name: str) -> dict[str, str]:
    """Return what is written beside the snapshot called ``name``, by suffix."""
    return {
        METADATA: json.dumps(metadata.as_dict(), indent=2) + "\n",
        CHECKSUM: f"{metadata.file_sha256}  {name}\n",
    }


def publish(temporary: str, path: str, metadata: Metadata) -> None:
    """Write the records beside the file ``temporary`` and move all three to ``path``, the snapshot itself last.

    The directory is synchronised in between, so that the order holds through a loss of power too.
    """
    for suffix, text in records(metadata, os.path.basename(path)).items():
        _write(temporary + suffix, text)
    directory = os.path.dirname(path)
    for suffix in RECORDS:
        os.rename(temporary + suffix, path + suffix)
    sync_path(directory)
    os.rename(temporary, path)
    sync_path(directory)


def record_drill(path: str, record: dict[str, Any] | None) -> None:
    """Write beside the snapshot at ``path`` what its drill found, at once or not at all; None removes what stood there."""
    temporary = path + _DRILL_PART
    for old in (temporary, *(() if record else (path + DRILL,))):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(old)
    if record:
        _write(temporary, json.dumps({"format": _FORMAT, **record}, indent=2) + "\n")
        os.rename(temporary, path + DRILL)
        sync_path(os.path.dirname(path))


def _write(path: str, text: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
