# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests for pages of keys, and etcdctl's answers."""

from __future__ import annotations

import json

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.pages import (
    CompactedError,
    DeniedError,
    Page,
    ReadError,
    decoded_length,
    end_of_prefix,
    parse_page,
    quote,
    read_failure,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import ProcessResult


def answer(*entries: dict[str, object], **more: object) -> str:
    """Return what etcdctl prints for a transaction with one read."""
    found = {"kvs": list(entries), **more}
    return json.dumps({"header": {"revision": 9}, "responses": [{"Response": {"response_range": found}}]})


def test_a_page_has_the_sizes_of_values_and_not_the_values() -> None:
    entry = {"key": "YQBi", "value": "dnZ2dg==", "mod_revision": 8, "version": 3, "lease": 5}
    page = parse_page(answer(entry, more=True, count=4))
    assert (page.count, page.more, page.revision, page.bytes) == (4, True, 9, 7)
    (key,) = page.keys
    assert (key.name, key.value_size, key.version, key.lease) == (b"a\0b", 4, 3, 5)
    assert "dnZ2dg" not in repr(page)


def test_an_empty_page() -> None:
    assert parse_page(answer()) == Page([], 0, False, 9)


@pytest.mark.parametrize(
    "text", ["", "null", "[]", '{"header": {}}', answer({"key": "secret"}), answer({"value": "c2VjcmV0"})]
)
def test_another_answer_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(ReadError, match="not a page of keys") as caught:
        parse_page(text)
    assert "c2VjcmV0" not in str(caught.value)


@pytest.mark.parametrize(("text", "length"), [("", 0), ("dg==", 1), ("dnY=", 2), ("dnZ2", 3), ("dnZ2dg==", 4)])
def test_length_of_base64(text: str, length: int) -> None:
    assert decoded_length(text) == length


def test_every_byte_of_a_key_is_escaped() -> None:
    assert quote(b'a\0"\xff') == r'"\x61\x00\x22\xff"'


@pytest.mark.parametrize(
    ("prefix", "end"), [(b"/a/", b"/a0"), (b"", None), (b"\xff\xff", None), (b"a\xff", b"b"), (b"\0", b"\1")]
)
def test_end_of_a_prefix(prefix: bytes, end: bytes | None) -> None:
    assert end_of_prefix(prefix) == end


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
