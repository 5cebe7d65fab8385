# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Latencies of a member's disk from the histograms in its metrics, and the verdict. Private to the collection.

Pure. etcd's buckets end at 1 ms, 2 ms, 4 ms … 8192 ms (server/storage/wal/metrics.go, server/storage/backend/
metrics.go); a percentile is interpolated within its bucket, as Prometheus does it. etcd's FAQ asks for a 99th
percentile below 10 ms of WAL fsyncs and below 25 ms of backend commits (https://etcd.io/docs/v3.6/faq/, "What does the
etcd warning 'failed to send out heartbeat on time' mean?").
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

from ansible_collections.etcdops.headroom.plugins.module_utils._base.prometheus import parse_samples
from ansible_collections.etcdops.headroom.plugins.module_utils._storage.fio import Limits, milliseconds

WAL_FSYNC = "etcd_disk_wal_fsync_duration_seconds"
BACKEND_COMMIT = "etcd_disk_backend_commit_duration_seconds"
SLOW_APPLIES = "etcd_server_slow_apply_total"
LEADER_CHANGES = "etcd_server_leader_changes_seen_total"
STARTED = "process_start_time_seconds"

# One sample lies above the 99th percentile then.
MIN_SAMPLES = 100


class MetricsError(ValueError):
    """A page of metrics that is none of etcd's, or two that do not belong together; the text says why."""


@dataclass(frozen=True)
class Histogram:
    """How many samples were at most each bound (seconds, the last infinite), each count with those before it."""

    bounds: tuple[float, ...]
    cumulative: tuple[int, ...]

    @property
    def samples(self) -> int:
        """All samples."""
        return self.cumulative[-1]


@dataclass(frozen=True)
class Page:
    """What one reading of /metrics says; ``started`` is in seconds since 1970, None if the member does not say."""

    wal_fsync: Histogram
    backend_commit: Histogram
    slow_applies: int
    leader_changes: int
    started: float | None


@dataclass(frozen=True)
class Latency:
    """One histogram's percentiles in microseconds, None without samples.

    The 99th percentile lies in the bucket from ``p99_from_us`` to ``p99_to_us``; None is the bucket without an end.
    """

    samples: int
    p50_us: int | None
    p99_us: int | None
    p99_from_us: int | None
    p99_to_us: int | None


@dataclass(frozen=True)
class Live:
    """What a member's disk did in an interval of ``seconds``, or, if ``whole``, since the member started."""

    wal_fsync: Latency
    backend_commit: Latency
    slow_applies: int
    leader_changes: int
    seconds: float
    whole: bool


def parse(text: str) -> Page:
    """Read a page of metrics. Raises MetricsError if it lacks one of those needed."""
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
            raise MetricsError(f"the metrics say {sample.name} is {sample.text!r}, which is no number") from problem
    return Page(
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
        raise MetricsError(f"the metrics say {name} is {plain[name]}, which is no count")
    return int(plain[name])


def _histogram(name: str, buckets: dict[float, float]) -> Histogram:
    if not buckets:
        raise MetricsError(f"the metrics have no {name}: is this an etcd member of 3.5 or newer?")
    bounds = tuple(sorted(buckets))
    counts = [buckets[bound] for bound in bounds]
    if bounds[-1] != math.inf or len(bounds) < 2 or not all(map(math.isfinite, counts)) or counts != sorted(counts):
        raise MetricsError(f"the metrics' {name} is no histogram: its buckets do not add up")
    return Histogram(bounds, tuple(int(count) for count in counts))


def since(earlier: Page, later: Page, seconds: float) -> Live:
    """What happened between two readings. Raises MetricsError if the member was started anew between them."""
    restarted = (
        earlier.started != later.started
        or later.slow_applies < earlier.slow_applies
        or later.leader_changes < earlier.leader_changes
    )
    return Live(
        wal_fsync=latency(_difference(earlier.wal_fsync, later.wal_fsync, restarted=restarted)),
        backend_commit=latency(_difference(earlier.backend_commit, later.backend_commit, restarted=restarted)),
        slow_applies=later.slow_applies - earlier.slow_applies,
        leader_changes=later.leader_changes - earlier.leader_changes,
        seconds=seconds,
        whole=False,
    )


def since_start(page: Page, now: float) -> Live:
    """What happened since the member started; ``now`` is in seconds since 1970."""
    return Live(
        wal_fsync=latency(page.wal_fsync),
        backend_commit=latency(page.backend_commit),
        slow_applies=page.slow_applies,
        leader_changes=page.leader_changes,
        seconds=max(0.0, now - page.started) if page.started is not None else 0.0,
        whole=True,
    )


def _difference(earlier: Histogram, later: Histogram, *, restarted: bool) -> Histogram:
    counts = tuple(after - before for before, after in zip(earlier.cumulative, later.cumulative))
    if restarted or earlier.bounds != later.bounds or counts != tuple(sorted(counts)) or counts[0] < 0:
        raise MetricsError("the member was started anew while it was measured: ask again")
    return Histogram(later.bounds, counts)


def quantile(histogram: Histogram, share: float) -> tuple[float, float, float]:
    """The value below which a share (above 0) of the samples lies, and the bounds of its bucket; in seconds.

    Values are taken to be spread evenly in their bucket; of the one without an end its beginning is returned.
    There must be samples.
    """
    rank = share * histogram.samples
    index = bisect_left(histogram.cumulative, rank)
    low = histogram.bounds[index - 1] if index else 0.0
    high = histogram.bounds[index]
    if high == math.inf:
        return low, low, high
    before = histogram.cumulative[index - 1] if index else 0
    return low + (high - low) * (rank - before) / (histogram.cumulative[index] - before), low, high


def latency(histogram: Histogram) -> Latency:
    """The percentiles of a histogram."""
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


def _grade(found: Latency, asked: Limits) -> str:
    """How one latency compares with its limits. That it is slow needs fewer samples than that it is fast."""
    if found.p50_us is None or found.p99_us is None:
        return "unknown"
    if found.p50_us > asked.fail_us:
        return "fail"
    if found.samples < MIN_SAMPLES:
        return "unknown"
    return "fail" if found.p99_us > asked.fail_us else "warn" if found.p99_us > asked.warn_us else "ok"


def _in_words(found: Latency, what: str, asked: Limits) -> str:
    if found.p99_us is None:
        return f"no {what}"
    bucket = (
        f"over {milliseconds(found.p99_us)}"
        if found.p99_to_us is None
        else f"about {milliseconds(found.p99_us)} (in the bucket up to {milliseconds(found.p99_to_us)})"
    )
    return f"99 % of {found.samples} {what} took at most {bucket}, the limit is {milliseconds(asked.fail_us)}"


def judge(live: Live, fsync: Limits, commit: Limits, place: str) -> tuple[str, str]:
    """The verdict, 'ok', 'warn', 'fail' or 'unknown', and the sentences that explain it. `place` names the member.

    It is unknown while too few WAL fsyncs were seen. Slow applies and leader changes are warnings if they happened
    in an interval; since the start of a member they are only told, because its first election counts too.
    """
    span = f"since it started {live.seconds:.0f} s ago" if live.whole else f"in {live.seconds:.0f} s"
    grades = (_grade(live.wal_fsync, fsync), _grade(live.backend_commit, commit))
    sentence = (
        f"{place} {span}: {_in_words(live.wal_fsync, 'WAL fsyncs', fsync)}; "
        f"{_in_words(live.backend_commit, 'backend commits', commit)}; "
        f"slow applies: {live.slow_applies}, leader changes: {live.leader_changes}."
    )
    if "fail" in grades:
        return "fail", f"{sentence} Too slow: etcd answers slowly and loses its leader under load."
    if "warn" in grades:
        return "warn", f"{sentence} Fast enough, but little is left for busy hours."
    if not live.whole and (live.slow_applies or live.leader_changes):
        return "warn", f"{sentence} The member was short of time for its work: look at its disk, CPU and network."
    if grades[0] == "unknown":
        return "unknown", (
            f"{sentence} Fewer than {MIN_SAMPLES} WAL fsyncs give no 99th percentile: ask for a longer interval, or for "
            "all since the member started (interval: 0)."
        )
    return "ok", f"{sentence} Fast enough."
