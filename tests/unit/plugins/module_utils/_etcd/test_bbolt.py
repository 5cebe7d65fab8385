# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Databases built by hand. Databases of real etcd: tests/integration."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import bbolt

MEMBERS = {b"a1": b"one", b"b2": b"two"}
PAGE_SIZE = 4096


def read(path: Path, bucket: bytes = b"members") -> dict[bytes, bytes]:
    with path.open("rb", buffering=0) as database:
        return {item.key: item.value for item in bbolt.items(database, bbolt.newest_meta(database), bucket)}


@pytest.mark.parametrize("layout", ["inline", "page", "branch"])
def test_items_of_a_bucket(write_database: Callable[..., Path], layout: str) -> None:
    path = write_database({b"auth": {}, b"members": MEMBERS}, layout=layout)
    assert read(path) == MEMBERS
    assert read(path, b"auth") == read(path, b"absent") == {}


@pytest.mark.parametrize("layout", ["inline", "page", "branch"])
def test_positions_are_those_in_the_file(write_database: Callable[..., Path], layout: str) -> None:
    path = write_database({b"members": MEMBERS}, layout=layout)
    with path.open("rb", buffering=0) as database:
        found = list(bbolt.items(database, bbolt.newest_meta(database), b"members"))
    content = path.read_bytes()
    assert [content[item.position : item.position + 3] for item in found] == [b"one", b"two"]


def test_a_meta_page_that_is_torn_does_not_count(write_database: Callable[..., Path]) -> None:
    path = write_database({}, older={b"members": MEMBERS}, newest_valid=False)
    assert read(path) == MEMBERS


def test_a_value_of_several_pages(write_database: Callable[..., Path]) -> None:
    path = write_database({b"members": {}}, layout="page")
    large = b"x" * 6000
    with path.open("r+b") as database:
        database.seek(4 * PAGE_SIZE)
        database.write(struct.pack("<QHHI", 4, 2, 1, 1) + struct.pack("<IIII", 0, 16, 2, len(large)) + b"a1" + large)
        database.truncate(6 * PAGE_SIZE)
    assert read(path) == {b"a1": large}


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        (struct.pack("<QHHI", 4, 1, 1, 0) + struct.pack("<IIQ", 16, 0, 4), "below more than 64 others"),
        (struct.pack("<QHHI", 4, 8, 1, 0), "unknown kind 8"),
        (struct.pack("<QHHI", 4, 2, 1, 5000), "has 5000 more"),
        (struct.pack("<QHHI", 4, 2, 1000, 0), "shorter than its pages"),
        (struct.pack("<QHHI", 4, 1, 1, 0) + struct.pack("<IIQ", 16, 0, 99), "shorter than its pages"),
    ],
)
def test_malformed_pages_are_refused(write_database: Callable[..., Path], page: bytes, problem: str) -> None:
    path = write_database({b"members": MEMBERS}, layout="page")
    with path.open("r+b") as database:
        database.seek(4 * PAGE_SIZE)
        database.write(page)
    with pytest.raises(bbolt.FormatError, match=problem):
        read(path)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "shorter"),
        (b"x", "shorter"),
        (bytes(2 * PAGE_SIZE), "not a database of etcd"),
        (b"\xff" * 9000, "shorter"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "db").write_bytes(content)
    with pytest.raises(bbolt.FormatError, match=problem):
        read(tmp_path / "db")


def test_every_torn_database_is_survived(write_database: Callable[..., Path]) -> None:
    path = write_database({b"members": MEMBERS}, layout="branch")
    whole = path.read_bytes()
    for size in range(0, len(whole), 97):
        path.write_bytes(whole[:size])
        with pytest.raises(bbolt.FormatError, match="shorter"):
            read(path)
