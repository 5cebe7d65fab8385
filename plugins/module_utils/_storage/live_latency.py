# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the disk latencies of a running member from its metrics and judge them.

Pure. etcd's buckets end at 1 ms, 2 ms, 4 ms … 8192 ms (server/storage/wal/metrics.go, server/storage/backend/
metrics.go); a percentile is interpolated within its bucket, as Prometheus does it. etcd's FAQ asks for a 99th
percentile below 10 ms of WAL fsyncs and below 25 ms of backend commits (https://etcd.io/docs/v3.6/faq/, "What does the
etcd warning 'failed to send out heartbeat on time' mean?").
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import asdict, dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.prometheus import parse_samples
from ansible_collections.etcdops.headroom.plugins.module_utils._storage.verdict import (
    Limits,
    format_distinctly,
    format_milliseconds,
    parse_limits,
)

WAL_FSYNC = "etcd_disk_wal_fsync_duration_seconds"
BACKEND_COMMIT = "etcd_disk_backend_commit_duration_seconds"
SLOW_APPLIES = "etcd_server_slow_apply_total"
LEADER_CHANGES = "etcd_server_leader_changes_seen_total"
STARTED = "process_start_time_seconds"

# With this many samples one lies above the 99th percentile.
MIN_SAMPLES = 100
# As etcd's FAQ asks for.
COMMIT_P99_MAX_MS = 25


class MetricsError(ValueError):
    """Metrics that are not etcd's, or two readings that cannot be compared."""


@dataclass(frozen=True)
class Histogram:
    """A cumulative histogram: the number of samples up to each bound (seconds, the last one infinite)."""

    bounds: tuple[float, ...]
    cumulative: tuple[int, ...]

    @property
    def samples(self) -> int:
        """Number of samples."""
        return self.cumulative[-1]


@dataclass(frozen=True)
class Metrics:
    """One reading of /metrics. ``started`` is in seconds since 1970, None if unknown."""

    wal_fsync: Histogram
    backend_commit: Histogram
    slow_applies: int
    leader_changes: int
    started: float | None


@dataclass(frozen=True)
class Latency:
    """Percentiles of a histogram in microseconds, None without samples.

    The 99th percentile lies in the bucket from ``p99_from_us`` to ``p99_to_us``, which is None for the infinite bucket.
    """

    samples: int
    p50_us: int | None
    p99_us: int | None
    p99_from_us: int | None
    p99_to_us: int | None


@dataclass(frozen=True)
class LiveLatency:
    """Latencies and events of a member during ``seconds``; if ``since_start``, those are all since it started."""

    wal_fsync: Latency
    backend_commit: Latency
    slow_applies: int
    leader_changes: int
    seconds: float
    since_start: bool


def parse_metrics(text: str) -> Metrics:
    """Parse the text of /metrics. Raises MetricsError if a needed metric is missing or invalid."""
    plain: dict[str, float] = {}
    buckets: dict[str, dict[float, float]] = {WAL_FSYNC: {}, BACKEND_COMMIT: {}}
    for sample in parse_samples(text):
        base, bucket, _rest = sample.name.partition("_bucket")
        try:
            if not sample.labels:
                plain[sample.name] = sample.value
            elif bucket and base in buckets:
                bound = sample.label("le")
                if bound:
                    buckets[base][float(bound)] = sample.value
        except ValueError as problem:
            raise MetricsError(
                f"the metric {sample.name} is {sample.text!r}, which is not a number: is this an etcd member?"
            ) from problem
    return Metrics(
        wal_fsync=_histogram(WAL_FSYNC, buckets[WAL_FSYNC]),
        backend_commit=_histogram(BACKEND_COMMIT, buckets[BACKEND_COMMIT]),
        slow_applies=_counter(SLOW_APPLIES, plain),
        leader_changes=_counter(LEADER_CHANGES, plain),
        started=plain.get(STARTED),
    )


def _counter(name: str, plain: dict[str, float]) -> int:
    if name not in plain:
        raise MetricsError(f"the metrics have no {name}: is this an etcd member of 3.5 or newer?")
    if not math.isfinite(plain[name]):
        raise MetricsError(f"the metric {name} is {plain[name]}, which is not a count: is this an etcd member?")
    return int(plain[name])


def _histogram(name: str, buckets: dict[float, float]) -> Histogram:
    if not buckets:
        raise MetricsError(f"the metrics have no {name}: is this an etcd member of 3.5 or newer?")
    bounds = tuple(sorted(buckets))
    counts = [buckets[bound] for bound in bounds]
    if bounds[-1] != math.inf or len(bounds) < 2 or not all(map(math.isfinite, counts)) or counts != sorted(counts):
        raise MetricsError(
            f"the metric {name} is not a histogram, because its buckets do not add up: is this an etcd member?"
        )
    return Histogram(bounds, tuple(int(count) for count in counts))


def latency_between(earlier: Metrics, later: Metrics, seconds: float) -> LiveLatency:
    """Return latencies and events between two readings. Raises MetricsError if the member restarted in between."""
    restarted = (
        earlier.started != later.started
        or later.slow_applies < earlier.slow_applies
        or later.leader_changes < earlier.leader_changes
    )
    return LiveLatency(
        wal_fsync=percentiles(_difference(earlier.wal_fsync, later.wal_fsync, restarted=restarted)),
        backend_commit=percentiles(_difference(earlier.backend_commit, later.backend_commit, restarted=restarted)),
        slow_applies=later.slow_applies - earlier.slow_applies,
        leader_changes=later.leader_changes - earlier.leader_changes,
        seconds=seconds,
        since_start=False,
    )


def latency_since_start(metrics: Metrics, now: float) -> LiveLatency:
    """Return latencies and events since the member started. ``now`` is in seconds since 1970."""
    return LiveLatency(
        wal_fsync=percentiles(metrics.wal_fsync),
        backend_commit=percentiles(metrics.backend_commit),
        slow_applies=metrics.slow_applies,
        leader_changes=metrics.leader_changes,
        seconds=max(0.0, now - metrics.started) if metrics.started is not None else 0.0,
        since_start=True,
    )


def _difference(earlier: Histogram, later: Histogram, *, restarted: bool) -> Histogram:
    counts = tuple(after - before for before, after in zip(earlier.cumulative, later.cumulative))
    if restarted or earlier.bounds != later.bounds or counts != tuple(sorted(counts)) or counts[0] < 0:
        raise MetricsError("the member restarted during the measurement: run it again")
    return Histogram(later.bounds, counts)


def quantile(histogram: Histogram, share: float) -> tuple[float, float, float]:
    """Return the quantile for a share above 0, and the bounds of its bucket, in seconds.

    Interpolates linearly within a bucket; in the infinite bucket returns its lower bound. Requires at least one sample.
    """
    rank = share * histogram.samples
    index = bisect_left(histogram.cumulative, rank)
    low = histogram.bounds[index - 1] if index else 0.0
    high = histogram.bounds[index]
    if high == math.inf:
        return low, low, high
    before = histogram.cumulative[index - 1] if index else 0
    return low + (high - low) * (rank - before) / (histogram.cumulative[index] - before), low, high


def percentiles(histogram: Histogram) -> Latency:
    """Return the median and the 99th percentile of a histogram."""
    if not histogram.samples:
        return Latency(0, None, None, None, None)
    p99, low, high = quantile(histogram, 0.99)
    return Latency(
        samples=histogram.samples,
        p50_us=round(quantile(histogram, 0.5)[0] * 1e6),
        p99_us=round(p99 * 1e6),
        p99_from_us=round(low * 1e6),
        p99_to_us=None if high == math.inf else round(high * 1e6),
    )


def _grade(found: Latency, limits: Limits) -> str:
    """Compare a latency with its limits: 'ok', 'warn', 'fail' or 'unknown'. Failing needs fewer samples than passing."""
    if found.p50_us is None or found.p99_us is None:
        return "unknown"
    if found.p50_us > limits.fail_us:
        return "fail"
    if found.samples < MIN_SAMPLES:
        return "unknown"
    return "fail" if found.p99_us > limits.fail_us else "warn" if found.p99_us > limits.warn_us else "ok"


def _describe(found: Latency, operation: str, limits: Limits) -> str:
    if found.p99_us is None:
        return f"no {operation}"
    p99, limit = format_distinctly(found.p99_us, limits.fail_us)
    bucket = (
        f"over {p99}"
        if found.p99_to_us is None
        else f"about {p99} (in the bucket up to {format_milliseconds(found.p99_to_us)})"
    )
    return f"99 % of {found.samples} {operation} took at most {bucket}, the limit is {limit}"


def judge(live: LiveLatency, fsync: Limits, commit: Limits, place: str) -> tuple[str, str]:
    """Return the verdict, 'ok', 'warn', 'fail' or 'unknown', with the sentences that explain it.

    ``place`` names the member. The verdict is unknown with too few WAL fsyncs. Slow applies and leader changes warn only in an
    interval: since the member's start they include its first election.
    """
    span = f"since it started {live.seconds:.0f} s ago" if live.since_start else f"in {live.seconds:.0f} s"
    grades = (_grade(live.wal_fsync, fsync), _grade(live.backend_commit, commit))
    sentence = (
        f"{place} {span}: {_describe(live.wal_fsync, 'WAL fsyncs', fsync)}; "
        f"{_describe(live.backend_commit, 'backend commits', commit)}; "
        f"slow applies: {live.slow_applies}, leader changes: {live.leader_changes}."
    )
    if "fail" in grades:
        return (
            "fail",
            f"{sentence} Too slow: etcd answers slowly and loses its leader under load. Give it an SSD of its own.",
        )
    if "warn" in grades:
        return "warn", f"{sentence} Fast enough, but there is little reserve for peak load."
    if not live.since_start and (live.slow_applies or live.leader_changes):
        return "warn", f"{sentence} The member did not keep up with its work: check its disk, CPU and network."
    if grades[0] == "unknown":
        return "unknown", (
            f"{sentence} Fewer than {MIN_SAMPLES} WAL fsyncs give no 99th percentile: use a longer interval, or "
            "interval: 0 for all since the member started."
        )
    return "ok", f"{sentence} Fast enough."


def judge_since_start(metrics: Metrics, now: float, fsync_max_ms: float, endpoint: str) -> dict[str, Any]:
    """Return the latencies since the member's start, judged, as the modules return them. Raises ValueError for an invalid limit."""
    fsync = parse_limits(fsync_max_ms, None)
    commit = parse_limits(COMMIT_P99_MAX_MS, COMMIT_P99_MAX_MS, "commit")
    return as_result(latency_since_start(metrics, now), fsync, commit, endpoint)


def as_result(live: LiveLatency, fsync: Limits, commit: Limits, endpoint: str) -> dict[str, Any]:
    """Return the latencies beside their limits, with the verdict, as the modules return them."""
    verdict, sentence = judge(live, fsync, commit, endpoint)
    return {
        "verdict": verdict,
        "msg": sentence,
        "endpoint": endpoint,
        "seconds": round(live.seconds, 2),
        "wal_fsync": {**asdict(live.wal_fsync), "limit_us": fsync.fail_us, "warn_us": fsync.warn_us},
        "backend_commit": {**asdict(live.backend_commit), "limit_us": commit.fail_us, "warn_us": commit.warn_us},
        "slow_applies": live.slow_applies,
        "leader_changes": live.leader_changes,
    }
