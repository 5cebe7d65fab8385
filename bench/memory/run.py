#!/usr/bin/env python3
"""Measure the memory of real etcd, case by case, and keep the figures in results.csv.

`run.py` measures the whole grid, `run.py --quick` a few cases, `run.py --case NAME` those named; each with --series and
--repeat. New rows replace those of the same cases. `report.py` compares them with the model.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB

from bench.common.member import releases
from bench.common.signals import exit_on_signals
from bench.memory import published
from bench.memory.cases import grid
from bench.memory.measure import RESTARTS, check_room, record
from bench.memory.results import RESULTS


def parse_arguments() -> argparse.Namespace:
    """Return the command line's options, with the chosen cases in `chosen`."""
    parser = argparse.ArgumentParser(description="Measure the memory of real etcd, case by case.")
    parser.add_argument("--quick", action="store_true", help="a few cases, in less than five minutes")
    parser.add_argument("--case", action="append", default=[], help="only the cases of this name")
    parser.add_argument("--component", action="append", default=[], help="only the cases of this component")
    parser.add_argument("--part", choices=("fit", "check", "unseen", "published"), help="only the cases of this part")
    parser.add_argument("--series", action="append", default=[], help="only this series: 3.5, 3.6 or 3.7")
    parser.add_argument("--repeat", type=int, default=1, help="measure each case this many times (default 1)")
    parser.add_argument(
        "--first-repeat", type=int, default=1, help="number of the first repeat, to add to what is there"
    )
    parser.add_argument(
        "--starts",
        type=int,
        default=RESTARTS,
        help=f"restart each member this many times on the same data (default {RESTARTS})",
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the figures are kept")
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()), help="where etcd keeps its data during the runs"
    )
    options = parser.parse_args()
    measurable = [row.case for row in published.rows() if published.measurable(row)]
    options.chosen = [
        case
        for case in [*grid(), *measurable]
        if (not options.quick or case.quick)
        and (not options.case or case.name in options.case)
        and (not options.component or case.component in options.component)
        and (not options.part or case.part == options.part)
        and (not options.series or case.series in options.series)
    ]
    if not options.chosen:
        parser.error("no case is left")
    return options


def main() -> int:
    """Measure the chosen cases, and save each result at once."""
    options = parse_arguments()
    versions = {version.rpartition(".")[0]: version for version in releases()}
    chosen = options.chosen
    check_room(options.folder)
    exit_on_signals()
    began = time.monotonic()
    failed = 0
    for number, (case, repeat) in enumerate(
        [(case, options.first_repeat + turn) for turn in range(options.repeat) for case in chosen], 1
    ):
        start = time.monotonic()
        figures = record(options.results, case, versions[case.series], repeat, options.folder, options.starts)
        if figures is None:
            failed += 1
            continue
        print(
            f"{number}/{len(chosen) * options.repeat} {time.monotonic() - began:5.0f} s  {case.series} {case.name:24} "
            f"RssAnon {figures['rss_anon_peak'] / MIB:6.0f} MiB, restart {figures['restart_rss_anon_peak'] / MIB:6.0f} MiB, "
            f"live heap {figures['heap_live'] / MIB:6.0f} MiB, {figures['puts_per_second']:.0f} puts/s, {time.monotonic() - start:.0f} s",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
