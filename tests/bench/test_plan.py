# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan benchmark: parsing etcd's benchmark, percentiles over slices, verdicts, files, and a limit that kills a process.

Not below tests/unit, because ansible-test sees nothing of bench/.
"""

from __future__ import annotations

import math
import random
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.common.statistics import quartile_spread
from bench.plan import cgroup, report, results
from bench.plan.configurations import CONFIGURATIONS, LIMITED, PLAN, UNLIMITED, flags, snapshot_index
from bench.plan.load import Slice, below, parse, quantile
from bench.plan.picture import draw
from bench.plan.verdict import judge
from bench.plan.workloads import WORKLOADS

REPORT = """
Summary:
  Total:\t1.253004202 secs.
  Slowest:\t0.010193504 secs.
  Fastest:\t0.000274568 secs.
  Average:\t0.0012464823991999987 secs.
  Stddev:\t0.0010701197763991316 secs.
  Requests/sec:\t3990.4096027923774

Response time histogram:
  0.000274568 [1]\t|
  0.0012664616 [3609]\t|∎∎∎

Latency distribution:
  10% in 0.000526924 secs.
  50% in 0.000901682 secs.
  99% in 0.006509213 secs.
  99.9% in 0.008425574 secs.
"""
ERRORS = """
Error distribution:
  [12]\tetcdserver: mvcc: database space exceeded
  [3]\trpc error: code = Unavailable desc = error reading from server: EOF
