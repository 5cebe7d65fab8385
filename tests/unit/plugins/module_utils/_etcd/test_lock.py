# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The value of the lock's key, and the transaction that writes it."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import lock

HOLDER = lock.Holder("host-1", "m1", "backup")


def answer(value: bytes) -> str:
    pair = {"key": "", "value": base64.b64encode(value).decode(), "mod_revision": 7, "lease": 255}
    return json.dumps({"header": {}, "kvs": [pair]})


def test_parse_lock() -> None:
    value = json.dumps({"host": "host-1", "member": "m1", "operation": "backup", "since": "2026-11-21T12:00:00Z"})
    held = lock.parse_lock(answer(value.encode()))
    assert held == lock.HeldLock(HOLDER, "2026-11-21T12:00:00Z", "ff", 7)
    assert str(held) == "host-1 holds the cluster's lock since 2026-11-21T12:00:00Z for a backup of m1"
    assert lock.parse_lock('{"header":{}}') is None
    with pytest.raises(lock.LockError, match="the value of the key /headroom/lock was not written by Headroom"):
        lock.parse_lock(answer(b"something else"))


def test_lock_transaction() -> None:
    text = lock.lock_transaction(replace(HOLDER, host='a"b'), "ff", 0, 0.0)
    first, _empty, put, _empty2, get, _empty3, _end = text.split("\n")
    assert first == 'mod("/headroom/lock") = "0"'
    value = json.loads(json.loads(put[len('put "/headroom/lock" ') : -len(" --lease=ff")]))
    assert value == {"host": 'a"b', "member": "m1", "operation": "backup", "since": "1970-01-01T00:00:00Z"}
    assert get == 'get "/headroom/lock"'


def test_the_play_is_a_part_of_the_value() -> None:
    text = lock.lock_transaction(replace(HOLDER, play="boot:1:2:3"), "ff", 0, 0.0)
    value = json.loads(json.loads(text.split("\n")[2][len('put "/headroom/lock" ') : -len(" --lease=ff")]))
    assert value["play"] == "boot:1:2:3"
    held = lock.parse_lock(answer(json.dumps(value).encode()))
    assert held is not None and held.holder == replace(HOLDER, play="boot:1:2:3")
