# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compute the bounds of ranges of keys. Pure."""

from __future__ import annotations


def next_key(key: bytes) -> bytes:
    """Return the key that directly follows another key."""
    return key + b"\0"


def prefix_end(prefix: bytes) -> bytes | None:
    """Return the first key after all keys with a prefix, None if there is none.

    Source: getPrefix in client/v3/op.go.
    """
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else None


def quote_key(key: bytes) -> str:
    """Return a key as etcdctl's transactions take it: a Go string with every byte escaped."""
    return '"' + "".join(f"\\x{byte:02x}" for byte in key) + '"'