"""


def test_reads_the_benchmarks_report() -> None:
    found = parse(REPORT)
    assert (found.puts, found.seconds, found.errors) == (5000, 1.253004202, 0)
    points = ((0.0, 0.000274568), (0.1, 0.000526924), (0.5, 0.000901682), (0.99, 0.006509213), (0.999, 0.008425574))
    assert found.quantiles == (*points, (1.0, 0.010193504))


def test_counts_errors_but_no_bars_of_the_histogram() -> None:
    assert parse(REPORT + ERRORS).errors == 15


@pytest.mark.parametrize("output", ["", "panic: runtime error", REPORT.replace("Requests/sec", "Requests")])
def test_says_when_there_is_no_report(output: str) -> None:
    with pytest.raises(ValueError, match="report has no"):
        parse(output)


def sample(latencies: list[float]) -> Slice:
    """A slice as the benchmark would report these latencies."""
    ordered = sorted(latencies)
    points = [(share, ordered[int(share * (len(ordered) - 1))]) for share in results.SHARES]
    return Slice(len(ordered), 1.0, tuple(points))


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_percentiles_over_slices_are_those_of_all_puts(share: float) -> None:
    rng = random.Random(1)
    # One slice is twice as slow as the others: its tail decides, and a mean of the slices' percentiles would be wrong.
    slices = [[rng.lognormvariate(0, 0.5) * (2 if number == 3 else 1) for _ in range(3000)] for number in range(6)]
    exact = sorted(latency for one in slices for latency in one)[int(share * 18_000)]
    assert math.isclose(quantile([sample(one) for one in slices], share), exact, rel_tol=0.05)


def test_percentiles_weigh_slices_by_their_puts() -> None:
    fast, slow = Slice(9900, 1, ((0.0, 1.0), (1.0, 1.0))), Slice(100, 1, ((0.0, 5.0), (1.0, 5.0)))
    assert quantile([fast, slow], 0.98) == pytest.approx(1.0)
    assert quantile([fast, slow], 0.995) == pytest.approx(5.0)


@pytest.mark.parametrize(
    ("seconds", "share"), [(0.5, 0.0), (1.0, 0.0), (2.0, 0.25), (3.0, 0.5), (5.0, 1.0), (9.0, 1.0)]
)
def test_share_below(seconds: float, share: float) -> None:
    assert below([(0.0, 1.0), (0.5, 3.0), (1.0, 5.0)], seconds) == pytest.approx(share)


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("0000000000000002-000000000000c353.snap", 50003),
        ("0000000000000002-0000000000000000.snap", 0),
        ("0000000000000005.snap.db", 0),
        ("db", 0),
    ],
)
def test_index_of_a_disk_snapshot(name: str, index: int) -> None:
    assert snapshot_index(name) == index


@pytest.mark.parametrize(
    ("version", "flag"),
    [("3.5.35", "--experimental-snapshot-catchup-entries=7"), ("3.7.3", "--snapshot-catchup-entries=7")],
)
def test_flags_are_spelt_as_the_version_knows_them(version: str, flag: str) -> None:
    assert flags(version, {"snapshot_catchup_entries": 7}) == [flag]


HYBRID = (
    "30 29 0:27 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "31 29 0:28 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
)


def test_finds_the_memory_controller_of_a_hybrid_machine() -> None:
    assert cgroup.find(HYBRID) == cgroup.Hierarchy(1, Path("/sys/fs/cgroup/memory"))


def test_finds_the_memory_controller_of_v2(tmp_path: Path) -> None:
    mount = f"31 29 0:28 / {tmp_path} rw,relatime - cgroup2 cgroup2 rw\n"
    (tmp_path / "cgroup.controllers").write_text("cpu io memory pids\n")
    assert cgroup.find(mount) == cgroup.Hierarchy(2, tmp_path)


@pytest.mark.parametrize("controllers", ["cpu io pids\n", ""])
def test_says_when_there_is_no_memory_controller(tmp_path: Path, controllers: str) -> None:
    (tmp_path / "cgroup.controllers").write_text(controllers)
    with pytest.raises(cgroup.NoMemoryCgroup, match="no memory controller is mounted"):
        cgroup.find(f"31 29 0:28 / {tmp_path} rw,relatime - cgroup2 cgroup2 rw\n")


def test_limits_of_v2_are_written_and_its_counters_read(tmp_path: Path) -> None:
    """Checks files only, because a machine has one version of the controller. The next test uses the one of this machine."""
    group = cgroup.Group.make(cgroup.Hierarchy(2, tmp_path), "a", 1 << 30, 900 << 20)
    assert (group.path / "memory.max").read_text() == str(1 << 30)
    assert (group.path / "memory.high").read_text() == str(900 << 20)
    assert (group.path / "memory.swap.max").read_text() == "0"
    (group.path / "memory.events").write_text("low 0\nhigh 3\nmax 17\noom 2\noom_kill 1\noom_group_kill 0\n")
    (group.path / "memory.stat").write_text("anon 4096\npgfault 9\npgmajfault 5\n")
    (group.path / "memory.peak").write_text("123456\n")
    assert (group.oom_kills(), group.major_faults(), group.peak()) == (1, 5, 123456)


def test_a_limit_kills_and_it_is_noticed() -> None:
    hierarchy = cgroup.find(Path("/proc/self/mountinfo").read_text())
    try:
        cgroup.prepare(hierarchy)
    except cgroup.NoMemoryCgroup as error:
        pytest.skip(str(error))
    group = cgroup.Group.make(hierarchy, "test", 32 << 20)
    try:
        fill = [sys.executable, "-c", "x = bytearray(b'x' * (200 << 20))"]
        done = subprocess.run([*group.prefix(), *fill], timeout=60, check=False)
        assert done.returncode == -9
        assert group.oom_kills() == 1
        assert group.peak() >= 31 << 20
        left = subprocess.Popen([*group.prefix(), "sleep", "60"])
        deadline = time.monotonic() + 10
        while not cgroup.words(group.path / "cgroup.procs") and time.monotonic() < deadline:
            time.sleep(0.01)
    finally:
        group.remove()
    assert left.wait(5) == -9
    assert not group.path.exists()


def a_row(workload: str, repeat: int, configuration: str, outcome: str) -> results.Row:
    return results.Row(
        workload=workload,
        repeat=repeat,
        configuration=configuration,
        date="2026-01-01",
        version="3.7.3",
        members=1,
        value_size=100_000,
        keys=2000,
        stated_puts_per_second=2000,
        paced=False,
        clients=32,
        puts=4000,
        budget=1 << 30,
        memory_max=0 if configuration == UNLIMITED else 1 << 30,
        memory_high=0,
        gomemlimit="879MiB" if configuration == PLAN else "",
        gogc="",
        snapshot_count=5000,
        snapshot_catchup_entries=1000,
        planned_rss_anon_peak=800 << 20,
        planned_restart_rss_anon_peak=900 << 20,
        outcome=outcome,
        rss_anon_peak=700 << 20,
        restart_rss_anon_peak=750 << 20,
        restart_entries=4900,
        restart_seconds=2.5,
        cgroup_peak=1 << 30,
        major_faults=12,
        oom_kills=int(outcome.startswith("killed")),
    )


def some_runs(speed: float = 1.0, latency: float = 1.0, outcome: str = "survived") -> list[results.Run]:
    """Two repeats of two slices; the plan's speed, latency and outcome against 1,000 puts/s and 1 s."""

    def part(seconds: float, slowest: float, number: int) -> Slice:
        points = tuple((share, round(slowest * (0.2 + 0.8 * share), 6)) for share in results.SHARES)
        return Slice(1000 + number, seconds, points)

    runs = []
    for repeat in range(2):
        fates = {PLAN: outcome, LIMITED: "killed", UNLIMITED: "survived"}
        for configuration in CONFIGURATIONS:
            ours = configuration == PLAN
            one = [part(1 / speed if ours else 1.0, latency if ours else 1.0, number) for number in range(2)]
            row = a_row("3.7 100 kB", repeat, configuration, fates[configuration])
            runs.append(results.Run(row, tuple(one)))
    return runs


