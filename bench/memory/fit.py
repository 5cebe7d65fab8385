#!/usr/bin/env python3
"""Fit the model's constants to the measured cases of part "fit", and print them beside those that the model has.

Each constant is moved, one after the other, to where the model comes closest to what was measured, until none moves any more.
The aim lies a little above the measurement (AIM), because a limit that is too low kills, and one that is a little too high
does not. Nothing is written: what the figures say is judged by a person and put into model/memory.yml, rounded.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import CONSTANTS_HIGH

from bench.memory.predict import predicted
from bench.memory.results import RESULTS, read

AIM = 1.05
FIGURES = {"rss_anon_peak": "running", "restart_rss_anon_peak": "restart"}
# constant -> (minimum, maximum, step) in its own unit. Of a range, only the high end is fitted, because the peaks use it.
RANGES: dict[str, tuple[int, int, int]] = {
    "base_heap": (4 << 20, 12 << 20, 128 << 10),
    "peer_connection": (0, 12 << 20, 256 << 10),
    "connection": (4096, 131072, 1024),
    "connection_tls": (4096, 131072, 1024),
    "watch_stream": (4096, 65536, 512),
    "watcher": (100, 2000, 10),
    "lease": (200, 3000, 20),
    "put_overhead": (0, 8192, 128),
    "request_copies": (0, 12000, 250),
    "write_batch_copies": (500, 5000, 100),
    "range_copies": (500, 5000, 50),
    "index_slot": (0, 80, 1),
    "rss_anon_over_heap": (1000, 1150, 5),
}


def high(series: str, name: str) -> int:
    """Return the value that the peaks are computed with."""
    return int(getattr(CONSTANTS_HIGH[series], name))


def put(series: str, name: str, value: int) -> None:
    """Change a constant in this process only."""
    CONSTANTS_HIGH[series] = replace(CONSTANTS_HIGH[series], **{name: value})


def share(row: dict[str, str], name: str) -> float:
    """Return a figure of the model as a share of the measured one."""
    estimate: dict[str, Any] = predicted(row, FIGURES[name])
    return float(estimate[name] / float(row[name]))


def misses(rows: Sequence[dict[str, str]]) -> Iterator[float]:
    """Yield the logarithm of the model's distance from its aim, for each figure of each row."""
    for row in rows:
        for name in FIGURES:
            if float(row[name]):
                yield math.log(share(row, name) / AIM)


def loss(rows: Sequence[dict[str, str]]) -> float:
    """Return the loss to minimise: squared distances, with those of estimates that are too low counted three times."""
    return sum(miss * miss * (3 if miss < 0 else 1) for miss in misses(rows))


def fit(series: str, rows: Sequence[dict[str, str]], names: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Fit the constants of one series in place and return (before, after) of each."""
    before = {name: high(series, name) for name in names}
    moved = True
    turns = 0
    while moved and turns < 20:
        moved, turns = False, turns + 1
        for name in names:
            least, largest, step = RANGES[name]
            here = high(series, name)
            best, best_loss = here, loss(rows)
            around = [here + step * distance for distance in (-64, -32, -16, -8, -4, -2, -1, 1, 2, 4, 8, 16, 32, 64)]
            for value in around:
                if least <= value <= largest:
                    put(series, name, value)
                    found = loss(rows)
                    if found < best_loss - 1e-9:
                        best, best_loss = value, found
            put(series, name, best)
            moved = moved or best != here
    return {name: (before[name], high(series, name)) for name in names}


def main() -> int:
    parser = argparse.ArgumentParser(description="Fit the model's constants to the measured cases.")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the figures to fit")
    parser.add_argument("--only", action="append", default=[], help="fit only this constant")
    parser.add_argument(
        "--verbose", action="store_true", help="show how far each case is from the measurement afterwards"
    )
    options = parser.parse_args()
    rows = [row for row in read(options.results) if row["part"] == "fit"]
    names = [name for name in RANGES if not options.only or name in options.only]
    for series in CONSTANTS_HIGH:
        mine = [row for row in rows if row["series"] == series]
        if not mine:
            continue
        before = loss(mine)
        for name, (old, new) in fit(series, mine, names).items():
            print(f"{series} {name:22} {old:>10} -> {new:>10}")
        print(f"{series} loss {before:.2f} -> {loss(mine):.2f} over {len(mine)} cases")
        if options.verbose:
            for row in mine:
                estimate = predicted(row)
                shares = [
                    f"{name} {estimate[name] / float(row[name]) - 1:+.0%}" for name in FIGURES if float(row[name])
                ]
                print(f"    {row['name']:24} {', '.join(shares)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
