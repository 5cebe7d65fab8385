# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Entries of the v2 API in a write-ahead log."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._release import v2_entries

# A v2 request: id, method, path. A v3 request: id, then a put in field 4.
V2 = b"\x08\x01" + b"\x12\x03PUT" + b"\x1a\x02/0"
V3 = b"\x08\x01" + b"\x22\x06\x0a\x01k\x12\x01v"


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def record(index: int, data: bytes, *, kind: int = 2, entry_type: int = 0) -> bytes:
    """Frame an entry as etcd does, padded to eight bytes."""
    entry = b"\x08" + varint(entry_type) + b"\x10\x02\x18" + varint(index) + b"\x22" + varint(len(data)) + data
    body = b"\x08" + varint(kind) + b"\x10\x05\x1a" + varint(len(entry)) + entry
    padding = -len(body) % 8
    field = len(body) | ((0x80 | padding) << 56 if padding else 0)
    return struct.pack("<Q", field) + body + bytes(padding)


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    (tmp_path / "member" / "snap").mkdir(parents=True)
    (tmp_path / "member" / "wal").mkdir()
    return tmp_path


def write_log(data_dir: Path, *records: bytes, first: int = 0, number: int = 0) -> None:
    path = data_dir / "member" / "wal" / f"{number:016x}-{first:016x}.wal"
    path.write_bytes(b"".join(records) + bytes(4096))


def test_entries_after_the_newest_snapshot_count(data_dir: Path) -> None:
    write_log(data_dir, record(1, V2), record(2, V3 * 100), record(3, V2), record(4, b""), record(5, V2, entry_type=1))
    assert v2_entries.count_v2_entries(data_dir, None) == 2
    (data_dir / "member" / "snap" / f"{2:016x}-{2:016x}.snap").touch()
    assert v2_entries.count_v2_entries(data_dir, None) == 1
    (data_dir / "member" / "snap" / f"{2:016x}-{3:016x}.snap").touch()
    assert v2_entries.count_v2_entries(data_dir, None) == 0


def test_only_files_that_a_start_reads_are_read(data_dir: Path) -> None:
    write_log(data_dir, record(1, V2))
    write_log(data_dir, record(10, V3), first=10, number=1)
    (data_dir / "member" / "snap" / f"{2:016x}-{9:016x}.snap").touch()
    assert [path.name[:16] for path in v2_entries.log_files(data_dir / "member" / "wal", 9)] == [
        f"{0:016x}",
        f"{1:016x}",
    ]
    assert [path.name[:16] for path in v2_entries.log_files(data_dir / "member" / "wal", 10)] == [f"{1:016x}"]


def test_a_log_of_its_own_directory(data_dir: Path, tmp_path: Path) -> None:
    wal = tmp_path / "elsewhere"
    (data_dir / "member" / "wal").rename(wal)
    (wal / f"{0:016x}-{0:016x}.wal").write_bytes(record(1, V2))
    assert v2_entries.count_v2_entries(data_dir, wal) == 1


@pytest.mark.parametrize("cut", range(1, len(record(1, V2))))
def test_a_torn_record_ends_the_log(cut: int) -> None:
    log = io.BytesIO(record(1, V3) + record(2, V2)[:cut])
    assert [index for index, _data in v2_entries.read_entries(log)][:1] == [1]


def test_records_of_other_kinds_are_skipped() -> None:
    log = io.BytesIO(record(1, V2, kind=3) + record(2, V3) + b"\xff" * 8)
    assert [index for index, _data in v2_entries.read_entries(log)] == [2]


def test_a_missing_log_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="snap"):
        v2_entries.count_v2_entries(tmp_path, None)
