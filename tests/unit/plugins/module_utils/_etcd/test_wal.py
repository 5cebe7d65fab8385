# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import io
import struct

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import wal


def varint(value):
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*data, value])


def framed(kind, data):
    """Write a record as etcd does: padded to eight bytes, the padding in the highest byte of the length."""
    record = b"\x08" + varint(kind) + b"\x10\x2a" + b"\x1a" + varint(len(data)) + data
    padding = -len(record) % 8
    field = len(record) | ((0x80 | padding) << 56 if padding else 0)
    return struct.pack("<Q", field) + record + bytes(padding)


def test_records_of_any_padding_are_read():
    stored = [(wal.ENTRY, bytes(range(size))) for size in range(20)]
    log = b"".join(framed(*record) for record in stored) + bytes(64)
    assert list(wal.read_records(io.BytesIO(log))) == stored


def test_only_the_beginning_of_a_large_record_is_read():
    (first, second) = wal.read_records(io.BytesIO(framed(wal.ENTRY, b"x" * 4096) + framed(wal.METADATA, b"id")))
    assert (first[0], set(first[1]), len(first[1]) < 96) == (wal.ENTRY, {ord("x")}, True)
    assert second == (wal.METADATA, b"id")


@pytest.mark.parametrize("kept", range(1, len(framed(wal.ENTRY, b"torn"))))
def test_a_torn_record_ends_the_log(kept):
    whole = framed(wal.METADATA, b"id")
    read = list(wal.read_records(io.BytesIO(whole + framed(wal.ENTRY, b"torn")[:kept])))
    assert read[0] == (wal.METADATA, b"id")
    assert read[1:] in ([], [(wal.ENTRY, b"torn")])  # whole if only padding was cut off


def test_fields_end_at_an_unknown_wire_type():
    assert wal.parse_fields(b"\x08\x96\x01\x12\x02ab\x1d1234\x20\x01") == {1: 150, 2: b"ab"}


def test_a_number_that_is_cut_counts_as_absent():
    assert wal.parse_fields(b"\x08\x01\x10\x96") == {1: 1}


def test_fields_after_the_last_that_is_needed_are_not_read():
    assert wal.parse_fields(b"\x08\x01\x12\x01a\x1a\x01b", last=2) == {1: 1, 2: b"a"}


def test_a_field_of_another_type_counts_as_absent():
    fields = wal.parse_fields(b"\x08\x01\x12\x01a")
    assert (wal.number_field(fields, 2), wal.bytes_field(fields, 1)) == (0, b"")


def test_last_index_of_a_log(tmp_path):
    folder = str(tmp_path)
    assert wal.last_index(folder) == 0
    (tmp_path / f"{0:016x}-{0:016x}.wal").write_bytes(framed(wal.ENTRY, b"\x08\x00\x10\x02\x18\x07") + bytes(64))
    assert wal.last_index(folder) == 7
    (tmp_path / f"{1:016x}-{9:016x}.wal").write_bytes(framed(wal.METADATA, b"id"))
    assert wal.last_index(folder) == 8  # a new segment begins with the entry after the last one
    snapshot = framed(wal.SNAPSHOT, b"\x08\xac\x02\x10\x02")
    (tmp_path / f"{1:016x}-{9:016x}.wal").write_bytes(framed(wal.ENTRY, b"\x08\x00\x10\x02\x18\x0b") + snapshot)
    assert wal.last_index(folder) == 300


@pytest.mark.parametrize(
    ("count", "entry", "files"),
    [(0, 0, 7), (1000, 100 * 1024, 7), (10_000, 100 * 1024, 18), (100_000, 1024, 7)],
)
def test_maximum_size_of_the_log(count: int, entry: int, files: int) -> None:
    assert wal.wal_bytes(count, entry) == files * 64_000_000
