# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""fio's answers, as fio 3.33 gave them, and the verdict on them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import fio

ETCD, OPENSHIFT = fio.PROFILES["etcd"], fio.PROFILES["openshift"]
LIMITS = fio.Limits(fail_us=10000, warn_us=5000)
ANSWERS = Path(__file__).parent / "fio"

FIGURES = fio.Figures(
    p50_us=420,
    p99_us=1729,
    p999_us=3162,
    max_us=5754,
    samples=10029,
    iops=2030,
    bandwidth=4668427,
    runtime_ms=4941,
    fio_version="fio-3.33",
)


def runs(*p99_us: int) -> fio.Measurement:
    """A measurement whose runs differ in this figure only."""
    return fio.combine([replace(FIGURES, p99_us=value) for value in p99_us])


def answer(name: str) -> str:
    """One recorded answer."""
    return (ANSWERS / f"3.33-{name}.json").read_text(encoding="utf-8")


def test_latencies_of_fdatasync_in_microseconds() -> None:
    assert fio.parse(answer("loop-ext4")) == FIGURES


def test_warnings_before_the_answer_do_not_matter() -> None:
    assert fio.parse("fio: some warning\n" + answer("loop-ext4")) == FIGURES


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (answer("disk-full"), r"error 28, No space left on device"),
        (answer("without-fdatasync"), r"no fdatasync at all"),
        ("", r"it printed: nothing"),
        ("fio: unrecognised option", r"it printed: fio: unrecognised option"),
        (answer("loop-ext4")[:2000], r"fio 3\.5 or newer"),
        ("{}", r"fio 3\.5 or newer"),
        ('{"jobs": []}', r"fio 3\.5 or newer"),
        (json.dumps({"jobs": [{"error": 0, "write": {}}]}), r"fio 3\.5 or newer"),
        (json.dumps({"jobs": [{"error": 10**30}]}), r"fio 3\.5 or newer"),
        ('{"jobs": [{"error": 0, "sync": {"lat_ns": {"N": Infinity}}, "write": {}}]}', r"fio 3\.5 or newer"),
    ],
)
def test_answers_that_cannot_be_trusted(text: str, message: str) -> None:
    with pytest.raises(fio.FioError, match=message):
        fio.parse(text)


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [(7, "0.01 ms"), (420, "0.42 ms"), (9990, "9.99 ms"), (10000, "10 ms"), (12340, "12.3 ms"), (240400, "240 ms")],
)
def test_milliseconds(microseconds: int, text: str) -> None:
    assert fio.milliseconds(microseconds) == text


@pytest.mark.parametrize(
    ("p99_us", "verdict", "words"),
    [
        (1729, "ok", "fast enough."),
        (5000, "ok", "fast enough."),
        (5001, "warn", "above 5.00 ms little is left"),
        (10000, "warn", "above 5.00 ms little is left"),
        (10001, "fail", "too slow. etcd would"),
        (250000, "fail", "too slow. etcd would"),
    ],
)
def test_verdict_and_its_sentence(p99_us: int, verdict: str, words: str) -> None:
    found, sentence = fio.judge(runs(p99_us), LIMITS, "/dev/vdb")
    assert found == verdict and words in sentence
    assert sentence.startswith("99 % of 10029 fdatasync calls on /dev/vdb took at most")
    assert "the limit is 10 ms" in sentence and "runs" not in sentence


@pytest.mark.parametrize(
    ("p99_us", "verdict", "spread", "said"),
    [
        ((1700, 1600, 1800), "ok", 12, False),
        ((1000, 1250, 1500), "ok", 40, False),
        ((1000, 1001, 1600), "ok", 60, True),
        # One run near the limit is a warning, though the median is far from it.
        ((1000, 1001, 6000), "warn", 500, True),
        ((6000, 6100, 6200), "warn", 3, False),
        ((9000, 10001, 30000), "fail", 210, True),
        # Of an even number the worse one in the middle counts.
        ((4000, 11000), "fail", 64, True),
    ],
)
def test_runs_that_lie_far_apart_say_so(p99_us: tuple[int, ...], verdict: str, spread: int, said: bool) -> None:
    measured = runs(*p99_us)
    found, sentence = fio.judge(measured, LIMITS, "/dev/vdb")
    assert (found, measured.spread_percent) == (verdict, spread)
    assert f"median of {len(p99_us)} runs, {fio.milliseconds(min(p99_us))} to" in sentence
    assert (f"The runs lie {spread} % apart" in sentence) == said


def test_several_runs_count_as_one() -> None:
    slow = replace(FIGURES, p50_us=900, max_us=9000, iops=1000, bandwidth=2300000, samples=5000, runtime_ms=5000)
    figures = fio.combine([FIGURES, slow]).figures
    assert (figures.p50_us, figures.max_us, figures.iops, figures.bandwidth) == (900, 9000, 1000, 2300000)
    assert (figures.samples, figures.runtime_ms) == (15029, 9941)


@pytest.mark.parametrize(("p99_us", "verdict"), [(1729, "warn"), (7000, "warn"), (20000, "fail")])
def test_a_network_filesystem_is_never_just_good(p99_us: int, verdict: str) -> None:
    found, sentence = fio.judge(runs(p99_us), LIMITS, "/dev/vdb", network="nfs4")
    assert found == verdict and "nfs4 is a network filesystem" in sentence


