# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Histograms in a member's metrics, their percentiles, and the verdict."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import live_latency
from ansible_collections.etcdops.headroom.plugins.module_utils._storage.verdict import Limits

# etcd's own: 1 ms, 2 ms … 8192 ms.
BOUNDS = (*(0.001 * 2**power for power in range(14)), math.inf)
FSYNC, COMMIT = Limits(10000, 5000), Limits(25000, 25000)


def histogram(**counts: int) -> live_latency.Histogram:
    """A histogram with this many samples in the bucket that ends at this number of milliseconds (``ms8=5``, ``more=1``)."""
    found, cumulative = 0, []
    for bound in BOUNDS:
        found += counts.get("more" if bound == math.inf else f"ms{round(bound * 1000)}", 0)
        cumulative.append(found)
    return live_latency.Histogram(BOUNDS, tuple(cumulative))


def page(fsync: live_latency.Histogram, commit: live_latency.Histogram, slow: int = 0, leaders: int = 1) -> str:
    """A page of metrics as etcd writes it, with irrelevant lines."""
    lines = ["# HELP etcd_disk_wal_fsync_duration_seconds The latency", 'go_info{version="go1.26"} 1', "noise"]
    for name, found in ((live_latency.WAL_FSYNC, fsync), (live_latency.BACKEND_COMMIT, commit)):
        for bound, count in zip(found.bounds, found.cumulative):
            lines.append(f'{name}_bucket{{le="{"+Inf" if bound == math.inf else bound}"}} {count}')
        lines += [f"{name}_sum 1.5", f"{name}_count {found.samples}"]
    lines += [
        f"{live_latency.SLOW_APPLIES} {slow}",
        f"{live_latency.LEADER_CHANGES} {leaders}",
        f"{live_latency.STARTED} 1.7e+09",
    ]
    return "\n".join(lines) + "\n"


GOOD = page(histogram(ms1=990, ms2=10), histogram(ms4=400, ms8=100))


def test_parse_metrics() -> None:
    found = live_latency.parse_metrics(GOOD)
    assert found.wal_fsync == histogram(ms1=990, ms2=10) and found.backend_commit.samples == 500
    assert (found.slow_applies, found.leader_changes, found.started) == (0, 1, 1.7e9)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "have no etcd_disk_wal_fsync_duration_seconds: is this an etcd member"),
        ("<html>Not Found</html>", "have no etcd_disk_wal_fsync_duration_seconds"),
        (GOOD.replace(live_latency.SLOW_APPLIES, "other"), "have no etcd_server_slow_apply_total"),
        (
            GOOD.replace(f"{live_latency.LEADER_CHANGES} 1", f"{live_latency.LEADER_CHANGES} NaN"),
            "is nan, which is not a count",
        ),
        (
            GOOD.replace(f"{live_latency.SLOW_APPLIES} 0", f"{live_latency.SLOW_APPLIES} x"),
            "'x', which is not a number",
        ),
        (GOOD.replace('le="+Inf"', 'le="9000"'), "is not a histogram"),
        (
            GOOD.replace(
                'wal_fsync_duration_seconds_bucket{le="0.001"} 990',
                'wal_fsync_duration_seconds_bucket{le="0.001"} 2000',
            ),
            "is not a histogram",
        ),
    ],
)
def test_metrics_of_other_programs_are_refused(text: str, message: str) -> None:
    with pytest.raises(live_latency.MetricsError, match=message):
        live_latency.parse_metrics(text)


@pytest.mark.parametrize(
    ("found", "share", "expected"),
    [
        # Spread evenly in the first bucket, from 0 to 1 ms.
        (histogram(ms1=100), 0.5, (0.0005, 0.0, 0.001)),
        (histogram(ms1=100), 0.99, (0.00099, 0.0, 0.001)),
        # 990 of 1000 lie at most at 1 ms: that is the 99th percentile, its very end.
        (histogram(ms1=990, ms2=10), 0.99, (0.001, 0.0, 0.001)),
        (histogram(ms1=980, ms2=20), 0.99, (0.0015, 0.001, 0.002)),
        # Empty buckets in between do not count.
        (histogram(ms1=50, ms64=50), 0.99, (0.06336, 0.032, 0.064)),
        # In the infinite bucket only its lower bound is known.
        (histogram(ms1=50, more=50), 0.99, (8.192, 8.192, math.inf)),
    ],
)
def test_quantiles(found: live_latency.Histogram, share: float, expected: tuple[float, float, float]) -> None:
    assert live_latency.quantile(found, share) == pytest.approx(expected)


def test_percentiles_never_fall_with_the_share() -> None:
    found = histogram(ms1=3, ms4=11, ms8=2, ms512=1)
    values = [live_latency.quantile(found, share / 1000)[0] for share in range(1, 1001)]
    assert values == sorted(values) and 0 < values[0] and values[-1] == pytest.approx(0.512)


