# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse and format durations as Go and systemd write them, and times."""

from __future__ import annotations

import calendar
import re
import time
from fractions import Fraction

SECOND = 1_000_000_000
HOUR = 3600 * SECOND
_DATE = "%Y-%m-%dT%H:%M:%SZ"
_NANOSECONDS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": HOUR,
}
_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
# systemd.time(7)
_SPAN = re.compile(r"([0-9.]+)(y|month|w|d|h|min|ms|us|s)(?: |$)")
_SPAN_SECONDS = {
    "y": 31557600,
    "month": 2629800,
    "w": 604800,
    "d": 86400,
    "h": 3600,
    "min": 60,
    "s": 1,
    "ms": 1e-3,
    "us": 1e-6,
}
# The linter, which is written in Rego, accepts exactly these.
_STRICT = re.compile(r"(?:[0-9]{1,9}(?:\.[0-9]{1,9})?(?:ns|us|µs|ms|s|m|h))+")


def parse_duration(value: object, name: str) -> int:
    """Return the nanoseconds of a duration such as "5m", "1h30m" or "500ms".

    name: the variable, for the message. Raises ValueError for anything else, a bare number included.
    """
    if not isinstance(value, str) or _STRICT.fullmatch(value) is None:
        raise ValueError(f"{name} is {value!r}, which is not a valid duration: write for example 30s, 5m or 1h30m")
    return parse_go_duration(value)


def parse_go_duration(text: str) -> int:
    """Return the nanoseconds of any duration without a minus sign that Go's time.ParseDuration accepts ("0", ".5s").

    Raises ValueError.
    """
    if text.strip("+") == "0":
        return 0
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"{text!r} is not a valid duration: write for example 30m, 1h30m or 100ms")
    return sum(int(Fraction(f"0{number}") * _NANOSECONDS[unit]) for number, unit in parts)


def parse_systemd_span(text: str) -> float:
    """Return the seconds of a time span as systemd writes it, such as "1h 2min 3.5s". Other text in it counts as 0."""
    return sum(float(number) * _SPAN_SECONDS[unit] for number, unit in _SPAN.findall(text))


def shorten_duration(text: str) -> str:
    """Drop the zeros that Go prints: "30m0s" becomes "30m", "1h0m0s" becomes "1h", "0s" becomes "0"."""
    if text == "0s":
        return "0"
    return re.sub(r"(?<=[hm])0[ms]", "", re.sub(r"(?<=[hm])0s$", "", text))


def format_utc(seconds: float) -> str:
    """Return a time (seconds since 1970) as UTC in ISO 8601: 2026-11-21T12:40:00Z."""
    return time.strftime(_DATE, time.gmtime(seconds))


def parse_utc(text: str) -> int:
    """Return the seconds since 1970 of a time that ``format_utc`` wrote. Raises ValueError, and TypeError for other types."""
    return calendar.timegm(time.strptime(text, _DATE))
