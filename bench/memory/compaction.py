#!/usr/bin/env python3
"""Measure what etcd's own compaction needs: the same load without it, and with a shorter and a longer retention.

Puts go to random keys. So a compaction deletes revisions beside others that it keeps, and bbolt writes these again. The constant
`compaction_rewritten` of the model comes from the cases of part "fit"; those of part "check" have other sizes. The figures are kept in
compaction.csv, and cases that are in the file are not measured again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import GIB, MIB

from bench.common.markdown import table
from bench.common.member import releases
from bench.common.signals import exit_on_signals
from bench.memory.cases import SERIES, Case
from bench.memory.measure import check_room, record
from bench.memory.predict import predicted
from bench.memory.random_workloads import load as random_load
from bench.memory.random_workloads.run import as_loaded, missing

RESULTS = Path(__file__).parent / "compaction.csv"
NEEDED_DISK, NEEDED_MEMORY = 8 * GIB, 4 * GIB
STARTS = 1
# Seconds that a load lasts; the longest retention is an eighth of it.
SECONDS = 64


def load(series: str, part: str, value: int, keys: int, rate: int, retention: int) -> Case:
    """Return a case that writes values of this size to random keys.

    rate: puts a second. retention: seconds between two compactions; 0 turns compaction off.
    """
    return Case(
        f"{value}-{retention}s" if retention else f"{value}-none",
        "compaction",
        part,
        series,
        value_size=value,
        key_size=32,
        keys=keys,
        puts=rate * SECONDS,
        rate=rate,
        clients=8,
        snapshot_count=500,
        catchup=100,
        retention=retention,
    )


def cases(series: Sequence[str] = SERIES) -> Iterator[Case]:
    """Return the cases of these series."""
    for one in series:
        for retention in (0, 2, 8):
            yield load(one, "fit", 100000, 3000, 150, retention)
        for retention in (0, 4):
            yield load(one, "check", 300000, 1000, 50, retention)


def compaction_table(rows: Sequence[dict[str, str]]) -> list[str]:
    """Return the table of measured peaks and the model's figure for each."""
    lines = []
    for row in sorted(rows, key=lambda row: (row["part"] != "fit", row["version"], int(row["value_size"]))):
        measured, model = float(row["rss_anon_peak"]), predicted(row)["rss_anon_peak"]
        puts = f"{float(row['puts_per_second']):,.0f}/s of {int(row['value_size']):,} B"
        retention = f"{row['retention']} s" if int(row["retention"]) else "none"
        cells = [f"{measured / MIB:,.0f}", f"{model / MIB:,.0f}", f"{100 * (model / measured - 1):+.0f} %"]
        lines.append([row["version"], row["part"], puts, f"{int(row['keys']):,}", retention, *cells])
    head = ["version", "part", "puts ", "keys ", "compaction every ", "measured, MiB ", "model, MiB ", "error "]
    return table(head, lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the memory that etcd's own compaction needs.")
    parser.add_argument("--series", action="append", default=[], choices=SERIES, help="only this series")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the figures are kept")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="where etcd keeps its data")
    options = parser.parse_args()
    versions = {version.rpartition(".")[0]: version for version in releases()}
    check_room(options.folder, NEEDED_DISK, NEEDED_MEMORY)
    exit_on_signals()
    failed = 0
    for case in missing(list(cases(options.series or SERIES)), options.results, 1):
        version = versions[case.series]
        figures = record(options.results, case, version, 1, options.folder, STARTS, random_load, as_loaded)
        if figures is None:
            failed += 1
            continue
        print(f"{version} {case.name:12} RssAnon {figures['rss_anon_peak'] / MIB:5.0f} MiB", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
