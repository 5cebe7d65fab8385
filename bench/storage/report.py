#!/usr/bin/env python3
"""Report what was measured: docs/storage-evidence.md and its picture.

The report depends only on results.csv. `--check` writes nothing and exits 1 if the page is not current; `--print` prints the tables only.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB

from bench.common.markdown import table
from bench.common.statistics import Spread
from bench.common.tables import read_rows
from bench.storage.machine import LOAD
from bench.storage.matrix import (
    ALL_THREADS,
    ALONE,
    DEFAULT,
    DESCRIPTIONS,
    HEAVY_UNIT,
    LAYOUTS,
    MAIN_THREAD,
    OWN_DEVICE,
    OWN_VOLUME,
    OWN_WAL,
    PRIORITIES,
    REFERENCE,
    SCHEDULERS,
    SHARED,
    UNIT,
    Combination,
)
from bench.storage.results import Row
from bench.storage.run import PROJECT, RESULTS
from bench.storage.verdict import (
    HARMS,
    HELPS,
    Figure,
    fsync_p99,
    level,
    neighbour,
    put_p50,
    put_p99,
    ratio,
    remedies,
    word,
)

PAGE = PROJECT / "docs" / "storage-evidence.md"
IMAGES = PROJECT / "docs" / "images" / "storage"
NONE = "–"
# The usual advice, `ionice -c2 -n0`, and its variants, then the places for etcd's files.
ADVICE = {
    MAIN_THREAD: "`ionice -c2 -n0 -p PID`, the usual advice, which reaches one thread",
    ALL_THREADS: "The same on every thread",
    UNIT: "The unit of role `etcd`, with its IOWeight=500",
    HEAVY_UNIT: "The unit with IOWeight=10000",
}
PLACES = {
    OWN_VOLUME: "A separate volume for etcd on the same disk",
    OWN_WAL: "A separate disk for the WAL only",
    OWN_DEVICE: "A separate disk for all of etcd",
    ALONE: "No neighbour at all, the best case",
}
# The load of other work for each core above which the machine counts as busy.
QUIET = 0.5


def milliseconds(found: Spread | None) -> str:
    """Format the median of a latency for a table."""
    if found is None:
        return NONE
    return f"{found.middle:,.0f}" if found.middle >= 20 else f"{found.middle:.1f}"


def times(found: Spread | None) -> str:
    """Format a ratio and its range."""
    return NONE if found is None else f"{found.middle:.2f} ({found.low:.2f}–{found.high:.2f})"


def judge(found: Spread, quiet: bool) -> str:
    """Return the verdict on a remedy, or "not judged" if other work may have caused the difference."""
    return word(found) if quiet else "not judged"


def worth(rows: Sequence[Row], quiet: bool) -> list[str]:
    """Return the table of each remedy's effect, compared with the same configuration without it."""
    lines = []
    for remedy in remedies():
        put = ratio(rows, remedy.after, remedy.before, put_p99)
        if put is None:
            continue
        others = (ratio(rows, remedy.after, remedy.before, what) for what in (put_p50, fsync_p99, neighbour))
        lines.append([remedy.name, times(put), judge(put, quiet), *(times(other) for other in others)])
    head = ["remedy", "put p99 × ", "in every repeat", "put p50 × ", "WAL fsync p99 × ", "neighbour's writes × "]
    return table(head, lines)


def sentences(rows: Sequence[Row], quiet: bool) -> list[str]:
    """Return what each usual advice is worth, in a line each."""
    found = []
    for priority, text in ADVICE.items():
        by_scheduler = []
        for scheduler in SCHEDULERS:
            got = ratio(
                rows, Combination(scheduler, priority, SHARED), Combination(scheduler, DEFAULT, SHARED), put_p99
            )
            if got:
                by_scheduler.append(f"× {got.middle:.2f} under {scheduler} ({judge(got, quiet)})")
        found.append(f"- {text}: {', '.join(by_scheduler)}.")
    for layout, text in PLACES.items():
        got = ratio(rows, Combination("none", DEFAULT, layout), REFERENCE, put_p99)
        if got:
            found.append(f"- {text}: × {got.middle:.2f} ({judge(got, quiet)}).")
    return found


def latencies(rows: Sequence[Row], figure: Figure) -> list[str]:
    """Return the table of a latency in all combinations, in ms and relative to the reference."""
    lines = []
    for layout in (*LAYOUTS, ALONE):
        for priority in PRIORITIES:
            combinations = [Combination(scheduler, priority, layout) for scheduler in SCHEDULERS]
            if all(level(rows, combination, figure) is None for combination in combinations):
                continue
            line = [layout, priority]
            for combination in combinations:
                found = level(rows, combination, figure)
                against = ratio(rows, combination, REFERENCE, figure)
                line.append(f"{milliseconds(found)} (× {against.middle:.2f})" if against else milliseconds(found))
            lines.append(line)
    return table(["layout", "priority", *(f"{name} " for name in SCHEDULERS)], lines)


