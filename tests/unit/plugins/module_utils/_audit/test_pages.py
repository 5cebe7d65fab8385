# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests for pages of keys, and etcdctl's answers."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.pages import (
    CompactedError,
    DeniedError,
    Page,
    ReadError,
    parse_page,
    read_failure,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import ProcessResult


def field(number: int, value: int | bytes) -> bytes:
    """Encode a field of protocol buffers."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def key_value(name: bytes, value: bytes, lease: int = 0) -> bytes:
    parts = field(1, name) + field(2, 7) + field(3, 300) + field(4, 3) + field(5, value)
    return parts + (field(6, lease) if lease else b"")


def answer(*entries: bytes, count: int = 0, more: bool = False) -> bytes:
    """Return what etcdctl prints for a transaction with one read."""
    found = field(1, b"") + b"".join(field(2, entry) for entry in entries)
    found += (field(3, 1) if more else b"") + (field(4, count) if count else b"")
    return field(1, field(3, 9)) + field(2, 1) + field(3, field(1, found))


def test_a_page_has_the_sizes_of_values_and_not_the_values() -> None:
    page = parse_page(answer(key_value(b"a\0b", b"vvvv" * 100, 1 << 62), more=True, count=4))
    assert (page.count, page.more, page.revision, page.bytes) == (4, True, 9, 403)
    (key,) = page.keys
    assert (key.name, key.value_size, key.mod_revision, key.version) == (b"a\0b", 400, 300, 3)
    assert key.lease == 1 << 62 and "vvvv" not in repr(page)


def test_an_empty_page() -> None:
    assert parse_page(answer()) == Page([], 0, False, 9)


SOUND = answer(key_value(b"key", b"secret"), count=1)


@pytest.mark.parametrize(
    "text", [b"", b"null", b'{"header": {}}', SOUND[:-1], SOUND[:-12], field(3, field(1, b"")), answer(b"secret")]
)
def test_another_answer_is_refused_without_repeating_it(text: bytes) -> None:
    with pytest.raises(ReadError, match="not a page of keys") as caught:
        parse_page(text)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("code", "stderr", "kind", "message"),
    [
        (1, "Error: etcdserver: permission denied", DeniedError, "set prefixes"),
        (1, "Error: etcdserver: user name is empty", DeniedError, "set login_user"),
        (1, "Error: etcdserver: mvcc: required revision has been compacted", CompactedError, "run it again"),
        (1, "Error: context deadline exceeded", ReadError, "within 3 s; raise request_timeout"),
        (None, "", ReadError, "within 3 s; raise request_timeout"),
        (1, "Error: something else", ReadError, "no keys: something else"),
    ],
)
def test_failures_have_a_fix(code: int | None, stderr: str, kind: type[ReadError], message: str) -> None:
    error = read_failure(ProcessResult(code, "", stderr), 3.0)
    assert isinstance(error, kind) and message in str(error)
