# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Users: the options, the roles to change, and the result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._auth import users
from ansible_collections.etcdops.headroom.plugins.module_utils._auth.access_control import password_problem

OPTIONS: dict[str, Any] = {
    "name": "shop",
    "state": "present",
    "password": None,
    "password_file": None,
    "no_password": False,
    "update_password": "always",
    "roles": ["shop"],
    "purge_roles": False,
}


def test_parse_user(tmp_path: Path) -> None:
    assert users.parse_user(OPTIONS).password == ""
    assert users.parse_user({**OPTIONS, "no_password": True}).password is None
    found = users.parse_user({**OPTIONS, "password": "Secret"})
    assert found.password == "Secret" and "Secret" not in repr(found) and found.update_password
    (tmp_path / "file").write_text("Secret\r\nmore\n")
    assert users.parse_user({**OPTIONS, "password_file": str(tmp_path / "file")}).password == "Secret"
    # A password that is not needed is not judged.
    assert users.parse_user({**OPTIONS, "state": "absent", "password": "a b"}).name == "shop"


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"name": ""}, "name is empty"),
        ({"password": "x", "no_password": True}, "the user shop has a password and no_password; set one"),
        ({"password": ""}, "the password of the user shop is empty"),
        ({"password": "Secret word"}, "the user shop has a space or a control character"),
        ({"password": "Secret\x07"}, "a space or a control character"),
        ({"password": "Secret" + "ä" * 40}, "has 86 bytes, but bcrypt uses 72 at most"),
        ({"name": "a:b", "password": "Secret"}, "the user a:b has a colon in its name"),
        ({"password_file": "/does/not/exist"}, "password_file /does/not/exist cannot be read: No such file"),
    ],
)
def test_invalid_options(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(users.UserError) as raised:
        users.parse_user({**OPTIONS, **options})
    assert problem in str(raised.value) and "Secret" not in str(raised.value)


def test_a_password_of_the_longest_kind() -> None:
    assert password_problem("shop", "x" * 72) == ""


def test_role_changes() -> None:
    assert users.role_changes(["a", "b"], ["b", "c", "c"], purge=False) == (["c"], [])
    assert users.role_changes(["a", "b"], ["b", "c"], purge=True) == (["c"], ["a"])


def test_results() -> None:
    created = users.Outcome("shop", None, ["b", "a"]).as_result()
    assert created["changed"] and created["diff"] == {"before": {}, "after": {"name": "shop", "roles": ["a", "b"]}}
    same = users.Outcome("shop", ["a", "b"], ["b", "a"])
    assert same.as_result()["changed"] is False
    password = users.Outcome("shop", ["a"], ["a"], password_changed=True).as_result()
    assert password["changed"] and password["password_changed"]
    assert password["diff"]["after"]["password"] == "(not shown, changed)"
    assert users.Outcome("shop", None, None).as_result()["changed"] is False
