# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Verdicts on measured latencies, their limits and sentences."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import fio, verdict

from tests.unit.plugins.module_utils._storage.recorded_fio import FIGURES, answer, runs

LIMITS = verdict.Limits(fail_us=10000, warn_us=5000)


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [(7, "0.01 ms"), (420, "0.42 ms"), (9990, "9.99 ms"), (10000, "10 ms"), (12340, "12.3 ms"), (240400, "240 ms")],
)
def test_format_milliseconds(microseconds: int, text: str) -> None:
    assert verdict.format_milliseconds(microseconds) == text


@pytest.mark.parametrize(
    ("p99_us", "expected", "words"),
    [
        (1729, "ok", "fast enough."),
        (5000, "ok", "fast enough."),
        (5001, "warn", "above 5.00 ms there is little reserve"),
        (10000, "warn", "above 5.00 ms there is little reserve"),
        (10001, "fail", "at most 10.001 ms"),
        (250000, "fail", "too slow. etcd would"),
    ],
)
def test_verdict_and_its_sentence(p99_us: int, expected: str, words: str) -> None:
    found, sentence = verdict.judge(runs(p99_us), LIMITS, "/dev/vdb")
    assert found == expected and words in sentence
    assert sentence.startswith("99 % of 10029 fdatasync calls on /dev/vdb took at most")
    assert "the limit is 10" in sentence and "runs" not in sentence


@pytest.mark.parametrize(
    ("p99_us", "expected", "spread", "mentioned"),
    [
        ((1700, 1600, 1800), "ok", 12, False),
        ((1000, 1250, 1500), "ok", 40, False),
        ((1000, 1000, 1500), "ok", 50, False),
        ((1000, 1001, 1600), "ok", 60, True),
        # Runs that hardly differ are judged by their median.
        ((4900, 4950, 5100), "ok", 4, False),
        # One run near the limit warns, even if the median is far below it.
        ((1000, 1001, 6000), "warn", 500, True),
        ((6000, 6100, 6200), "warn", 3, False),
        ((9000, 10001, 30000), "fail", 210, True),
        # Of an even number of runs, the worse one in the middle counts.
        ((4000, 11000), "fail", 64, True),
    ],
)
def test_runs_that_differ_widely_are_mentioned(
    p99_us: tuple[int, ...], expected: str, spread: int, mentioned: bool
) -> None:
    measured = runs(*p99_us)
    found, sentence = verdict.judge(measured, LIMITS, "/dev/vdb")
    assert (found, measured.spread_percent) == (expected, spread)
    assert f"median of {len(p99_us)} runs, {verdict.format_milliseconds(min(p99_us))} to" in sentence
    assert (f"The runs differ by {spread} %" in sentence) == mentioned


@pytest.mark.parametrize(("p99_us", "expected"), [(1729, "warn"), (7000, "warn"), (20000, "fail")])
def test_network_filesystem_warns_at_least(p99_us: int, expected: str) -> None:
    found, sentence = verdict.judge(runs(p99_us), LIMITS, "/dev/vdb", network="nfs4")
    assert found == expected and "nfs4 is a network filesystem" in sentence


def test_failing_needs_fewer_samples_than_passing() -> None:
    partial = fio.parse_output(answer("one-second"))
    assert partial.samples < verdict.MIN_SAMPLES <= 3 * partial.samples
    with pytest.raises(fio.FioError, match="percentile needs 1000"):
        verdict.judge(fio.combine([partial]), LIMITS, "/dev/vdb")
    with pytest.raises(fio.FioError, match="percentile needs 1000"):
        verdict.judge(fio.combine([partial]), verdict.Limits(partial.p50_us, 1), "/dev/vdb")
    strict = verdict.Limits(partial.p50_us - 1, 1)
    assert verdict.judge(fio.combine([partial]), strict, "/dev/vdb")[0] == "fail"
    assert verdict.judge(fio.combine([partial] * 3), verdict.Limits(10**6, 10**6), "/dev/vdb")[0] == "ok"
    enough = fio.combine([replace(FIGURES, samples=verdict.MIN_SAMPLES)])
    assert verdict.judge(enough, verdict.Limits(10**6, 10**6), "/dev/vdb")[0] == "ok"


@pytest.mark.parametrize(
    ("max_ms", "warn_ms", "expected"),
    [(10, None, (10000, 5000)), (10, 8, (10000, 8000)), (5, 5, (5000, 5000)), (0.001, None, (1, 0))],
)
def test_parse_limits(max_ms: float, warn_ms: float | None, expected: tuple[int, int]) -> None:
    assert verdict.parse_limits(max_ms, warn_ms) == verdict.Limits(*expected)


@pytest.mark.parametrize(
    ("max_ms", "warn_ms", "message"),
    [
        (0, None, "fsync_p99_max_ms is 0, but must be a number of milliseconds above 0"),
        (float("nan"), None, "fsync_p99_max_ms is nan"),
        (float("inf"), None, "fsync_p99_max_ms is inf"),
        (10, -1, "fsync_p99_warn_ms is -1"),
        (10, 0, "fsync_p99_warn_ms is 0"),
        (10, 11, r"fsync_p99_warn_ms is 11, above fsync_p99_max_ms \(10\)"),
    ],
)
def test_invalid_limits(max_ms: float, warn_ms: float | None, message: str) -> None:
    with pytest.raises(fio.FioError, match=message):
        verdict.parse_limits(max_ms, warn_ms)
