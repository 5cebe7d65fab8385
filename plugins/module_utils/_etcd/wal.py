# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the records of a member's write-ahead log, and the protobuf messages in them. Private to the collection.

Source: server/storage/wal/{encoder,decoder,wal}.go and walpb/record.proto, 3.5 to 3.7.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator
from typing import BinaryIO

from ansible_collections.etcdops.headroom.plugins.module_utils._base import protobuf

# SegmentSizeBytes. etcd allocates one segment ahead of need.
SEGMENT_BYTES = 64_000_000
# What a new log takes: the current segment, and the one ahead.
NEW_LOG_BYTES = 2 * SEGMENT_BYTES
# etcd keeps five segments (max-wals), the current one, and one allocated ahead.
KEPT_SEGMENTS = 7
METADATA, ENTRY, SNAPSHOT = 1, 2, 5  # types of records
# The length of a record in the lower 56 bits; the highest byte is 0x80 plus the number of bytes that pad it.
_FRAME = struct.Struct("<Q")
# The fields before an entry's data and the beginning of the data; a metadata record is shorter.
_PREFIX = 96
# The number of a segment and the index of its first entry.
_SEGMENT = re.compile(r"[0-9a-f]{16}-([0-9a-f]{16})\.wal")
# Files are preallocated, so zeros follow the last record; no record is larger.
_MAX_RECORD = 1 << 32


def wal_bytes(snapshot_count: int, entry_bytes: int) -> int:
    """Return the maximum size of the write-ahead log in bytes: the kept segments, or all since the last snapshot and two."""
    since = -(-snapshot_count * entry_bytes // SEGMENT_BYTES) + 2
    return max(KEPT_SEGMENTS, since) * SEGMENT_BYTES


def read_records(log: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the type of each record in one file and the beginning of its data, up to the end of the file or a torn record."""
    while True:
        frame = log.read(_FRAME.size)
        if len(frame) < _FRAME.size:
            return
        (field,) = _FRAME.unpack(frame)
        length = field & ((1 << 56) - 1)
        padding = (field >> 56) & 0x7 if field >> 63 else 0
        if not 0 < length < _MAX_RECORD:
            return
        start = log.read(min(length, _PREFIX))
        if len(start) < min(length, _PREFIX):
            return
        log.seek(length - len(start) + padding, 1)
        record = parse_fields(start)
        yield number_field(record, 1), bytes_field(record, 3)


def last_index(folder: str) -> int:
    """Return the raft index of the last entry or snapshot that a log records, 0 without a log. Raises OSError."""
    names = sorted(name for name in os.listdir(folder) if _SEGMENT.fullmatch(name))
    if not names:
        return 0
    last = max(0, int(names[-1][17:33], 16) - 1)
    with open(os.path.join(folder, names[-1]), "rb") as log:
        for kind, data in read_records(log):
            if kind in (ENTRY, SNAPSHOT):
                # raftpb.Entry: type 1, term 2, index 3. walpb.Snapshot: index 1.
                last = max(last, number_field(parse_fields(data, 3), 3 if kind == ENTRY else 1))
    return last


def parse_fields(data: bytes, last: int = 0) -> dict[int, int | bytes]:
    """Return the fields at the beginning of a protobuf message of varints and byte strings.

    The last field is cut where the data ends. last: the number of the last field that is needed, 0 for all.
    """
    found: dict[int, int | bytes] = {}
    try:
        for number, value, end in protobuf.fields(data, whole=False):
            found[number] = value if end < 0 else data[value:end]
            if last and number >= last:
                break
    except ValueError:  # the data ends within a number, or it is not a message from there on
        pass
    return found


def number_field(fields: dict[int, int | bytes], number: int) -> int:
    """Return a field that is a number, 0 without it."""
    value = fields.get(number, 0)
    return value if isinstance(value, int) else 0


def bytes_field(fields: dict[int, int | bytes], number: int) -> bytes:
    """Return a field that is a byte string, empty without it."""
    value = fields.get(number, b"")
    return value if isinstance(value, bytes) else b""
