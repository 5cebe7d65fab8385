# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse, compare and format the permissions of a role.

etcd stores a permission as a range of keys, as bytes. Pure.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.key_ranges import prefix_end

# etcd's numbers for the type of a permission; it omits 0 in JSON.
ACCESS = ("read", "write", "readwrite")
# The end of a range without an end, and the start of a range with every key.
OPEN = b"\0"


@dataclass(frozen=True)
class KeyRange:
    """The keys from ``start`` up to, but not including, ``end``. An empty end means the one key, OPEN every key from the start."""

    start: bytes
    end: bytes = b""

    def __str__(self) -> str:
        """Name the range as the options of etcd_role do."""
        if self == EVERYTHING:
            return "every key"
        if not self.end:
            return f"the key {_text(self.start)}"
        if self.end == (prefix_end(self.start) or OPEN):
            return f"the prefix {_text(self.start)}"
        if self.end == OPEN:
            return f"the keys from {_text(self.start)}"
        return f"the range {_text(self.start)} to {_text(self.end)}"

    def as_option(self) -> dict[str, str]:
        """Return the range as an item of the option ``permissions``."""
        if self == EVERYTHING:
            return {"prefix": ""}
        if not self.end:
            return {"key": _text(self.start)}
        if self.end == (prefix_end(self.start) or OPEN):
            return {"prefix": _text(self.start)}
        if self.end == OPEN:
            return {"from_key": _text(self.start)}
        return {"key": _text(self.start), "range_end": _text(self.end)}


EVERYTHING = KeyRange(OPEN, OPEN)

# What a role permits: the access to each range.
Permissions = Mapping[KeyRange, str]


def parse_permissions(items: Iterable[Mapping[str, Any]]) -> dict[KeyRange, str]:
    """Parse the option ``permissions``. Raises ValueError for the first invalid item, or for two that contradict each other."""
    found: dict[KeyRange, str] = {}
    for number, item in enumerate(items, 1):
        try:
            keys = _parse_range({name: value for name, value in item.items() if value is not None})
        except ValueError as error:
            raise ValueError(f"permissions, item {number}: {error}") from error
        if found.setdefault(keys, item["access"]) != item["access"]:
            raise ValueError(
                f"permissions, item {number}: {keys} has the access {found[keys]} and {item['access']}; keep one of them"
            )
    return found


def _parse_range(item: Mapping[str, Any]) -> KeyRange:
    """Return the range of one item, whose options that are not set are left out. Raises ValueError."""
    given = [name for name in ("key", "prefix", "from_key") if name in item]
    if len(given) != 1:
        raise ValueError(f"{' and '.join(given) or 'no range'} set; set one of key, prefix and from_key")
    for name in (*given, "range_end"):
        if "\0" in item.get(name, ""):
            raise ValueError(
                f"{name} is {item[name]!r}: a key with a NUL byte cannot be passed to etcdctl; use from_key"
            )
    start = item[given[0]].encode("utf-8", "surrogateescape")
    if "range_end" in item:
        return _parse_bounded(given[0], start, item["range_end"])
    if "prefix" in item:
        return KeyRange(start, prefix_end(start) or OPEN) if start else EVERYTHING
    if not start:
        raise ValueError(f"{given[0]} is empty, but etcd has no empty key; for every key write prefix: ''")
    return KeyRange(start, OPEN if "from_key" in item else b"")


def _parse_bounded(name: str, start: bytes, text: str) -> KeyRange:
    end = text.encode("utf-8", "surrogateescape")
    if name != "key":
        raise ValueError(f"range_end and {name} are both set: use range_end only with key")
    if not start:
        raise ValueError("key is empty, but etcd has no empty key; write the first key of the range")
    if not end:
        raise ValueError("range_end is empty; for every key from here on write from_key instead of key")
    if end <= start:
        raise ValueError(
            f"range_end {text!r} is not after key {_text(start)!r} in byte order; swap them, or correct one"
        )
    return KeyRange(start, end)


def parse_role(text: str) -> dict[KeyRange, str]:
    """Parse ``etcdctl role get -w json``. Raises ValueError."""
    try:
        return {
            KeyRange(
                base64.b64decode(item.get("key", ""), validate=True) or OPEN,
                base64.b64decode(item.get("range_end", ""), validate=True),
            ): ACCESS[int(item.get("permType", 0))]
            for item in json.loads(text).get("perm") or []
        }
    except (ValueError, TypeError, AttributeError, IndexError, binascii.Error) as error:
        raise ValueError(f"etcdctl printed {text[:80]!r}, which is not a role") from error


@dataclass(frozen=True)
class RoleChanges:
    """The ranges to grant with their access, and the ranges to revoke."""

    grant: Permissions
    revoke: Sequence[KeyRange]


def role_changes(current: Permissions, wanted: Permissions, *, purge: bool) -> RoleChanges:
    """Return the changes from the permissions ``current`` to ``wanted``; with ``purge`` all others are revoked."""
    return RoleChanges(
        grant={keys: access for keys, access in wanted.items() if current.get(keys) != access},
        revoke=[keys for keys in current if keys not in wanted] if purge else [],
    )


def after(current: Permissions, changes: RoleChanges) -> dict[KeyRange, str]:
    """Return the permissions after the changes."""
    kept = {keys: access for keys, access in current.items() if keys not in changes.revoke}
    return {**kept, **changes.grant}


def as_options(permissions: Permissions) -> list[dict[str, str]]:
    """Return permissions as the option ``permissions`` has them, in the order of the keys."""
    ordered = sorted(permissions, key=lambda keys: (keys.start, keys.end))
    return [{**keys.as_option(), "access": permissions[keys]} for keys in ordered]


def _text(key: bytes) -> str:
    return key.decode("utf-8", "backslashreplace")