def test_no_percentiles_without_samples() -> None:
    assert live_latency.percentiles(histogram()) == live_latency.Latency(0, None, None, None, None)


def test_only_the_interval_counts() -> None:
    before = live_latency.parse_metrics(page(histogram(ms1=10, ms512=500), histogram(ms8=10), slow=7, leaders=3))
    after = live_latency.parse_metrics(page(histogram(ms1=210, ms512=500), histogram(ms8=130), slow=9, leaders=3))
    live = live_latency.latency_between(before, after, 30.0)
    assert live.wal_fsync == live_latency.Latency(200, 500, 990, 0, 1000)
    assert (live.backend_commit.samples, live.slow_applies, live.leader_changes) == (120, 2, 0)


@pytest.mark.parametrize(
    "later",
    [
        page(histogram(ms1=5), histogram(ms4=500)),
        page(histogram(ms1=2000), histogram(ms4=500), leaders=0),
        page(histogram(ms1=2000), histogram(ms4=500)).replace("1.7e+09", "1.8e+09"),
        # More samples in total, but fewer in one bucket.
        page(histogram(ms1=995, ms2=3, ms4=900), histogram(ms4=300, ms8=400)),
    ],
)
def test_restart_between_readings_is_an_error(later: str) -> None:
    with pytest.raises(live_latency.MetricsError, match="restarted during"):
        live_latency.latency_between(live_latency.parse_metrics(GOOD), live_latency.parse_metrics(later), 30.0)


def live(
    fsync: live_latency.Histogram, commit: live_latency.Histogram, slow: int = 0, leaders: int = 0
) -> live_latency.LiveLatency:
    """Return the latencies of 30 seconds."""
    return live_latency.LiveLatency(
        live_latency.percentiles(fsync), live_latency.percentiles(commit), slow, leaders, 30.0, since_start=False
    )


FAST = histogram(ms1=1000)


@pytest.mark.parametrize(
    ("seen", "verdict", "words"),
    [
        (live(FAST, histogram(ms16=300)), "ok", "99 % of 1000 WAL fsyncs took at most about 0.99 ms"),
        (live(histogram(ms8=1000), FAST), "warn", "little reserve for peak load"),
        (
            live(histogram(ms1=900, ms16=100), FAST),
            "fail",
            "about 15.2 ms (in the bucket up to 16 ms), the limit is 10 ms",
        ),
        (live(histogram(ms1=900, more=100), FAST), "fail", "took at most over 8192 ms"),
        (live(FAST, histogram(ms64=300)), "fail", "99 % of 300 backend commits took at most about 63.7 ms"),
        (live(FAST, histogram(), slow=1), "warn", "slow applies: 1, leader changes: 0. The member did not keep up"),
        (live(FAST, FAST, leaders=2), "warn", "leader changes: 2. The member did not keep up"),
        (live(histogram(ms1=99), FAST), "unknown", "Fewer than 100 WAL fsyncs give no 99th percentile"),
        (live(histogram(), histogram()), "unknown", "no WAL fsyncs; no backend commits"),
        # A slow median fails with few samples; few commits prove nothing.
        (live(histogram(ms32=20), FAST), "fail", "Too slow"),
        (live(FAST, histogram(ms1=50, ms64=5)), "ok", "99 % of 55 backend commits"),
    ],
)
def test_verdicts(seen: live_latency.LiveLatency, verdict: str, words: str) -> None:
    found, sentence = live_latency.judge(seen, FSYNC, COMMIT, "etcd1")
    assert found == verdict and words in sentence and sentence.startswith("etcd1 in 30 s: ")


def test_elections_since_the_start_do_not_warn() -> None:
    seen = live_latency.latency_since_start(replace(live_latency.parse_metrics(GOOD), slow_applies=4), 1.7e9 + 3600)
    verdict, sentence = live_latency.judge(seen, FSYNC, COMMIT, "etcd1")
    assert verdict == "ok" and "since it started 3600 s ago" in sentence
    assert "slow applies: 4, leader changes: 1" in sentence


def test_a_members_latencies_since_its_start_are_judged_by_the_limits_asked_for() -> None:
    metrics = live_latency.parse_metrics(GOOD)
    found = live_latency.judge_since_start(metrics, 1.7e9 + 3600, 10.0, "etcd1")
    assert (found["verdict"], found["seconds"]) == ("ok", 3600.0)
    assert [found[name]["limit_us"] for name in ("wal_fsync", "backend_commit")] == [10000, 25000]
    assert live_latency.judge_since_start(metrics, 1.7e9 + 3600, 0.1, "etcd1")["verdict"] == "fail"
