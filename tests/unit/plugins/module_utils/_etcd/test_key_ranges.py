# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The bounds of ranges of keys."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.key_ranges import next_key, prefix_end, quote_key


@pytest.mark.parametrize(
    ("prefix", "end"),
    [
        (b"/a/", b"/a0"),
        (b"", None),
        (b"\xff\xff", None),
        (b"a\xff", b"b"),
        (b"a\xff\xff", b"b"),
        (b"\0", b"\1"),
    ],
)
def test_prefix_end(prefix: bytes, end: bytes | None) -> None:
    assert prefix_end(prefix) == end


def test_next_key() -> None:
    assert next_key(b"a") == b"a\0"


def test_every_byte_of_a_key_is_escaped() -> None:
    assert quote_key(b'a\0"\xff') == r'"\x61\x00\x22\xff"'