def test_few_samples_are_enough_to_call_a_disk_slow_but_not_to_call_it_fast() -> None:
    partial = fio.parse(answer("one-second"))
    assert partial.samples < fio.MIN_SAMPLES <= 3 * partial.samples
    with pytest.raises(fio.FioError, match="1000 are needed"):
        fio.judge(fio.combine([partial]), LIMITS, "/dev/vdb")
    strict = fio.Limits(partial.p50_us - 1, 1)
    assert fio.judge(fio.combine([partial]), strict, "/dev/vdb")[0] == "fail"
    assert fio.judge(fio.combine([partial] * 3), fio.Limits(10**6, 10**6), "/dev/vdb")[0] == "ok"


@pytest.mark.parametrize(
    ("max_ms", "warn_ms", "expected"),
    [(10, None, (10000, 5000)), (10, 8, (10000, 8000)), (5, 5, (5000, 5000)), (0.001, None, (1, 0))],
)
def test_limits(max_ms: float, warn_ms: float | None, expected: tuple[int, int]) -> None:
    assert fio.limits(max_ms, warn_ms) == fio.Limits(*expected)


@pytest.mark.parametrize(
    ("max_ms", "warn_ms", "message"),
    [
        (0, None, "fsync_p99_max_ms is 0, but must be above 0"),
        (float("nan"), None, "fsync_p99_max_ms is nan"),
        (float("inf"), None, "fsync_p99_max_ms is inf"),
        (10, -1, "fsync_p99_warn_ms is -1"),
        (10, 0, "fsync_p99_warn_ms is 0"),
        (10, 11, r"fsync_p99_warn_ms is 11, above fsync_p99_max_ms \(10\)"),
    ],
)
def test_limits_that_cannot_be_meant(max_ms: float, warn_ms: float | None, message: str) -> None:
    with pytest.raises(fio.FioError, match=message):
        fio.limits(max_ms, warn_ms)


@pytest.mark.parametrize(
    ("seconds", "warmup", "repeats", "expected"),
    [
        (30, 1, 3, (1, 3)),
        (10, 0, 1, (0, 1)),
        (1, 1, 3, (0, 1)),
        (2, 1, 3, (1, 1)),
        (3, 1, 3, (1, 2)),
        (5, 60, 3, (4, 1)),
    ],
)
def test_a_short_time_is_for_fewer_runs(seconds: int, warmup: int, repeats: int, expected: tuple[int, int]) -> None:
    assert fio.schedule(seconds, warmup, repeats) == expected


@pytest.mark.parametrize(
    ("profile", "left", "count", "seconds"),
    [("etcd", 29, 3, 9), ("etcd", 20, 1, 20), ("etcd", 0.5, 2, 1), ("openshift", 199, 3, 60), ("openshift", 30, 3, 10)],
)
def test_each_run_gets_its_share_of_the_time(profile: str, left: float, count: int, seconds: int) -> None:
    assert fio.run_seconds(fio.PROFILES[profile], left, count) == seconds


def test_a_record_comes_back_for_its_own_volume_and_pattern_only() -> None:
    record = fio.dump_record(runs(1729, 1800, 1700), "uuid-1", ETCD, 1795239113)
    assert fio.load_record(record, "uuid-1", ETCD) == (runs(1729, 1800, 1700), 1795239113)
    assert fio.load_record(record, "uuid-2", ETCD) is None
    assert fio.load_record(record, "uuid-1", OPENSHIFT) is None


def test_a_record_of_release_0_1_0_is_read() -> None:
    record = {
        "identity": "uuid-1",
        "measured_at": 1795239113,
        "block_bytes": 2300,
        "total_bytes": 23068672,
        "figures": vars(FIGURES),
    }
    assert fio.load_record(json.dumps(record), "uuid-1", ETCD) == (runs(1729), 1795239113)


@pytest.mark.parametrize("text", ["", "[]", "{}", "no json", '{"identity": "uuid-1"}'])
def test_a_broken_record_counts_as_none(text: str) -> None:
    assert fio.load_record(text, "uuid-1", ETCD) is None


@pytest.mark.parametrize(("name", "value"), [("figures", []), ("figures", {"p50_us": "x"}), ("p99_runs_us", 5)])
def test_a_record_with_broken_figures_counts_as_none(name: str, value: object) -> None:
    record = {**json.loads(fio.dump_record(runs(1729), "uuid-1", ETCD, 1)), name: value}
    assert fio.load_record(json.dumps(record), "uuid-1", ETCD) is None


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        ("etcd", ["--size=23068672", "--bs=2300", "--runtime=30", "--filename=f"]),
        ("rke2", ["--size=104857600", "--bs=2300", "--runtime=30", "--filename=f"]),
        ("openshift", ["--size=104857600", "--bs=8000", "--runtime=30", "--time_based", "--filename=f"]),
    ],
)
def test_the_patterns_are_those_of_the_guides(profile: str, words: list[str]) -> None:
    assert fio.command(fio.PROFILES[profile], "f", 30) == [
        *("fio", "--name=etcd", "--rw=write", "--ioengine=sync", "--fdatasync=1", "--thread"),
        *words,
        "--output-format=json",
    ]
