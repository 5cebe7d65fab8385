# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The users in a database built by hand. Snapshots of real etcd: tests/integration."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import snapshot_users


def user(name: bytes, *roles: bytes) -> bytes:
    """Return a user as etcd stores it: name, password, roles and options."""
    parts = [(1, name), (2, b"$2a$10$hash"), *((3, role) for role in roles), (4, b"\x08\x01")]
    return b"".join(bytes([number << 3 | 2, len(value)]) + value for number, value in parts)


USERS = {
    b"headroom": user(b"headroom", b"root"),
    b"root": user(b"root", b"audit", b"root"),
    b"shop": user(b"shop", b"shop"),
}


def database(write_database: Callable[..., Path], switch: bytes = b"\x01") -> str:
    return str(write_database({b"auth": {b"authEnabled": switch}, b"authUsers": USERS}))


@pytest.mark.parametrize(
    ("name", "lack"),
    [
        ("headroom", None),
        ("root", None),
        ("ops", "user ops, as which Headroom would log in by its client certificate, does not exist"),
        ("shop", "user shop, as which Headroom would log in by its client certificate, lacks the role root"),
        ("", "Headroom would present no client certificate with a common name"),
    ],
)
def test_only_users_with_the_role_root_are_accepted(
    write_database: Callable[..., Path], name: str, lack: str | None
) -> None:
    problem = snapshot_users.access_problem(database(write_database), name)
    if lack is None:
        assert problem == ""
    else:
        assert lack in problem and "Users with the role root: headroom, root. Set etcd_tls_client_name" in problem


def test_anyone_is_accepted_while_authentication_is_off(write_database: Callable[..., Path]) -> None:
    assert snapshot_users.access_problem(database(write_database, b"\x00"), "ops") == ""


def test_what_is_no_plain_snapshot_is_left_to_the_restore(write_database: Callable[..., Path], tmp_path: Path) -> None:
    whole = Path(database(write_database)).read_bytes()
    for size in range(0, len(whole), 97):
        (tmp_path / "torn").write_bytes(whole[:size])
        snapshot_users.access_problem(str(tmp_path / "torn"), "headroom")
    (tmp_path / "torn").write_bytes(b"age-encryption.org/v1\n" * 900)
    assert snapshot_users.access_problem(str(tmp_path / "torn"), "ops") == ""