def threads(rows: Sequence[Row]) -> list[str]:
    """Return the table of etcd threads that had the priority after each combination, according to the kernel."""
    lines = []
    for priority in PRIORITIES:
        found = [row for row in rows if row.priority == priority]
        if found:
            low, high = min(row.with_priority for row in found), max(row.with_priority for row in found)
            few, many = min(row.threads for row in found), max(row.threads for row in found)
            whole = all(row.with_priority == row.threads for row in found)
            said = "all" if whole else str(low) if low == high else f"{low} to {high}"
            lines.append([priority, DESCRIPTIONS[priority], f"{said} of {few} to {many}"])
    return table(["priority", "meaning", "threads with best-effort 0"], lines)


def layouts() -> list[str]:
    """Return the descriptions of the layouts."""
    return [f"- **{layout}**: {DESCRIPTIONS[layout]}." for layout in (*LAYOUTS, ALONE)]


def method() -> list[str]:
    """Return the description of the measurement, from the docstring of the program that measures."""
    text = (Path(__file__).parent / "run.py").read_text().split('"""')[1]
    return text[text.index("A disk is") : text.index("Needs root")].strip().splitlines()


def caveat(machine: dict[str, str]) -> str:
    """Return a warning if other work kept the CPUs busy, because latencies then depend on the CPU too."""
    load, cores = float(machine.get(LOAD, "0")), int(machine.get("machine", "1").split()[0])
    if load <= QUIET * cores:
        return ""
    return (
        f"\n**Measured on a busy machine** (load {load:.0f} on {cores} cores before the run): the CPU affected the latencies as much as the "
        "disk did, so they give no verdict. `make bench-storage` on a quiet machine replaces them.\n"
    )


def page(machine: dict[str, str], rows: Sequence[Row]) -> str:
    """docs/storage-evidence.md."""
    text = (Path(__file__).parent / "storage-evidence.md.in").read_text()
    dates = sorted({row.date for row in rows})
    busy = caveat(machine)
    alone = level(rows, Combination("none", DEFAULT, ALONE), put_p99)
    reference = level(rows, REFERENCE, put_p99)
    writes = level(rows, REFERENCE, neighbour)
    values = {
        "dates": " to ".join(dict.fromkeys((dates[0], dates[-1]))),
        "repeats": str(len({row.repeat for row in rows})),
        "machine": "; ".join(f"{name}: {value}" for name, value in machine.items()),
        "alone": milliseconds(alone),
        "reference": milliseconds(reference),
        "neighbour": f"{writes.middle / MIB:,.0f}" if writes else NONE,
        "caveat": busy,
        "helps": f"{HELPS:.0%}",
        "harms": f"{HARMS:.0%}",
        "sentences": "\n".join(sentences(rows, not busy)),
        "worth": "\n".join(worth(rows, not busy)),
        "put": "\n".join(latencies(rows, put_p99)),
        "fsync": "\n".join(latencies(rows, fsync_p99)),
        "threads": "\n".join(threads(rows)),
        "layouts": "\n".join(layouts()),
        "method": "\n".join(method()),
    }
    for name, value in values.items():
        text = text.replace("{{ " + name + " }}", value)
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description="Report what each remedy for a slow disk is worth.")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the figures to report")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the page is stale")
    parser.add_argument("--print", action="store_true", dest="only_print", help="print the tables, write nothing")
    options = parser.parse_args()
    if not options.results.exists():
        raise SystemExit(f"{options.results} does not exist: run `make bench-storage`")
    machine, rows = read_rows(options.results, Row)
    if options.only_print:
        print(
            "\n".join(
                [
                    *worth(rows, not caveat(machine)),
                    "",
                    *latencies(rows, put_p99),
                    "",
                    *latencies(rows, fsync_p99),
                    "",
                    *threads(rows),
                ]
            )
        )
        return 0
    text = page(machine, rows)
    if options.check:
        if PAGE.exists() and PAGE.read_text() == text:
            return 0
        print(f"{PAGE.relative_to(PROJECT)} is not what results.csv says: run `make storage-evidence`", file=sys.stderr)
        return 1
    from bench.storage.picture import draw

    PAGE.write_text(text)
    draw(rows, IMAGES)
    return 0


if __name__ == "__main__":
    sys.exit(main())