@pytest.mark.parametrize(
    ("changes", "survived", "fast", "prompt", "covered"),
    [
        ({}, True, True, True, True),
        ({"speed": 1.5, "latency": 0.5}, True, True, True, True),
        ({"speed": 0.951, "latency": 1.099}, True, True, True, True),
        ({"speed": 0.94}, True, False, True, True),
        ({"latency": 1.11}, True, True, False, True),
        ({"outcome": "killed"}, False, True, True, True),
        ({"outcome": "killed at restart"}, False, True, True, True),
        ({"outcome": "stalled"}, False, True, True, True),
        ({"speed": 2.5}, True, True, True, False),
    ],
)
def test_verdicts(changes: dict[str, Any], survived: bool, fast: bool, prompt: bool, covered: bool) -> None:
    [verdict] = judge(some_runs(**changes))
    found = (verdict.survived, verdict.fast_enough, verdict.prompt_enough, verdict.covered)
    assert found == (survived, fast, prompt, covered)
    assert verdict.holds == all(found)
    assert verdict.killed == 2


def test_refused_puts_break_a_claim() -> None:
    runs = some_runs()
    runs[0] = results.Run(runs[0].row, (replace(runs[0].slices[0], errors=3), *runs[0].slices[1:]))
    [verdict] = judge(runs)
    assert verdict.errors == 3
    assert not verdict.holds


def test_a_plan_that_falls_at_once_breaks_every_claim() -> None:
    runs = [replace(run, slices=()) if run.row.configuration == PLAN else run for run in some_runs(outcome="killed")]
    [verdict] = judge(runs)
    assert not (verdict.survived or verdict.fast_enough or verdict.prompt_enough)


@pytest.mark.parametrize(("values", "found"), [([3.0], (3.0, 3.0)), ([1.0, 2.0, 3.0, 4.0, 5.0], (2.0, 4.0))])
def test_quartiles(values: list[float], found: tuple[float, float]) -> None:
    spread = quartile_spread(values)
    assert (spread.low, spread.high) == found


def test_files_keep_what_was_measured(tmp_path: Path) -> None:
    machine = {"cores": "2", "kernel": "6.1: a name"}
    runs = some_runs()
    results.write(tmp_path, machine, runs)
    assert results.read(tmp_path) == (machine, runs)
    before = (tmp_path / "results.csv").read_bytes(), (tmp_path / "slices.csv").read_bytes()
    results.write(tmp_path, *results.read(tmp_path))
    assert ((tmp_path / "results.csv").read_bytes(), (tmp_path / "slices.csv").read_bytes()) == before


def test_new_runs_replace_those_of_the_same_workload() -> None:
    old, other = some_runs(), [replace(run, row=replace(run.row, workload="other")) for run in some_runs()]
    merged = results.merge(old + other, some_runs(speed=2.0))
    assert merged == other + some_runs(speed=2.0)


def test_report_and_picture_depend_on_the_files_only(tmp_path: Path) -> None:
    verdicts = judge(
        some_runs() + [replace(run, row=replace(run.row, workload="other")) for run in some_runs(speed=0.9)]
    )
    machine = {"cores": "2", "memory": "4 GiB", "kernel": "6.1", "filesystem": "ext4", "cgroup": "v2"}
    text = report.document(machine, verdicts)
    assert "were killed or stalled by their MemoryMax in 0 of 4 runs" in text
    assert "limit: 1 of 2 workloads" in text
    assert "were killed in 4 of 4 runs, 2 of 2 workloads" in text
    assert "90% (90–90%) ✗" in text
    for folder in ("a", "b"):
        draw(verdicts, tmp_path / folder)
    for name in ("proof.svg", "proof.png"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_names_of_workloads_are_unique_and_all_series_and_seeds_are_among_them() -> None:
    assert len({work.name for work in WORKLOADS}) == len(WORKLOADS) >= 8
    assert {work.version[:3] for work in WORKLOADS} == {"3.5", "3.6", "3.7"}
    assert {10_000, 100_000, 1_000_000} <= {work.value_size for work in WORKLOADS if work.version.startswith("3.5")}
    assert any(work.members == 3 for work in WORKLOADS)
    assert max(work.disk for work in WORKLOADS) <= 20e9 + (1 << 30)
    for work in WORKLOADS:
        assert work.puts % work.slices == 0
