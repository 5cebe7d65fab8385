# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Durations as Go writes them, and times in UTC."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base import durations
from ansible_collections.etcdops.headroom.plugins.module_utils._base.durations import SECOND


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("5m", 300 * SECOND),
        ("1h30m", 5400 * SECOND),
        ("30m0s", 1800 * SECOND),
        ("0.5h", 1800 * SECOND),
        ("1.5s", 3 * SECOND // 2),
        ("500ms", SECOND // 2),
        ("3us7ns", 3007),
        ("2µs", 2000),
        ("1m0.5s", 60_500_000_000),
        ("0s", 0),
    ],
)
def test_parse_duration(text: str, nanoseconds: int) -> None:
    assert durations.parse_duration(text, "x") == nanoseconds
    assert durations.parse_go_duration(text) == nanoseconds


@pytest.mark.parametrize("bad", ["", "5", "0", "5 m", "m", "-1h", "1d", "1h-5m", ".5h", "1.h", None, 5])
def test_parse_duration_refuses(bad: object) -> None:
    with pytest.raises(ValueError, match=r"retention is .* not a valid duration: write for example"):
        durations.parse_duration(bad, "retention")


@pytest.mark.parametrize(
    ("text", "nanoseconds"), [("0", 0), ("+0", 0), (".5s", SECOND // 2), ("1.s", SECOND), ("1μs", 1000)]
)
def test_parse_go_duration_accepts_what_only_go_does(text: str, nanoseconds: int) -> None:
    assert durations.parse_go_duration(text) == nanoseconds


@pytest.mark.parametrize("bad", ["", "5", "h", "1 h", "1h-", "abc1h", "."])
def test_parse_go_duration_refuses(bad: str) -> None:
    with pytest.raises(ValueError, match="is not a valid duration: write for example 30m"):
        durations.parse_go_duration(bad)


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("0s", "0"),
        ("30m0s", "30m"),
        ("1h0m0s", "1h"),
        ("1h30m0s", "1h30m"),
        ("1m30s", "1m30s"),
        ("10s", "10s"),
        ("1h0m1s", "1h1s"),
        ("20m0s", "20m"),
        ("100ms", "100ms"),
    ],
)
def test_shorten_duration_keeps_the_value(text: str, short: str) -> None:
    assert durations.shorten_duration(text) == short
    assert durations.parse_go_duration(short) == durations.parse_go_duration(text)


def test_format_utc() -> None:
    assert durations.format_utc(1795264800) == "2026-11-21T12:40:00Z"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1month 2d 3h 4min 5.000006s", 2629800 + 2 * 86400 + 3 * 3600 + 4 * 60 + 5.000006),
        ("1y 1w", 31557600 + 604800),
        ("12.500ms", 0.0125),
        ("7us", 7e-6),
        ("0", 0),
        ("infinity", 0),
        ("abc 1h", 3600),
        ("", 0),
    ],
)
def test_parse_systemd_span(text: str, seconds: float) -> None:
    assert durations.parse_systemd_span(text) == pytest.approx(seconds, abs=1e-9)
