# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The switch of authentication in a database built by hand. Databases of real etcd: tests/integration."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import auth_flag

AUTH = b"auth"


def switch(value: bytes) -> dict[bytes, bytes]:
    return {b"authEnabled": value, b"authRevision": b"12345678"}


@pytest.mark.parametrize("layout", ["inline", "page"])
def test_it_is_switched_off_once(write_database: Callable[..., Path], layout: str) -> None:
    path = write_database({b"alarm": {}, AUTH: switch(b"\x01")}, layout=layout)
    before = path.read_bytes()
    assert auth_flag.disable_authentication(str(path)) is True
    assert [a for a, b in zip(before, path.read_bytes(), strict=True) if a != b] == [1], "one byte changed"
    assert auth_flag.disable_authentication(str(path)) is False


def test_it_is_off(write_database: Callable[..., Path]) -> None:
    path = write_database({AUTH: switch(b"\x00")}, older={AUTH: switch(b"\x01")})
    before = path.read_bytes()
    assert auth_flag.disable_authentication(str(path)) is False
    assert path.read_bytes() == before


def test_a_meta_page_that_is_torn_does_not_count(write_database: Callable[..., Path]) -> None:
    path = write_database({AUTH: switch(b"\x00")}, older={AUTH: switch(b"\x01")}, newest_valid=False)
    assert auth_flag.disable_authentication(str(path)) is True


@pytest.mark.parametrize("data", [b"", b"x", b"\xff" * 9000, bytes(9000)], ids=["empty", "byte", "ones", "zeros"])
def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "db").write_bytes(data)
    assert auth_flag.disable_authentication(str(tmp_path / "db")) is False
    assert (tmp_path / "db").read_bytes() == data


def test_every_torn_database_is_survived(write_database: Callable[..., Path], tmp_path: Path) -> None:
    whole = write_database({AUTH: switch(b"\x01")}).read_bytes()
    for size in range(0, len(whole), 97):
        (tmp_path / "torn").write_bytes(whole[:size])
        auth_flag.disable_authentication(str(tmp_path / "torn"))
