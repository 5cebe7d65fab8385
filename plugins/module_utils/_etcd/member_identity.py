# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the ids of a member and its cluster from its write-ahead log. Private to the collection.

Each segment begins with a CRC record and a metadata record. Source: server/storage/wal/{encoder,decoder,wal}.go and walpb/record.proto,
3.5 to 3.7.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

HEAD_BYTES = 512  # both records, many times over
_METADATA_TYPE = 1


def read_identity(folders: Iterable[str]) -> dict[str, str] | None:
    """Return ``member_id`` and ``cluster_id`` of the newest segment in the folders, in hexadecimal; None if there is none."""
    segments = [
        os.path.join(folder, name)
        for folder in folders
        if os.path.isdir(folder)
        for name in os.listdir(folder)
        if name.endswith(".wal")
    ]
    if not segments:
        return None
    try:
        with open(max(segments, key=os.path.basename), "rb") as file:
            return parse_identity(file.read(HEAD_BYTES))
    except OSError:
        return None


def parse_identity(head: bytes) -> dict[str, str] | None:
    """Parse the beginning of a segment. None if it holds no metadata, as after an interrupted first start."""
    position = 0
    while position + 8 <= len(head):
        # 56 bits for the record's length; the highest byte is 0x80 plus the number of bytes that pad it.
        length = int.from_bytes(head[position : position + 7], "little")
        padding = head[position + 7] & 0x7 if head[position + 7] & 0x80 else 0
        record = head[position + 8 : position + 8 + length]
        if not length or len(record) < length:
            return None
        fields = _parse_fields(record)
        if fields.get(1) == _METADATA_TYPE:
            ids = _parse_fields(bytes(fields.get(3) or b""))
            return {"member_id": format(int(ids.get(1, 0)), "x"), "cluster_id": format(int(ids.get(2, 0)), "x")}
        position += 8 + length + padding
    return None


def _parse_fields(data: bytes) -> dict[int, int | bytes]:
    """Parse a protobuf message of varints and byte strings; what follows an unknown wire type is left out."""
    fields: dict[int, int | bytes] = {}
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        if key & 7 == 0:
            fields[key >> 3], position = _varint(data, position)
        elif key & 7 == 2:
            length, position = _varint(data, position)
            fields[key >> 3] = data[position : position + length]
            position += length
        else:
            break
    return fields


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while position < len(data):
        byte = data[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if not byte & 0x80:
            break
    return value, position
