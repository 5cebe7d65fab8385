#!/usr/bin/env python3
"""Measure random workloads on real etcd of three releases, and keep the figures in bench/memory/random.csv.

Cases that are in the file are not measured again, so that a run that was interrupted, or whose --minutes have passed, continues
where it ended.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import GIB, MIB

from bench.common.member import releases
from bench.common.signals import exit_on_signals
from bench.memory.cases import SERIES, Case
from bench.memory.measure import check_room, record
from bench.memory.random_workloads import load as random_load
from bench.memory.random_workloads.cases import SEEDS, cases
from bench.memory.results import read

RESULTS = Path(__file__).parent.parent / "random.csv"
STARTS = 2
NEEDED_DISK, NEEDED_MEMORY = 24 * GIB, 6 * GIB


def missing(wanted: list[Case], path: Path, repeat: int) -> list[Case]:
    """Return the cases that the results do not have for this repeat."""
    known = {(row["series"], row["name"], row["repeat"]) for row in read(path)}
    return [case for case in wanted if (case.series, case.name, str(repeat)) not in known]


def as_loaded(case: Case, figures: dict[str, float]) -> Case:
    """Return the case with the number of keys that there were: the tool's random keys are not always those of its sequence."""
    return replace(case, keys=round(figures["keys"]))


def parse_arguments() -> argparse.Namespace:
    """Return the command line's options."""
    parser = argparse.ArgumentParser(description="Measure random workloads on real etcd.")
    parser.add_argument("--seed", action="append", type=int, default=[], help="only the cases of this seed")
    parser.add_argument("--series", action="append", default=[], choices=SERIES, help="only this series")
    parser.add_argument("--repeat", type=int, default=1, help="number of the repeat (default 1)")
    parser.add_argument(
        "--minutes", type=float, default=0, help="start no case after this many minutes (default: no limit)"
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the figures are kept")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="where etcd keeps its data")
    return parser.parse_args()


def main() -> int:
    options = parse_arguments()
    versions = {version.rpartition(".")[0]: version for version in releases()}
    open_cases = missing(cases(options.seed or SEEDS, options.series or SERIES), options.results, options.repeat)
    check_room(options.folder, NEEDED_DISK, NEEDED_MEMORY)
    exit_on_signals()
    began, failed = time.monotonic(), 0
    for number, case in enumerate(open_cases, 1):
        start = time.monotonic()
        if options.minutes and start - began > options.minutes * 60:
            print(f"{len(open_cases) - number + 1} cases are left")
            break
        figures = record(
            options.results,
            case,
            versions[case.series],
            options.repeat,
            options.folder,
            STARTS,
            random_load,
            as_loaded,
        )
        if figures is None:
            failed += 1
            continue
        print(
            f"{number}/{len(open_cases)} {case.series} {case.name:8} RssAnon {figures['rss_anon_peak'] / MIB:5.0f} MiB, "
            f"restart {figures['restart_rss_anon_peak'] / MIB:5.0f} MiB, {figures['puts_per_second']:6.0f} puts/s, "
            f"{time.monotonic() - start:3.0f} s",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
