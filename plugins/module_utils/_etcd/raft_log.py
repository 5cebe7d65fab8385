# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find entries of the v2 API in a member's write-ahead log that its next start would replay.

etcd 3.5 writes such entries for its own use (a member's client URLs, the cluster's version) until the cluster is at 3.6. etcd 3.7 panics on
them when it replays them ("unmarshal should never fail"), unless a disk snapshot of raft's state is newer. Seen with 3.5.35, 3.6.16 and 3.7.3.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

# A record: its length in the lower 56 bits, padding in the upper ones. Source: server/storage/wal/decoder.go.
_FRAME = struct.Struct("<Q")
_ENTRY, _NORMAL = 2, 0
# Enough for the fields before an entry's data and for the beginning of the data.
_PREFIX = 96
# Where the first file of a write-ahead log ends is preallocated; no record is larger.
_LARGEST = 1 << 32


def count_v2_entries(data_dir: Path, wal_dir: Path | None) -> int:
    """Return how many entries of the v2 API follow the newest disk snapshot. Raises OSError if the log cannot be read."""
    snapshot = newest_snapshot(data_dir / "member" / "snap")
    found = set()
    for path in log_files(wal_dir or data_dir / "member" / "wal", snapshot):
        with path.open("rb") as log:
            for index, data in read_entries(log):
                if index > snapshot and is_v2(data):
                    found.add(index)
    return len(found)


def newest_snapshot(folder: Path) -> int:
    """Return the raft index of the newest disk snapshot, 0 without one."""
    names = (re.fullmatch(r"[0-9a-f]{16}-([0-9a-f]{16})\.snap", path.name) for path in folder.iterdir())
    return max((int(name.group(1), 16) for name in names if name), default=0)


def log_files(folder: Path, index: int) -> list[Path]:
    """Return the files of the log that may have entries after an index, oldest first."""
    paths = sorted(path for path in folder.iterdir() if re.fullmatch(r"[0-9a-f]{16}-[0-9a-f]{16}\.wal", path.name))
    older = [number for number, path in enumerate(paths) if int(path.stem.split("-")[1], 16) <= index]
    return paths[older[-1] :] if older else paths


def read_entries(log: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the index and the beginning of the data of each normal entry in one file, up to its end or a torn record."""
    while True:
        frame = log.read(_FRAME.size)
        if len(frame) < _FRAME.size:
            return
        (field,) = _FRAME.unpack(frame)
        length = field & ((1 << 56) - 1)
        padding = (field >> 56) & 0x7 if field >> 63 else 0
        if not 0 < length < _LARGEST:
            return
        start = log.read(min(length, _PREFIX))
        log.seek(length - len(start) + padding, 1)
        entry = parse_record(start)
        if entry is not None:
            yield entry


def parse_record(start: bytes) -> tuple[int, bytes] | None:
    """Return index and beginning of the data of a record that is a normal entry with data, else None."""
    record = _fields(start)
    if record.get(1) != _ENTRY or not isinstance(record.get(3), bytes):
        return None
    entry = _fields(record[3])  # type: ignore[arg-type]
    index, data = entry.get(3), entry.get(4)
    if entry.get(1, _NORMAL) != _NORMAL or not isinstance(index, int) or not isinstance(data, bytes) or not data:
        return None
    return index, data


def is_v2(data: bytes) -> bool:
    """Say whether an entry's data is a request of the v2 API: its second field is the method; no other request has that field."""
    return isinstance(_fields(data, last=2).get(2), bytes)


def _fields(data: bytes, last: int = 0) -> dict[int, int | bytes]:
    """Return the fields at the beginning of a protobuf message, the last one cut where the data ends."""
    found: dict[int, int | bytes] = {}
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        if tag & 7 == 0:
            value, at = _varint(data, at)
            found[tag >> 3] = value
        elif tag & 7 == 2:
            length, at = _varint(data, at)
            found[tag >> 3] = data[at : at + length]
            at += length
        else:
            break
        if last and tag >> 3 >= last:
            break
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    return value, at
