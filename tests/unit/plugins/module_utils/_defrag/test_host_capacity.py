# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The disk space and the memory of a member's host."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.decision import MIB
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.host_capacity import (
    parse_gomemlimit,
    parse_mem_available,
)


@pytest.mark.parametrize(
    ("text", "expected"), [("1776287744", 1776287744), ("1800MiB", 1800 * MIB), ("off", None), ("", None)]
)
def test_parse_gomemlimit(text: str, expected: int | None) -> None:
    assert parse_gomemlimit(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("MemTotal: 5 kB\nMemAvailable:     2048 kB\n", 2048 * 1024), ("MemTotal: 5 kB\n", None)]
)
def test_parse_mem_available(text: str, expected: int | None) -> None:
    assert parse_mem_available(text) == expected
