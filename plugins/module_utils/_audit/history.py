# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the load of the past from a Prometheus server that scrapes the members: peaks, which two readings cannot show.

Pure: the caller's function asks the server. The API is that of Prometheus 2 and 3 (querying/api), which Thanos, Mimir and VictoriaMetrics serve too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._audit.access import MeasureError
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.scrape import NAMES
from ansible_collections.etcdops.headroom.plugins.module_utils._base.prometheus import escape_label

# Asks the server: the path of its API and the parameters → the field data of the answer. Raises MeasureError.
PrometheusQuery = Callable[[str, dict[str, str]], Any]
Series = list[tuple[float, float]]

# Prometheus refuses more than 11,000 points in one answer.
_MAX_POINTS = 10_000
# A rate needs several scrapes, and some may be missing.
_SCRAPES = 4
# etcd's raft log in memory reaches at least this many entries before it is trimmed: snapshot-count's default in 3.6 and 3.7.
LOG_ENTRIES = 10_000
_UNITS = {"d": 86400, "h": 3600, "m": 60}
_MIN_SECONDS, _MAX_SECONDS = 60, 90 * 86400
_HIGHEST = ("keys", "watchers", "watch_streams", "open_files")
_RATES = ("puts", "put_bytes", "deletes", "revision")


@dataclass(frozen=True)
class History:
    """Prometheus' figures of the cluster. begin, end, puts_peak_at: seconds since 1970. step: seconds of each point.

    puts: the mean of a second. puts_peak: the highest of a step. put_size: the mean bytes of a put, key included; put_size_peak: that of the
    LOG_ENTRIES puts in a row with the largest mean. revision_writes: the mean puts and deletes of a revision, since a transaction has one revision.
    highest: the largest value of each gauge, by the names of NAMES, and ``revisions``, those since a compaction, and ``all_revisions``, those before
    the first compaction. Figures are None, and gauges are missing, without points.
    """

    begin: float
    end: float
    step: float
    puts: float | None = None
    puts_peak: float | None = None
    puts_peak_at: float | None = None
    put_size: int | None = None
    put_size_peak: int | None = None
    revision_writes: float = 1.0
    highest: dict[str, int] = field(default_factory=dict)


def parse_length(text: str) -> int:
    """Return the seconds of a length such as 7d, 12h or 90m. Raises MeasureError."""
    found = re.fullmatch(r"(\d{1,6})([dhm])", text)
    seconds = int(found.group(1)) * _UNITS[found.group(2)] if found else 0
    if not _MIN_SECONDS <= seconds <= _MAX_SECONDS:
        raise MeasureError(f"history is {text!r}: write a number with d, h or m, from 1m to 90d, for example 7d")
    return seconds


def read_history(ask: PrometheusQuery, member_ids: Iterable[str], seconds: int, now: float) -> History:
    """Return the history of a cluster. member_ids: in hexadecimal digits, as etcd's metric etcd_server_id. Raises MeasureError."""
    matchers = _matchers(ask, member_ids, seconds, now)
    interval = _scrape_interval(ask, matchers, now)
    step = max(interval, math.ceil(seconds / _MAX_POINTS))

    def series(expression: str) -> Series:
        asked = {"query": expression, "start": f"{now - seconds:.3f}", "end": f"{now:.3f}", "step": f"{step}s"}
        return _points(ask("query_range", asked), expression)

    window = f"[{max(_SCRAPES * interval, step)}s]"
    rates = {name: series(_highest_of(name, matchers, "rate", window)) for name in _RATES}
    gauges = {name: series(_highest_of(name, matchers)) for name in _HIGHEST}
    gauges["revisions"] = series(_revisions(matchers, "{revision} - ({compacted} > 0)"))
    # The first write of a database has revision 2. The revisions of the live keys are among these.
    gauges["all_revisions"] = series(_revisions(matchers, "({revision} - 1) and ({compacted} <= 0)"))
    if not rates["puts"]:
        raise MeasureError("Prometheus has the members, but no rate of their puts: it has scraped them less than twice")
    times = [at for at, _value in rates["puts"]]
    peak_at, peak = max(rates["puts"], key=lambda point: point[1])
    puts, sizes, deletes, revisions = (_sum(rates[name]) for name in _RATES)
    return History(
        begin=min(times),
        end=max(times),
        step=step,
        puts=puts / len(times),
        puts_peak=peak,
        puts_peak_at=peak_at,
        put_size=round(sizes / puts) if puts else None,
        put_size_peak=_largest_mean(rates["puts"], rates["put_bytes"], step),
        revision_writes=max(1.0, (puts + deletes) / revisions) if revisions else 1.0,
        highest={name: round(max(value for _at, value in points)) for name, points in gauges.items() if points},
    )


