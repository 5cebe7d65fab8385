# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The random memory workloads: the generator is reproducible and bounded, a run continues, and the report counts errors."""

from __future__ import annotations

import statistics
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB

from bench.memory import predict, results
from bench.memory.cases import SERIES
from bench.memory.points import Point
from bench.memory.predict import case_of
from bench.memory.random_workloads import report as random_report
from bench.memory.random_workloads.cases import (
    FILLS,
    MAX_BYTES,
    MAX_INDEX,
    MAX_LOG,
    MIN_PUTS,
    SECONDS,
    WRITES_OF_A_KEY,
    cases,
    generate,
    part_of,
    reached,
)
from bench.memory.random_workloads.load import BYTES_AFTER, MAX_WATCH_EVENTS, puts_after_restart, watch_puts
from bench.memory.random_workloads.points import is_low, is_near, is_reached, predicted, random_points, workload_of
from bench.memory.random_workloads.run import RESULTS, missing

PROJECT = Path(__file__).resolve().parents[2]
MANY = cases(range(1, 201))


def row(case: str = "seed-1", version: str = "3.7.3", **columns: object) -> dict[str, str]:
    """Return a row of the results: a generated case with other columns."""
    generated = generate(int(case.removeprefix("seed-")), version[:3])
    figures = dict.fromkeys(results.MEASURED, 0.0) | {"rss_anon_peak": 100.0 * MIB, "restarts": 2.0}
    found = results.row_of(generated, version, 1, figures)
    return found | {name: str(value) for name, value in columns.items()}


def point(measured: float, model: float, lowest: float = 0, middle: float = 0, **columns: object) -> Point:
    """Return a point; sizes in MiB."""
    low, middle = lowest or measured, middle or measured
    sizes = [int(size * MIB) for size in (measured, model, low, middle)]
    return Point(row(**columns), "RssAnon peak", *sizes)  # type: ignore[arg-type]


def test_a_seed_always_gives_the_same_case() -> None:
    assert generate(7, "3.6") == generate(7, "3.6")
    assert replace(generate(7, "3.6"), series="3.7") != generate(7, "3.7"), "each series has workloads of its own"


def test_odd_seeds_are_held_out() -> None:
    assert {part_of(seed, 33) for seed in range(1, 10, 2)} == {"held out"}
    assert {part_of(seed, 33) for seed in range(2, 11, 2)} == {"random"}
    assert {part_of(seed, 33) for seed in range(21, 33)} == {"held out"}
    assert {part_of(seed, 33) for seed in range(33, 40)} == {"unseen"}


@pytest.mark.parametrize("series", SERIES)
def test_every_case_is_bounded_and_fills_its_raft_log_several_times(series: str) -> None:
    for case in (one for one in MANY if one.series == series):
        size = case.value_size + case.key_size
        assert 64 <= case.value_size <= MIB and 16 <= case.key_size <= 400, case
        assert case.members * case.keys * (case.key_size + 200) <= MAX_INDEX, case
        assert case.puts * size * case.members <= max(MAX_BYTES, MIN_PUTS * size * case.members), case
        assert case.members * (case.snapshot_count + case.catchup) * size <= MAX_LOG, case
        assert puts_after_restart(case) * size * case.members <= BYTES_AFTER + MAX_LOG, case
        assert case.catchup > 0 and case.snapshot_count >= 100, case
        assert FILLS * (case.catchup + case.snapshot_count) <= case.puts, case
        assert WRITES_OF_A_KEY * case.keys <= case.puts, "etcd has something to compact"
        assert case.watched_keys <= max(1, min(case.keys, case.streams * case.watchers_per_stream)), case
        assert case.streams * case.watchers_per_stream <= max(case.keys, 1), "a put makes at most one event on average"


def test_a_case_lasts() -> None:
    seconds = [
        case.puts / reached(case.rate, case.clients, case.value_size + case.key_size, case.members) for case in MANY
    ]
    assert min(seconds) >= 5 and statistics.median(seconds) == pytest.approx(SECONDS, rel=0.01)


def test_the_watches_outlast_the_load_and_their_tool_can_count_the_events() -> None:
    for case in (case for case in MANY if case.streams):
        watched = [number % case.watched_keys for number in range(case.streams * case.watchers_per_stream)]
        assert 100 * SECONDS <= watch_puts(case) <= MAX_WATCH_EVENTS // watched.count(0), case


def test_sizes_are_spread_evenly_over_their_logarithm() -> None:
    values = [case.value_size for case in MANY]
    assert 6000 < statistics.median(values) < 11000, "the middle between 64 B and 1 MiB is 8 KiB"
    assert min(values) < 100 and max(values) > 700000
    assert {case.members for case in MANY} == {1, 3} and {case.tls for case in MANY} == {True, False}


def test_a_run_continues_with_the_cases_that_are_missing(tmp_path: Path) -> None:
    path = tmp_path / "random.csv"
    wanted = cases([1, 2])
    assert missing(wanted, path, 1) == wanted
    results.keep(path, row("seed-1", "3.7.3"))
    left = [(case.series, case.name) for case in missing(wanted, path, 1)]
    assert ("3.7", "seed-1") not in left and len(left) == len(wanted) - 1
    assert missing(wanted, path, 2) == wanted, "another repeat has no rows yet"


def test_single_runs_are_compared_with_the_highest_of_their_case() -> None:
    runs = [point(measured, 100) for measured in (100, 80, 50)]
    once = [point(measured, 100, case="seed-2") for measured in (100, 10)]
    cells = [cell.strip() for cell in random_report.single_runs([*runs, *once])[-1].split("|")[1:-1]]
    assert cells == ["RssAnon peak", "1", "3", "25.0 %", "100.0 %", "100.0 %"]


