#!/usr/bin/env python3
"""Measure how much memory a start takes that only reads the database: no raft log to replay, and no clients.

The constants `restore_garbage…` of the model come from cases like those of part "fit"; those of part "check" have other sizes. What a start allocates
while the collector marks depends on how much of the CPU it gets, so each case is measured alone (repeat 1) and beside processes that compute
all the time (repeat 2). Keys that were written again in random order take longer to index, so more revisions wait: these cases check
`restore_queue…`. The figures are kept in starts.csv, and cases that are in the file are not measured again.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import GIB, MIB
from ansible_collections.etcdops.headroom.plugins.module_utils._model.estimate import estimate

from bench.common.markdown import table
from bench.common.member import Member, releases
from bench.common.signals import exit_on_signals
from bench.memory import load, predict
from bench.memory.cases import SERIES, Case
from bench.memory.measure import check_room, record
from bench.memory.random_workloads import load as random_load
from bench.memory.results import read

RESULTS = Path(__file__).parent / "starts.csv"
STARTS = 5
NEEDED_DISK, NEEDED_MEMORY = 8 * GIB, 4 * GIB
# How long a start is watched after the member is healthy: the garbage collector has run by then.
SETTLE_SECONDS = 1.5
# Processes that compute beside a start: four for each core of the machine that the figures come from.
BUSY = 8
ALONE, BESIDE = 1, 2
# Each key has this many revisions.
VERSIONS = 3
SHUFFLED = "-shuffled"
# Entries that a start replays may have this many bytes, or be ten.
MOST_REPLAYED, FEWEST_ENTRIES, MOST_ENTRIES = MIB, 10, 1000


def database(series: str, part: str, value: int, revisions: int, gogc: int = 100, gomemlimit: int = 0) -> Case:
    """Return a case with this many revisions of values of this size, and hardly any raft log."""
    snapshot = max(FEWEST_ENTRIES, min(MOST_ENTRIES, MOST_REPLAYED // value))
    limits = [f"gogc-{gogc}"] * (gogc != 100) + [f"limit-{gomemlimit // MIB}"] * bool(gomemlimit)
    return Case(
        "-".join([f"{revisions}x{value}", *limits]),
        "start",
        part,
        series,
        value_size=value,
        keys=revisions // VERSIONS,
        puts=revisions,
        clients=32,
        snapshot_count=snapshot,
        catchup=FEWEST_ENTRIES,
        gogc=gogc,
        gomemlimit=gomemlimit,
    )


def shuffled(series: str, part: str, value: int, keys: int, key: int) -> Case:
    """Return a case whose keys, of this size, are written once in sequence and then in random order."""
    case = database(series, part, value, keys * VERSIONS)
    return replace(case, name=f"{case.name}-keys-{key}{SHUFFLED}", key_size=key)


def cases(series: Sequence[str] = SERIES) -> Iterator[Case]:
    """Return the cases of these series."""
    for one in series:
        yield database(one, "fit", 1000000, 600)
        yield database(one, "fit", 300000, 2700)
        yield database(one, "fit", 100000, 3000)
        yield database(one, "fit", 100000, 9000, gomemlimit=64 * MIB)
        yield database(one, "fit", 30000, 18000)
        yield database(one, "fit", 3000, 21000)
        yield database(one, "fit", 1000, 150000)
        yield database(one, "fit", 100000, 3000, gogc=25)
        yield database(one, "fit", 100000, 3000, gogc=200)
        yield database(one, "check", 500000, 1500)
        yield database(one, "check", 60000, 6000)
        yield database(one, "check", 10000, 60000)
        yield shuffled(one, "fit", 12000, 30000, 324)
        yield shuffled(one, "fit", 12000, 30000, 32)
        yield shuffled(one, "check", 7000, 30000, 128)
        # Fewer keys than the cache of the index holds.
        yield shuffled(one, "check", 12000, 8000, 128)


class Idle:
    """Loads the members of a case, and leaves them alone after a restart."""

    def apply(self, members: Sequence[Member], case: Case) -> float:
        """Put the values and return the puts a second."""
        return random_load.write(members, case) if case.name.endswith(SHUFFLED) else load.apply(members, case)

    def after_restart(self, members: Sequence[Member], case: Case) -> None:
        """Wait for the end of the start."""
        time.sleep(SETTLE_SECONDS)


def predicted(row: dict[str, str]) -> int:
    """Return the model's peak of RssAnon after a restart of an idle member, in bytes."""
    workload = {**predict.workload_of(row, "restart"), "clients": 1, "puts_per_second": 1}
    peak: int = estimate(row["version"], workload, predict.settings_of(row, "restart"), 1)["restart_rss_anon_peak"]
    return peak


