# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields of protocol buffers. The examples are those of protobuf.dev/programming-guides/encoding."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.protobuf import fields


def test_numbers_and_bytes() -> None:
    assert list(fields(b"\x08\x96\x01")) == [(1, 150, -1)]
    data = b"\x12\x07testing\x08\x05"
    ((number, start, end), last) = fields(data)
    assert (number, data[start:end], last) == (2, b"testing", (1, 5, -1))
    assert list(fields(data, end)) == [last] and list(fields(data, 0, 0)) == []


def test_the_largest_number() -> None:
    assert list(fields(b"\x08" + b"\xff" * 9 + b"\x01")) == [(1, (1 << 64) - 1, -1)]


@pytest.mark.parametrize(
    "data", [b"\x08", b"\x08\x96", b"\x12\x07test", b"\x0d\x00\x00\x00\x00", b"\x08" + b"\xff" * 11]
)
def test_what_is_not_a_message_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="at byte"):
        list(fields(data))


def test_the_last_bytes_of_a_cut_message_end_where_it_is_cut() -> None:
    assert list(fields(b"\x08\x05\x12\x07test", whole=False)) == [(1, 5, -1), (2, 4, 8)]
    with pytest.raises(ValueError, match="at byte 3"):
        list(fields(b"\x08\x05\x08\x96", whole=False))
