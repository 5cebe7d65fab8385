# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Databases of bbolt, built by hand, and the settings of Hypothesis."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import bbolt
from hypothesis import HealthCheck, settings

# On a busy machine, any example may take long.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")

PAGE_SIZE = 4096
Buckets = Mapping[bytes, Mapping[bytes, bytes]]


def leaf(number: int, items: Mapping[bytes, bytes]) -> bytes:
    """Return a leaf page, without padding."""
    heads, bodies = b"", b""
    for place, (key, value) in enumerate(sorted(items.items())):
        heads += struct.pack("<IIII", 0, 16 * (len(items) - place) + len(bodies), len(key), len(value))
        bodies += key + value
    return struct.pack("<QHHI", number, 2, len(items), 0) + heads + bodies


def branch(number: int, child: int) -> bytes:
    """Return a branch page with one page below it, without padding."""
    return struct.pack("<QHHI", number, 1, 1, 0) + struct.pack("<IIQ", 16, 0, child)


def meta(transaction: int, root: int, *, valid: bool = True) -> bytes:
    """Return a meta page, without padding."""
    body = struct.pack("<IIIIQQQQQ", 0xED0CDAED, 2, PAGE_SIZE, 0, root, 0, 9, 9, transaction)
    checksum = bbolt.checksum(body) if valid else 1
    return struct.pack("<QHHI", 0, 4, 0, 0) + body + struct.pack("<Q", checksum)


def inline(buckets: Buckets) -> dict[bytes, bytes]:
    """Return the items of a root page that contains the buckets."""
    return {name: struct.pack("<QQ", 0, 0) + leaf(0, items) for name, items in buckets.items()}


@pytest.fixture
def write_database(tmp_path: Path) -> Callable[..., Path]:
    """A function that writes a database with these buckets and returns its path.

    layout: whether buckets are inline, have a page each, or a branch page above it. older: the buckets that the older meta page
    leads to. newest_valid: whether the checksum of the newest meta page is right.
    """

    def write(
        buckets: Buckets, *, layout: str = "inline", older: Buckets | None = None, newest_valid: bool = True
    ) -> Path:
        pages = [meta(7, 2), meta(8, 3, valid=newest_valid), leaf(2, inline(older or {})), leaf(3, inline(buckets))]
        if layout != "inline":
            root = {}
            for name, items in buckets.items():
                pages.append(leaf(len(pages), items))
                if layout == "branch":
                    pages.append(branch(len(pages), len(pages) - 1))
                root[name] = struct.pack("<QQ", len(pages) - 1, 0)
            pages[3] = leaf(3, root)
        path = tmp_path / "db"
        path.write_bytes(b"".join(page.ljust(PAGE_SIZE, b"\0") for page in pages))
        return path

    return write