def _matchers(ask: PrometheusQuery, member_ids: Iterable[str], seconds: int, now: float) -> list[str]:
    """Return the sets of labels that the members' series have, as matchers of selectors.

    A member may have several: those before its job or its target was renamed, and those of each job that scrapes it.
    """
    ids = sorted(member_ids)
    pattern = "|".join(f"0*{one}" for one in ids)
    asked = {
        "match[]": f'etcd_server_id{{server_id=~"{pattern}"}}',
        "start": f"{now - seconds:.3f}",
        "end": f"{now:.3f}",
    }
    found = {
        ",".join(
            f'{name}="{escape_label(labels[name])}"' for name in sorted(labels) if name not in ("__name__", "server_id")
        )
        for labels in ask("series", asked)
    }
    if not found:
        raise MeasureError(
            f"Prometheus has no etcd_server_id of the members {', '.join(ids)}: it does not scrape them, or drops this metric"
        )
    return sorted(found)


def _scrape_interval(ask: PrometheusQuery, matchers: list[str], now: float) -> int:
    """Return about how many seconds lie between two scrapes of a member, a minute if the last ones are older than 10 minutes."""
    for one in matchers:
        asked = {"query": f"etcd_server_id{{{one}}}[10m]", "time": f"{now:.3f}"}
        times = [at for at, _value in _points(ask("query", asked), asked["query"])]
        steps = sorted(later - earlier for earlier, later in zip(times, times[1:]))
        if steps:
            return max(1, round(steps[len(steps) // 2]))
    return 60


def _highest_of(name: str, matchers: list[str], function: str = "", window: str = "") -> str:
    """Return the expression for the highest value among the members, under the newest name that a series has."""
    alternatives = [f"{function}({metric}{{{one}}}{window})" for metric in NAMES[name] for one in matchers]
    return f"max({' or '.join(alternatives)})"


def _revisions(matchers: list[str], expression: str) -> str:
    kept = [
        f"({expression.format(revision=_one('revision', one), compacted=_one('compact_revision', one))})"
        for one in matchers
    ]
    return f"max({' or '.join(kept)})"


def _one(name: str, matchers: str) -> str:
    alternatives = [f"{metric}{{{matchers}}}" for metric in NAMES[name]]
    return f"max({' or '.join(alternatives)})"


def _points(data: Any, expression: str) -> Series:
    """Return the points of the only series of an answer, none if there is none."""
    try:
        values = data["result"][0]["values"] if data["result"] else []
        points = [(float(at), float(value)) for at, value in values]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise MeasureError(f"Prometheus answered {expression} with something other than a matrix: {error}") from error
    return [(at, value) for at, value in points if math.isfinite(value)]


def _sum(points: Series) -> float:
    return sum(value for _at, value in points)


def _largest_mean(puts: Series, sizes: Series, step: float) -> int | None:
    """Return the largest mean size of LOG_ENTRIES puts in a row, of all puts if there are fewer; None without puts."""
    size_at = dict(sizes)
    steps = [(rate * step, size_at[at] * step) for at, rate in puts if at in size_at and rate > 0]
    largest, count, size, first = 0.0, 0.0, 0.0, 0
    for more, more_size in steps:
        count, size = count + more, size + more_size
        while count - steps[first][0] >= LOG_ENTRIES:
            count, size, first = count - steps[first][0], size - steps[first][1], first + 1
        if count >= LOG_ENTRIES:
            largest = max(largest, size / count)
    if largest == 0.0 and count > 0:
        largest = size / count
    return round(largest) if largest else None
