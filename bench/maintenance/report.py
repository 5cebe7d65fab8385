#!/usr/bin/env python3
"""Report what bench.maintenance.run measured: docs/maintenance-evidence.md and its picture, or only the tables with --print.

The report depends only on the CSV files. `--check` writes nothing and exits 1 if the page is not current.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import GIB

from bench.common.markdown import mark, table
from bench.common.member import PROJECT
from bench.maintenance import run as measuring
from bench.maintenance.picture import LABELS, draw
from bench.maintenance.results import Run, read
from bench.maintenance.verdict import ELECTION_SECONDS, MAX_P99, Verdict, judge

DOCS = PROJECT / "docs"
PAGE = DOCS / "maintenance-evidence.md"


def claims(verdicts: Sequence[Verdict]) -> list[str]:
    """Return for each method and group whether the aim was reached, and what missed it."""
    lines = []
    for verdict in verdicts:
        broken = []
        if not verdict.done:
            broken.append("it did not finish")
        if verdict.failed:
            broken.append(f"{verdict.failed} of {sum(row.requests for row in verdict.rows):,} requests failed")
        if verdict.leases_lost:
            broken.append(f"{verdict.leases_lost} of {sum(row.leases for row in verdict.rows)} leases were lost")
        if verdict.watch_gaps:
            broken.append(f"{verdict.watch_gaps} watch events were missed")
        if not verdict.prompt:
            broken.append(f"p99 was above {MAX_P99:g}× its idle value for {verdict.stretch:g} s without a break")
        what = f"**not reached**: {'; '.join(broken)}." if broken else "reached."
        lines.append(f"- {verdict.method}, {LABELS[verdict.group]}: the aim was {what}")
    return lines


def figures(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the table of all verdicts: the worst of the repeats, and counts over all repeats."""
    head = ["", "clients", "took", "requests failed", "leases lost", "events missed", "idle p99, put / range"]
    head += ["p99 during it", "slowest", "p99 too high (idle)", "in total"]
    rows = []
    for verdict in verdicts:
        of = verdict.rows
        rows.append(
            [
                verdict.method,
                LABELS[verdict.group],
                mark(f"{max(row.seconds for row in of):.1f} s", verdict.done),
                mark(f"{verdict.failed} of {sum(row.requests for row in of):,}", not verdict.failed),
                mark(f"{verdict.leases_lost} of {sum(row.leases for row in of)}", not verdict.leases_lost),
                mark(f"{verdict.watch_gaps} of {sum(row.watch_events for row in of):,}", not verdict.watch_gaps),
                f"{max(row.idle_put_p99 for row in of):.0f} / {max(row.idle_range_p99 for row in of):.0f} ms",
                f"{max(row.put_p99 for row in of):,.0f} / {max(row.range_p99 for row in of):,.0f} ms",
                f"{max(row.slowest for row in of):,.0f} ms",
                f"{mark(f'{verdict.stretch:.1f} s', verdict.prompt)} ({verdict.idle_stretch:.1f} s)",
                f"{verdict.high:.1f} s",
            ]
        )
    return table(head, rows)


def errors(runs: Sequence[Run]) -> list[str]:
    """Return the errors of each run; a single line if there were none."""
    lines = []
    for run in runs:
        where = f"{run.method}, repeat {run.repeat + 1}"
        lines += [f"- {where}: {run.rows[0].message}"] if run.rows[0].message else []
        lines += [f"- {where}, {LABELS[row.group]}: {row.errors}" for row in run.rows if row.errors]
    return lines or ["- none"]


def happened(runs: Sequence[Run]) -> list[str]:
    """Return the table of each run's defragmentations and elections."""
    rows = []
    for run in runs:
        first = run.rows[0]
        words = [
            f"{event.member} elected at {event.at:.1f} s"
            if event.kind == "elected"
            else f"{event.member} {event.at:.1f}–{event.at + event.seconds:.1f} s"
            for event in run.events
        ]
        sizes = f"{first.size_before / GIB:.2f} to {first.size_after / GIB:.2f} GiB"
        rows.append([run.method, str(run.repeat + 1), first.leader, sizes, ", ".join(words)])
    return table(["", "repeat", "leader before", "database", "events, by seconds since it began"], rows)


def measurement_method() -> str:
    """Return the description of the measurement, from the docstring of the program that measures."""
    text = measuring.__doc__ or ""
    return text[text.index("Three real members") :].strip()


def document(machine: dict[str, str], runs: Sequence[Run]) -> str:
    """Return docs/maintenance-evidence.md."""
    verdicts = judge(runs)
    rows = [row for run in runs for row in run.rows]
    dates = sorted({row.date for row in rows})
    values: dict[str, Callable[[], str]] = {
        "claims": lambda: "\n".join(claims(verdicts)),
        "dates": lambda: " to ".join(dict.fromkeys((dates[0], dates[-1]))),
        "versions": lambda: ", ".join(sorted({row.version for row in rows})),
        "repeats": lambda: (
            "once" if not max(row.repeat for row in rows) else f"{max(row.repeat for row in rows) + 1} times"
        ),
        "machine": lambda: (
            f"{machine['cores']} cores, {machine['memory']}, Linux {machine['kernel']}, {machine['filesystem']}"
        ),
        "size": lambda: f"{max(row.size_before for row in rows) / GIB:.2f} GiB",
        "free": lambda: f"{min(row.free_before for row in rows):.0%}",
        "rate": lambda: ", ".join(sorted({str(row.rate) for row in rows})),
        "verdicts": lambda: "\n".join(figures(verdicts)),
        "most": lambda: f"{MAX_P99:g}",
        "election": lambda: f"{ELECTION_SECONDS:g}",
        "errors": lambda: "\n".join(errors(runs)),
        "events": lambda: "\n".join(happened(runs)),
        "method": measurement_method,
    }
    text = (Path(__file__).parent / "maintenance-evidence.md.in").read_text()
    for name, value in values.items():
        text = text.replace("{{ " + name + " }}", value())
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--results", type=Path, default=measuring.RESULTS, help="where the measurement left its files")
    parser.add_argument("--print", action="store_true", dest="only_print", help="print the tables, write nothing")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the page is stale")
    arguments = parser.parse_args()
    machine, runs = read(arguments.results)
    text = document(machine, runs)
    if arguments.check:
        if not PAGE.exists() or PAGE.read_text() != text:
            print(f"{PAGE.relative_to(PROJECT)} is not current: run `python -m bench.maintenance.report`")
            return 1
        return 0
    verdicts = judge(runs)
    print("\n".join([*claims(verdicts), "", *figures(verdicts), "", *errors(runs), "", *happened(runs)]))
    if not arguments.only_print:
        PAGE.write_text(text)
        draw(runs, DOCS / "images")
    return 0


if __name__ == "__main__":
    sys.exit(main())
