# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Permissions of a role: parsed, compared, and named."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._auth.permissions import (
    EVERYTHING,
    OPEN,
    KeyRange,
    after,
    as_options,
    parse_permissions,
    parse_role,
    role_changes,
)

SHOP = KeyRange(b"/shop/", b"/shop0")


@pytest.mark.parametrize(
    ("item", "keys", "name"),
    [
        ({"key": "a"}, KeyRange(b"a"), "the key a"),
        ({"key": "a", "range_end": "c"}, KeyRange(b"a", b"c"), "the range a to c"),
        ({"prefix": "/shop/"}, SHOP, "the prefix /shop/"),
        ({"key": "/shop/", "range_end": "/shop0"}, SHOP, "the prefix /shop/"),
        ({"from_key": "z"}, KeyRange(b"z", OPEN), "the keys from z"),
        ({"prefix": ""}, EVERYTHING, "every key"),
        ({"prefix": "ä"}, KeyRange(b"\xc3\xa4", b"\xc3\xa5"), "the prefix ä"),
        ({"key": "a", "prefix": None, "range_end": None}, KeyRange(b"a"), "the key a"),
    ],
)
def test_ranges(item: dict[str, Any], keys: KeyRange, name: str) -> None:
    assert parse_permissions([{"access": "read", **item}]) == {keys: "read"}
    assert str(keys) == name
    (option,) = as_options({keys: "read"})
    assert parse_permissions([option]) == {keys: "read"}


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        ({}, "no range set; set one of key, prefix and from_key"),
        ({"key": "a", "prefix": "b"}, "key and prefix set; set one"),
        ({"range_end": "b"}, "no range set"),
        ({"prefix": "a", "range_end": "b"}, "range_end and prefix are both set: use range_end only with key"),
        ({"key": ""}, "key is empty, but etcd has no empty key; for every key write prefix: ''"),
        ({"from_key": ""}, "from_key is empty"),
        ({"key": "", "range_end": "b"}, "key is empty, but etcd has no empty key; write the first key of the range"),
        ({"key": "a", "range_end": ""}, "range_end is empty; for every key from here on write from_key"),
        ({"key": "b", "range_end": "a"}, "range_end 'a' is not after key 'b' in byte order; swap them, or correct one"),
        ({"key": "b", "range_end": "b"}, "range_end 'b' is not after key 'b'"),
        ({"key": "a\0"}, "a key with a NUL byte cannot be passed to etcdctl; use from_key"),
    ],
)
def test_invalid_ranges(item: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError) as raised:
        parse_permissions([{"access": "read", "key": "ok"}, {"access": "read", **item}])
    assert str(raised.value).startswith("permissions, item 2: ") and problem in str(raised.value)


def test_one_range_with_two_accesses() -> None:
    twice = [{"access": "read", "prefix": "/shop/"}, {"access": "write", "key": "/shop/", "range_end": "/shop0"}]
    with pytest.raises(ValueError, match="item 2: the prefix /shop/ has the access read and write; keep one of them"):
        parse_permissions(twice)
    assert parse_permissions([twice[0], twice[0]]) == {SHOP: "read"}


def test_parse_role() -> None:
    def text(data: bytes) -> str:
        return base64.b64encode(data).decode()

    # 3.7 gives role root every key, with an empty key that JSON omits.
    answer = {
        "perm": [{"permType": 2, "range_end": text(OPEN)}, {"key": text(b"a")}, {"permType": 1, "key": text(b"b")}]
    }
    assert parse_role(json.dumps(answer)) == {EVERYTHING: "readwrite", KeyRange(b"a"): "read", KeyRange(b"b"): "write"}
    assert parse_role('{"header": {}}') == {}
    for invalid in ("[]", "{", '{"perm": [{"permType": 7}]}', '{"perm": [{"key": "?"}]}', '{"perm": 1}'):
        with pytest.raises(ValueError, match="which is not a role"):
            parse_role(invalid)


def test_a_key_that_is_not_text() -> None:
    assert str(KeyRange(b"\xff\xfe")) == "the key \\xff\\xfe"


def test_role_changes() -> None:
    current = {SHOP: "read", KeyRange(b"a"): "write", KeyRange(b"b"): "read"}
    wanted = {SHOP: "readwrite", KeyRange(b"b"): "read", KeyRange(b"c"): "read"}
    changes = role_changes(current, wanted, purge=False)
    assert changes.grant == {SHOP: "readwrite", KeyRange(b"c"): "read"} and changes.revoke == []
    assert after(current, changes) == {**current, **wanted}
    purged = role_changes(current, wanted, purge=True)
    assert purged.revoke == [KeyRange(b"a")] and after(current, purged) == wanted
    assert role_changes(wanted, wanted, purge=True).grant == {}
