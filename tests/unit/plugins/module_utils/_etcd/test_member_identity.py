# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The identity in the head of a WAL segment; tests/integration reads it from real etcd."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import member_identity

# Written by etcd 3.7.3: a CRC record, and the metadata record with its padding.
CRC = bytes.fromhex("04000000000000840804100000000000")
IDS = bytes([0x08, *[0xFF] * 9, 0x01, 0x10, 0x96, 0x01])
METADATA = bytes([0x08, 1, 0x10, 0, 0x1A, len(IDS), *IDS])


def frame(record: bytes) -> bytes:
    padding = -len(record) % 8
    size = len(record).to_bytes(7, "little") + bytes([0x80 | padding if padding else 0])
    return size + record + bytes(padding)


def test_the_metadata_behind_the_crc_is_read():
    found = member_identity.parse_identity(CRC + frame(METADATA) + frame(b"\x08\x02"))
    assert found == {"member_id": "ffffffffffffffff", "cluster_id": "96"}


@pytest.mark.parametrize(
    "head", [b"", CRC, bytes(512), CRC + frame(METADATA)[:12], b"\xff" * 40, CRC + frame(b"\x08\x02\x10\x00") * 3]
)
def test_a_segment_without_metadata_has_no_identity(head):
    assert member_identity.parse_identity(head) is None


def test_the_newest_segment_counts(tmp_path):
    (tmp_path / "0000000000000000-0000000000000000.wal").write_bytes(CRC)
    (tmp_path / "0000000000000001-0000000000000010.wal").write_bytes(CRC + frame(METADATA))
    (tmp_path / "1.tmp").write_bytes(b"")
    assert member_identity.read_identity([str(tmp_path / "none"), str(tmp_path)])["cluster_id"] == "96"
    assert member_identity.read_identity([str(tmp_path / "none")]) is None