def test_a_database_has_at_most_the_revisions_that_were_put() -> None:
    """12 s of history would be 24,000 revisions beyond the 4,000 keys, but the load ended after 5,000 puts."""
    short = row(keys=4000, puts=5000, puts_per_second=2000, retention=6, value_size=1000, key_size=100, members=1)
    found = predicted(short, "running")
    assert 5000 * 1100 <= found["db_in_use"] <= found["db_size"] < 1.5 * 5000 * 1100
    long = {**short, "puts": "50000"}
    assert predicted(long, "running")["db_in_use"] > 28000 * 1100


def test_only_loads_without_puts_open_the_watches_of_a_chosen_case() -> None:
    watching = {"streams": 400, "watchers_per_stream": 2, "watched_keys": 100, "connections": 50}
    held = predict.workload_of(row(**watching, puts=0), "running")
    assert (held["watch_streams"], held["watchers"], held["watched_ranges"]) == (400, 800, 100)
    assert predict.workload_of(row(**watching, puts=1000), "running")["watch_streams"] == 0


def test_the_workload_of_a_case_is_what_a_user_would_state() -> None:
    found = workload_of(
        row(keys=100, puts=290, clients=30, connections=5, streams=10, watchers_per_stream=4, watched_keys=8), "running"
    )
    assert found["keys"] == 100 and "revisions_per_key" not in found, "they follow from etcd's compaction"
    assert found["clients"] == 15, "10 of three members, and the watches have connections of their own"
    assert found["writers"] == 10, "those of the watches put nothing"
    assert (found["watch_streams"], found["watchers"], found["watched_ranges"]) == (10, 40, 8)
    few = workload_of(row(members=1, clients=2, connections=20, streams=20), "running")
    assert few["clients"] == 22, "the connections of the watches count once, also where there are fewer clients"


@pytest.mark.parametrize(
    ("version", "replayed", "puts", "entries"),
    [
        ("3.7.3", "8", 30000, 8),  # a disk snapshot was saved just before the end
        ("3.7.3", "", 30001, 1),
        ("3.6.16", "", 30000, 5000),  # nobody counted: before or after the last snapshot
        ("3.5.35", "8", 30000, 5000),
    ],
)
def test_a_restart_replays_the_entries_since_the_last_disk_snapshot(
    version: str, replayed: str, puts: int, entries: int
) -> None:
    found = row(version=version, replayed=replayed, puts=puts, snapshot_count=5000, txn_ops=1)
    assert predict.settings_of(found, "restart")["snapshot_count"] == entries
    assert predict.settings_of(found, "running")["snapshot_count"] == 5000


@pytest.mark.parametrize(
    ("found", "low", "near"),
    [
        (point(1000, 951), False, True),
        (point(1000, 940), True, True),
        (point(100, 91), False, True),  # 9 %, but less than 10 MiB
        (point(100, 89), True, True),
        (point(100, 131), False, True),
        (point(100, 133), False, False),
        (point(1000, 1210), False, False),
        (point(1000, 800, lowest=700, middle=820), False, True),  # the runs vary, and the model is near the median
        (point(1000, 700, lowest=700, middle=820), True, False),
    ],
)
def test_too_low_and_near(found: Point, low: bool, near: bool) -> None:
    assert (is_low(found), is_near(found)) == (low, near)


def test_the_aim_needs_all_three_conditions() -> None:
    good = [point(1000, 1040)] * 20
    assert is_reached(good)
    assert is_reached([*good, point(1000, 1300)]), "one of 21 may be far above"
    assert not is_reached([*good, point(1000, 1300), point(1000, 1300)])
    assert not is_reached([*good, point(1000, 940)])
    assert not is_reached([point(1000, 1070)] * 20)


def test_the_report_counts_each_error_once() -> None:
    found = [point(1000, 1000 + 10 * error, case=f"seed-{error + 31}") for error in range(-30, 60)]
    lines = random_report.distribution(found)
    counts = [sum(int(cell) for cell in line.split("|")[2:-1]) for line in lines[2:]]
    assert sum(counts) == len(found)
    assert "above +40 %" in lines[-1] and counts[-1] == 19
    assert random_report.cases(found)[2].split("|")[2].strip() == "1", "the lowest comes first"


def test_the_results_are_those_of_the_seeds() -> None:
    """The number of keys is the measured one; each other column must be what the seed gives today."""
    rows = results.read(RESULTS)
    for found in rows:
        drawn = generate(int(found["name"].removeprefix("seed-")), found["series"])
        assert replace(case_of(found), keys=drawn.keys) == drawn
    assert missing(cases(), RESULTS, 1) == []
    assert len(rows) >= 24
    assert sum(found["part"] != "random" for found in rows) >= len(rows) // 2


def test_the_readme_has_the_figures_of_the_results() -> None:
    readme = " ".join((PROJECT / "README.md").read_text(encoding="utf-8").split())
    found = random_points(results.read(RESULTS))
    running = [point for point in found if point.what == "RssAnon peak"]
    unfitted = [point for point in running if point.row["part"] != "random"]
    far = [100 * point.error for point in running if not is_near(point)]
    restart = [100 * point.error for point in found if point.what == "after a restart"]
    assert not any(map(is_low, running)) and min(far) > 0
    for text in (
        f"Of {len(running)} random workloads, {sum(map(is_near, running))} were within 20 % or 32 MiB",
        f"({sum(map(is_near, unfitted))} of the {len(unfitted)} that no constant was fitted to). The others",
        f"overestimated, by up to {max(far):.0f} %. No estimate was too low",
        f"was up to {-min(restart):.0f} % too low and up to {max(restart):.0f} % too high for random workloads",
    ):
        assert text in readme, text