def starts_table(rows: Sequence[dict[str, str]]) -> list[str]:
    """Return the table of measured starts and the model's figure for each."""
    found: dict[tuple[str, str, str], dict[int, dict[str, str]]] = {}
    for row in rows:
        found.setdefault((row["part"], row["series"], row["name"]), {})[int(row["repeat"])] = row
    lines = []
    for _, runs in sorted(found.items(), key=lambda item: item[0][:2]):
        row, model = next(iter(runs.values())), predicted(next(iter(runs.values())))
        limit = f"{int(row['gomemlimit']) // MIB} MiB" if int(row["gomemlimit"]) else "–"
        size = f"{int(row['puts']):,} × {int(row['value_size']):,} B"
        keys = f"{int(row['key_size'])} B" + (", shuffled" if row["name"].endswith(SHUFFLED) else "")
        highest = max(float(run["restart_rss_anon_peak"]) for run in runs.values())
        measured = [measured_range(runs.get(repeat)) for repeat in (ALONE, BESIDE)]
        error = f"{100 * (model / highest - 1):+.0f} %"
        lines.append(
            [row["version"], row["part"], size, keys, row["gogc"], limit, *measured, f"{model / MIB:,.0f}", error]
        )
    head = [
        "version",
        "part",
        "revisions ",
        "keys",
        "GOGC ",
        "GOMEMLIMIT ",
        "alone, MiB ",
        "busy, MiB ",
        "model, MiB ",
        "error ",
    ]
    return table(head, lines)


def measured_range(row: dict[str, str] | None) -> str:
    """Return the lowest and the highest peak of a row in MiB."""
    if row is None:
        return "–"
    return f"{float(row['restart_rss_anon_least']) / MIB:,.0f} to {float(row['restart_rss_anon_peak']) / MIB:,.0f}"


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """Let this many processes compute while the block runs."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure starts of real etcd over a large database.")
    parser.add_argument("--series", action="append", default=[], choices=SERIES, help="only this series")
    parser.add_argument("--busy", action="store_true", help=f"beside {BUSY} processes that compute all the time")
    parser.add_argument("--case", action="append", default=[], help="only the cases of this name")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the figures are kept")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="where etcd keeps its data")
    options = parser.parse_args()
    versions = {version.rpartition(".")[0]: version for version in releases()}
    repeat = BESIDE if options.busy else ALONE
    known = {(row["series"], row["name"]) for row in read(options.results) if int(row["repeat"]) == repeat}
    check_room(options.folder, NEEDED_DISK, NEEDED_MEMORY)
    exit_on_signals()
    failed = 0
    for case in cases(options.series or SERIES):
        if (case.series, case.name) in known or (options.case and case.name not in options.case):
            continue
        with busy(BUSY if options.busy else 0):
            figures = record(options.results, case, versions[case.series], repeat, options.folder, STARTS, Idle())
        if figures is None:
            failed += 1
            continue
        print(
            f"{case.series} {case.name:20} RssAnon of {STARTS} starts {figures['restart_rss_anon_least'] / MIB:.0f} to "
            f"{figures['restart_rss_anon_peak'] / MIB:.0f} MiB, {figures['restart_seconds']:.1f} s",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
