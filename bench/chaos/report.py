#!/usr/bin/env python3
"""Report what bench.chaos.run measured: docs/reliability.md, or only the tables with --print.

The report depends only on the CSV files. `--check` writes nothing and exits 1 if the page is not current.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import yaml
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import pluralize

from bench.chaos import run as measuring
from bench.chaos.cases import of_operation
from bench.chaos.operations import OPERATIONS, Idle
from bench.common.campaign import results
from bench.common.campaign.case import KILL, UNDISTURBED, Case
from bench.common.campaign.cells import ending
from bench.common.campaign.faults import FAULTS
from bench.common.campaign.operation import Operation
from bench.common.campaign.play import Step
from bench.common.campaign.results import Row
from bench.common.lab import PROJECT
from bench.common.markdown import mark, table

PAGE = PROJECT / "docs" / "reliability.md"
SETTINGS = PROJECT / "bench" / "chaos" / "inventory" / "group_vars" / "etcd.yml"
ORDER = [UNDISTURBED, KILL, *(fault.name for fault in FAULTS)]

Traces = Mapping[str, Sequence[Step]]


def operations() -> list[Operation]:
    """Return all operations."""
    return [make() for make in OPERATIONS]


def planned(operation: Operation, traces: Traces) -> dict[str, list[Case]]:
    """Return the cases with each fault. KILL has no cases as long as the tasks of the play are unknown."""
    found: dict[str, list[Case]] = {fault: [] for fault in ORDER}
    for case in of_operation(operation.name, traces.get(operation.name, ()), operation.moments, random.Random(0)):
        found[case.fault].append(case)
    return found


def of_etcd_alone(rows: Sequence[Row]) -> dict[str, int]:
    """Return the faults under which writes failed without an operation, and how many."""
    return {row.fault: row.failed for row in rows if row.operation == Idle.name and row.failed}


def claims(rows: Sequence[Row]) -> list[str]:
    """Return the totals over all cases as a Markdown list."""
    writes, lost, failed = (sum(getattr(row, name) for row in rows) for name in ("writes", "lost", "failed"))
    many = len(rows)
    recovered, unchanged = sum(row.converged for row in rows), sum(row.unchanged for row in rows)
    disturbed = sum(row.fault != UNDISTURBED for row in rows)
    alone = of_etcd_alone(rows)
    same = sum(row.failed for row in rows if row.fault in alone)
    compared = f"; {same:,} of them under faults that make writes fail even without an operation ({', '.join(alone)})"
    return [
        f"- Cases that were run: {many}, {disturbed} of them with a kill or a fault, the others undisturbed.",
        f"- Runs that were killed: {sum(row.kills for row in rows):,}.",
        f"- Acknowledged writes lost: {mark(f'{lost:,} of {writes:,}', not lost)}.",
        f"- Writes failed while a majority served: {mark(f'{failed:,}', not failed)}, "
        f"in {sum(bool(row.failed) for row in rows)} of {many} cases{compared if alone else ''}.",
        f"- Recovered, by the disturbed run or the next one: {mark(f'{recovered} of {many}', recovered == many)} cases.",
        f"- `site.yml` changed nothing after that: {mark(f'{unchanged} of {many}', unchanged == many)} cases.",
    ]


def ordered(rows: Sequence[Row]) -> list[Row]:
    """Return the rows by operation, then by fault."""
    names = [operation.name for operation in operations()]
    return sorted(rows, key=lambda row: (names.index(row.operation), ORDER.index(row.fault)))


def summary(rows: Sequence[Row], traces: Traces) -> list[str]:
    """Return the table by operation and fault."""
    head = [
        "operation",
        "fault",
        "cases ",
        "kills ",
        "writes ",
        "failed ",
        "lost ",
        "longest pause ",
        "recovered ",
        "unchanged ",
    ]
    lines = []
    for operation in operations():
        wanted = planned(operation, traces)
        for fault in ORDER:
            of = [row for row in rows if (row.operation, row.fault) == (operation.name, fault)]
            if not of:
                continue
            recovered, unchanged = sum(row.converged for row in of), sum(row.unchanged for row in of)
            failed, lost = sum(row.failed for row in of), sum(row.lost for row in of)
            lines.append(
                [
                    operation.name,
                    fault,
                    f"{len({row.case for row in of}.intersection(wanted[fault]))} of {len(wanted[fault])}",
                    str(sum(row.kills for row in of) or ""),
                    f"{sum(row.writes for row in of):,}",
                    f"{mark(str(failed), not failed)} + {sum(row.failed_otherwise for row in of)}",
                    mark(str(lost), not lost),
                    f"{max(row.pause for row in of):.1f} s",
                    mark(f"{recovered} of {len(of)}", recovered == len(of)),
                    mark(f"{unchanged} of {len(of)}", unchanged == len(of)),
                ]
            )
    return table(head, lines)


def misses(rows: Sequence[Row]) -> list[str]:
    """Return what missed an aim, a list item for each case; a single line if nothing did."""
    lines, alone = [], of_etcd_alone(rows)
    for row in ordered(rows):
        if row.holds:
            continue
        compared = (
            f", {alone[row.fault]} without an operation" if row.fault in alone and row.operation != Idle.name else ""
        )
        what = [f"{pluralize(row.lost, 'acknowledged write')} lost"] if row.lost else []
        what += [f"{pluralize(row.failed, 'write')} failed while a majority served{compared}"] if row.failed else []
        what += ["neither the run nor the next one finished the work"] if not row.converged else []
        what += [f"site.yml, once more: {row.last_said}"] if not row.unchanged else []
        what += [f"the case itself: {row.problem}"] if row.problem else []
        lines.append(f"- {row.case}: {'; '.join(what)}.")
    return lines or ["- none"]


def cases(rows: Sequence[Row]) -> list[str]:
    """Return the table of all cases."""
    head = [
        "operation",
        "fault",
        "at",
        "writes ",
        "failed ",
        "lost ",
        "pause ",
        "the run",
        "the next run",
        "recovered",
        "unchanged",
        "load ",
    ]
    lines = []
    for row in ordered(rows):
        lines.append(
            [
                row.operation,
                row.fault,
                row.at,
                f"{row.writes:,}",
                f"{row.failed} + {row.failed_otherwise}",
                str(row.lost),
                f"{row.pause:.1f} s",
                ending(row.code, row.said) + (f" {row.kills} times" if row.kills > 1 else ""),
                ending(row.next_code, row.next_said) if row.next_code else "not needed",
                "yes" if row.converged else "**no** ✗",
                "yes" if row.unchanged else "**no** ✗",
                f"{row.load:.1f}",
            ]
        )
    return table(head, lines)


def coverage(rows: Sequence[Row], traces: Traces) -> str:
    """Return how many of the cases were run."""
    wanted = [planned(operation, traces) for operation in operations()]
    every = {case for one in wanted for cases in one.values() for case in cases}
    run = {row.case for row in rows}
    unknown = [one.name for one, cases in zip(operations(), wanted, strict=True) if one.killable and not cases[KILL]]
    more = f", and kills of {', '.join(unknown)}, whose tasks are not known yet" if unknown else ""
    single = f" In {len(run - every)} more cases, one run was killed at one task." if run - every else ""
    return f"{len(run & every)} of {len(every)} planned cases were run{more}.{single}"


def missing(rows: Sequence[Row], traces: Traces) -> list[str]:
    """Return the cases that were not run, a list item for each operation."""
    lines = []
    run = {row.case for row in rows}
    for operation in operations():
        left = []
        for fault, wanted in planned(operation, traces).items():
            if not wanted and fault == KILL and operation.killable:
                left.append("killed, at any task")
            open_cases = [case for case in wanted if case not in run]
            moments = ", ".join(sorted(case.at for case in open_cases))
            left += [fault + (f" ({moments})" if moments else "")] if open_cases else []
        lines += [f"- {operation.name}: {', '.join(left)}"] if left else []
    return lines or ["- All planned cases were run."]


def measurement_method() -> str:
    """Return the description of the measurement, from the docstring of the program that measures."""
    text = measuring.__doc__ or ""
    return text[text.index("All cases use") :].strip()


def document(machine: Mapping[str, str], rows: Sequence[Row], traces: Traces) -> str:
    """Return docs/reliability.md."""
    dates = sorted({row.date for row in rows})
    values: dict[str, Callable[[], str]] = {
        "claims": lambda: "\n".join(claims(rows)),
        "dates": lambda: " to ".join(dict.fromkeys((dates[0], dates[-1]))),
        "commits": lambda: ", ".join(dict.fromkeys(row.commit for row in rows)),
        "version": lambda: str(yaml.safe_load(SETTINGS.read_text())["etcd_version"]),
        "machine": lambda: (
            f"{machine['cores']} cores, {machine['memory']}, Linux {machine['kernel']}, {machine['filesystem']}"
        ),
        "coverage": lambda: coverage(rows, traces),
        "summary": lambda: "\n".join(summary(rows, traces)),
        "misses": lambda: "\n".join(misses(rows)),
        "cases": lambda: "\n".join(cases(rows)),
        "missing": lambda: "\n".join(missing(rows, traces)),
        "operations": lambda: "\n".join(
            table(["operation", "what runs"], [[one.name, one.about] for one in operations()])
        ),
        "faults": lambda: "\n".join(table(["fault", "what happens"], [[one.name, one.about] for one in FAULTS])),
        "method": measurement_method,
    }
    text = (Path(__file__).parent / "reliability.md.in").read_text()
    for name, value in values.items():
        text = text.replace("{{ " + name + " }}", value())
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--results", type=Path, default=measuring.RESULTS, help="where the campaign left its files")
    parser.add_argument("--print", action="store_true", dest="only_print", help="print the tables, write nothing")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the page is stale")
    arguments = parser.parse_args()
    machine, rows, traces = results.read(arguments.results, Row)
    if not rows:
        sys.exit(f"{arguments.results} has no results: run `make bench-chaos` first")
    text = document(machine, rows, traces)
    if arguments.check:
        if not PAGE.exists() or PAGE.read_text() != text:
            print(f"{PAGE.relative_to(PROJECT)} is not current: run `python -m bench.chaos.report`")
            return 1
        return 0
    print("\n".join([*claims(rows), "", *summary(rows, traces), "", *misses(rows)]))
    if not arguments.only_print:
        PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
