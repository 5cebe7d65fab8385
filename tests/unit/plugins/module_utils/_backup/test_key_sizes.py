# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many keys one request may list. tests/integration reads the sizes of real databases."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import key_sizes
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.key_sizes import PAGE_BYTES, KeySizes
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import bbolt

MIB = 1 << 20
NAMES = [f"/key/{number:04}".encode() for number in range(1000)]


def entry(name: bytes, size: int) -> bytes:
    """Return the start of a KeyValue: its key. The rest has any bytes."""
    head = b"\x0a" + bytes([len(name)]) + name
    return head + b"\x2a" + b"\x80\x80\x40" + bytes(max(0, size - len(head) - 4))


def test_a_member_that_reads_no_values_lists_many_keys() -> None:
    assert key_sizes.sizes_without_values().page(b"\0") == (2000, None)


@pytest.mark.parametrize("seed", range(20))
def test_no_request_reads_more_than_the_limit(seed: int) -> None:
    """Values of etcd's largest size are neighbours in one part, far apart in another, and missing in a third."""
    random.seed(seed)
    small = 8 << 10
    real = {name: random.randrange(small) for name in NAMES}
    for name in random.choices([NAMES[:50], NAMES[300:900:7], NAMES[-40:]])[0]:
        real[name] = random.randrange(small, 3 * MIB // 2)
    sizes = KeySizes(500, small, {name: size for name, size in real.items() if size > small})
    seen, start = [], b"\0"
    while True:
        limit, end = sizes.page(start)
        page = [name for name in NAMES if name >= start and (end is None or name < end)][:limit]
        assert sum(real[name] for name in page) <= PAGE_BYTES
        seen += page
        if len(page) == limit:
            start = page[-1] + b"\0"
        elif end is None:
            break
        else:
            start = end
    assert seen == NAMES


def test_a_value_that_is_larger_than_the_limit_is_listed_alone() -> None:
    sizes = KeySizes(500, 8192, {b"b": 20 * MIB, b"c": MIB})
    assert sizes.page(b"\0") == (500, b"c")
    assert sizes.page(b"b\0") == (500, None)
    assert sizes.page(b"c\0") == (500, None)


def test_sizes_are_read_from_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More large entries than are remembered raise the limit of a small one."""
    found = [entry(name, 9_000 if number % 2 else 100) for number, name in enumerate(NAMES)]
    found += [entry(NAMES[0], 1_000_000), entry(NAMES[0], 20)]
    items = [bbolt.Item(b"revision", value, 0) for value in found]
    (tmp_path / "db").touch()
    monkeypatch.setattr(bbolt, "newest_meta", lambda _database: None)
    monkeypatch.setattr(bbolt, "items", lambda _database, _meta, bucket: iter(items if bucket == b"key" else []))
    asked: list[bool] = []
    sizes = key_sizes.read_key_sizes(str(tmp_path / "db"), lambda: asked.append(True))
    # One of a million bytes and 354 of 9,000 are half of the limit.
    assert sizes.page(b"\0") == (500, NAMES[709]) and asked
    monkeypatch.setattr(key_sizes, "_MAX_LARGE", 100)
    assert key_sizes.read_key_sizes(str(tmp_path / "db")).page(NAMES[1]) == (500, None)


@pytest.mark.parametrize("content", [b"", b"no database" * 2000])
def test_without_a_readable_database_every_value_may_be_the_largest(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "db").write_bytes(content)
    assert key_sizes.read_key_sizes(str(tmp_path / "db")).page(b"\0") == (5, None)
