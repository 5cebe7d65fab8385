# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes and counts."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base import units
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (0, 0),
        (4096, 4096),
        (4096.0, 4096),
        ("4096", 4096),
        ("100KB", 102400),
        ("100K", 102400),
        ("100KiB", 102400),
        ("100kb", 102400),
        (" 100 KB ", 102400),
        ("1.5MB", 1572864),
        ("2GB", 2147483648),
        ("0.5KB", 512),
        ("1.0000001KB", 1024),
        ("1T", 1 << 40),
        ("3B", 3),
    ],
)
def test_parse_size(text: Any, size: int) -> None:
    assert units.parse_size(text, "x") == size


@pytest.mark.parametrize(
    "bad", [-1, "-1", "", "KB", "ten", "1,5MB", "1e3", "01", "5 KBs", True, None, 1.5, -1.0, float("inf"), [], "1 EB"]
)
def test_parse_size_refuses(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"^etcd_workload\.value_size is .*which is not a valid size: .*100KB"):
        units.parse_size(bad, "etcd_workload.value_size")


@pytest.mark.parametrize(("value", "count"), [(5, 5), (5.0, 5), ("5", 5), (" -5 ", -5), ("0", 0)])
def test_parse_count(value: Any, count: int) -> None:
    assert units.parse_count(value, "x") == count


@pytest.mark.parametrize("bad", ["", "1.0", 1.5, float("nan"), True, None, "5k", "²", "007"])
def test_parse_count_refuses(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"^keys is .*not a whole number"):
        units.parse_count(bad, "keys")


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (102494, "100.1 KiB"),
        (1572864, "1.5 MiB"),
        (1048575, "1024.0 KiB"),
        (2**31, "2.0 GiB"),
        (1 << 60, "1024.0 PiB"),
    ],
)
def test_format_size(size: int, text: str) -> None:
    assert units.format_size(size) == text


@given(st.integers(min_value=0, max_value=1 << 50))
def test_format_size_is_near(size: int) -> None:
    """What is printed reads back within half a tenth of its unit."""
    number, unit = units.format_size(size).split(" ")
    assert abs(units.parse_size(f"{number}{unit}", "x") - size) <= size // 20 + 1


@pytest.mark.parametrize(
    ("first", "second", "texts"),
    [
        (1024, 2048, ("1.0 KiB", "2.0 KiB")),
        (1024, 1024, ("1.0 KiB", "1.0 KiB")),
        (102401, 102400, ("102,401 bytes", "102,400 bytes")),
    ],
)
def test_format_sizes_distinctly_shows_the_difference(first: int, second: int, texts: tuple[str, str]) -> None:
    assert units.format_sizes_distinctly(first, second) == texts


def test_format_count() -> None:
    assert units.format_count(1234567) == "1,234,567"


def test_pluralize() -> None:
    assert [units.pluralize(number, "denial") for number in (0, 1, 2)] == ["0 denials", "1 denial", "2 denials"]
