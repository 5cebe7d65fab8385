# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The switch of authentication in a database built by hand. Databases of real etcd: tests/integration."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import auth_flag

PAGE = 4096


def leaf(items: list[tuple[int, bytes, bytes]], number: int = 0) -> bytes:
    """Return a leaf page, without padding."""
    header, heads, data = struct.pack("<QHHI", number, 2, len(items), 0), b"", b""
    for place, (flags, key, value) in enumerate(items):
        heads += struct.pack("<IIII", flags, (len(items) - place) * 16 + len(data), len(key), len(value))
        data += key + value
    return header + heads + data


def meta(transaction: int, root: int, valid: bool = True) -> bytes:
    body = struct.pack("<IIIIQQQQQ", 0xED0CDAED, 2, PAGE, 0, root, 0, 9, 9, transaction)
    checksum = auth_flag._fnv(body) if valid else 1
    return struct.pack("<QHHI", 0, 4, 0, 0) + body + struct.pack("<Q", checksum)


def database(path: Path, switch: bytes, newest_valid: bool = True) -> Path:
    """Write a database with two roots: page 3, the newest, has the switch; page 2 has it on."""
    pages = []
    for number, value in ((2, b"\x01"), (3, switch)):
        inline = struct.pack("<QQ", 0, 0) + leaf([(0, b"authEnabled", value), (0, b"authRevision", b"12345678")])
        pages.append(leaf([(1, b"alarm", struct.pack("<QQ", 0, 0) + leaf([])), (1, b"auth", inline)], number))
    whole = [meta(7, 2), meta(8, 3, newest_valid), *pages]
    path.write_bytes(b"".join(page.ljust(PAGE, b"\0") for page in whole))
    return path


def test_it_is_switched_off_once(tmp_path: Path) -> None:
    path = database(tmp_path / "db", b"\x01")
    before = path.read_bytes()
    assert auth_flag.disable_authentication(str(path)) is True
    assert [a for a, b in zip(before, path.read_bytes(), strict=True) if a != b] == [1], "one byte changed"
    assert auth_flag.disable_authentication(str(path)) is False


def test_it_is_off(tmp_path: Path) -> None:
    path = database(tmp_path / "db", b"\x00")
    before = path.read_bytes()
    assert auth_flag.disable_authentication(str(path)) is False
    assert path.read_bytes() == before


def test_a_meta_page_that_is_torn_does_not_count(tmp_path: Path) -> None:
    assert auth_flag.disable_authentication(str(database(tmp_path / "db", b"\x00", newest_valid=False))) is True


@pytest.mark.parametrize("data", [b"", b"x", b"\xff" * 9000, bytes(9000)], ids=["empty", "byte", "ones", "zeros"])
def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "db").write_bytes(data)
    assert auth_flag.disable_authentication(str(tmp_path / "db")) is False
    assert (tmp_path / "db").read_bytes() == data


def test_every_torn_database_is_survived(tmp_path: Path) -> None:
    whole = database(tmp_path / "db", b"\x01").read_bytes()
    for size in range(0, len(whole), 97):
        (tmp_path / "torn").write_bytes(whole[:size])
        auth_flag.disable_authentication(str(tmp_path / "torn"))
