# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DER built by hand. Certificates of openssl: tests/unit/plugins/module_utils/_auth/test_common_name.py."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.der import (
    certificate_fields,
    elements,
    first_content,
)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", []),
        (b"\x02\x01\x05\x0c\x02ab", [(0x02, b"\x05"), (0x0C, b"ab")]),
        # A length of 128 bytes or more takes bytes of its own.
        (b"\x04\x82\x01\x00" + b"x" * 256, [(0x04, b"x" * 256)]),
    ],
)
def test_elements(data: bytes, found: list[tuple[int, bytes]]) -> None:
    assert list(elements(data)) == found
    assert first_content(data) == (found[0][1] if found else b"")


@pytest.mark.parametrize("data", [b"\x02", b"\x02\x02\x05", b"\x04\x82\x01"])
def test_data_that_is_cut_off(data: bytes) -> None:
    with pytest.raises((ValueError, IndexError)):
        list(elements(data))


@pytest.mark.parametrize("version", [b"\xa0\x03\x02\x01\x02", b""])
def test_certificate_fields_start_after_the_version(version: bytes) -> None:
    fields = version + b"\x02\x01\x07\x30\x00"
    body = b"\x30" + bytes([len(fields)]) + fields
    assert certificate_fields(b"\x30" + bytes([len(body)]) + body) == [(0x02, b"\x07"), (0x30, b"")]
