"""Write what bench.lifecycle.kills measured: docs/lifecycle-evidence.md, and its summary in docs/lifecycle.md.

`--check` writes nothing and exits 1 if a page is not current.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.common.campaign import results
from bench.common.campaign.cells import cut, ending
from bench.common.campaign.play import KILLED_IN
from bench.common.lab import PROJECT
from bench.common.markdown import mark, table
from bench.common.page import publish, with_part
from bench.lifecycle.kills import KILLS, RESULTS, Row
from bench.lifecycle.operations import OPERATIONS

PAGE = PROJECT / "docs" / "lifecycle-evidence.md"
TEMPLATE = Path(__file__).parent / "lifecycle-evidence.md.in"
# The page with the summary.
TASKS_PAGE = PROJECT / "docs" / "lifecycle.md"
# Load average for each core.
MAX_LOAD = 2
BEGIN, END = "<!-- begin: python -m bench.lifecycle.report -->\n", "<!-- end -->\n"


def summary(rows: Sequence[Row], cores: int) -> list[str]:
    """Return the table by operation."""
    head = [
        "operation",
        "what runs",
        "killed ",
        "writes ",
        "failed ",
        "lost ",
        "longest pause ",
        "recovered ",
        "unchanged ",
        "members right ",
    ]
    lines = []
    for operation in (make() for make in OPERATIONS):
        of = [row for row in rows if row.operation == operation.name and row.kills]
        if not of:
            continue
        counted = judged(of, cores)
        failed, lost = sum(row.failed for row in counted), sum(row.lost for row in of)
        counts = [
            sum(row.converged for row in of),
            sum(row.unchanged for row in of),
            sum(not row.members for row in of),
        ]
        lines.append(
            [
                operation.name,
                operation.about,
                f"{sum(row.kills for row in of)} of {KILLS}",
                f"{sum(row.writes for row in of):,}",
                f"{mark(str(failed), not failed)} in {len(counted)}" if counted else "not judged",
                mark(str(lost), not lost),
                f"{max(row.pause for row in of):.1f} s",
                *(mark(f"{count} of {len(of)}", count == len(of)) for count in counts),
            ]
        )
    return table(head, lines)


def cases(rows: Sequence[Row]) -> list[str]:
    """Return the table of all cases."""
    head = [
        "operation",
        "killed in the tasks",
        "failed ",
        "lost ",
        "pause ",
        "the last run",
        "unchanged",
        "members",
        "load ",
    ]
    names = [make().name for make in OPERATIONS]
    lines = [
        [
            row.operation,
            ", then ".join([row.said.removeprefix(KILLED_IN), *row.later_tasks]),
            f"{row.failed} + {row.failed_otherwise}",
            str(row.lost),
            f"{row.pause:.1f} s",
            ending(row.next_code, row.next_said),
            "yes" if row.unchanged else f"**no** ✗ {cut(row.last_said)}",
            row.members or "right",
            f"{row.load:.1f}",
        ]
        for row in sorted(rows, key=lambda row: names.index(row.operation))
        if row.kills
    ]
    return table(head, lines)


def judged(rows: Sequence[Row], cores: int) -> list[Row]:
    """Return the rows whose failed writes count."""
    return [row for row in rows if not row.failed or row.load <= MAX_LOAD * cores]


def claims(machine: Mapping[str, str], rows: Sequence[Row]) -> list[str]:
    """Return the summary of all operations, as list items."""
    killed = [row for row in rows if row.kills]
    lost, failed = sum(row.lost for row in killed), sum(row.failed for row in judged(killed, int(machine["cores"])))
    counts = [
        sum(row.converged for row in killed),
        sum(row.unchanged for row in killed),
        sum(not row.members for row in killed),
    ]
    recovered, unchanged, right = (mark(f"{count} of {len(killed)}", count == len(killed)) for count in counts)
    return [
        f"- Runs that were killed: {sum(row.kills for row in killed)}, of {len({row.operation for row in killed})} operations.",
        f"- Acknowledged writes lost: {mark(str(lost), not lost)} of {sum(row.writes for row in killed):,}.",
        f"- Writes failed while a majority served: {mark(str(failed), not failed)}.",
        f"- Recovered by the next run: {recovered} cases, with the right members in {right}.",
        f"- `site.yml` changed nothing after that: {unchanged} cases.",
    ]


def document(machine: Mapping[str, str], rows: Sequence[Row]) -> str:
    """Return docs/lifecycle-evidence.md."""
    dates = sorted({row.date for row in rows})
    killed = {row.operation for row in rows if row.kills}
    missing = [name for name in (make().name for make in OPERATIONS) if name not in killed]
    values = {
        "claims": "\n".join(claims(machine, rows)),
        "dates": " to ".join(dict.fromkeys((dates[0], dates[-1]))),
        "commits": ", ".join(dict.fromkeys(row.commit for row in rows)),
        "machine": f"{machine['cores']} cores, {machine['memory']}",
        "max_load": str(MAX_LOAD),
        "summary": "\n".join(summary(rows, int(machine["cores"]))),
        "missing": ", ".join(missing) or "none",
        "cases": "\n".join(cases(rows)),
    }
    text = TEMPLATE.read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace("{{ " + name + " }}", value)
    return text


def part(machine: Mapping[str, str], rows: Sequence[Row]) -> str:
    """Return the summary in docs/lifecycle.md."""
    return "\n".join([*claims(machine, rows), ""])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the page is stale")
    arguments = parser.parse_args()
    machine, rows, _ = results.read(RESULTS, Row)
    if not rows:
        sys.exit(f"{RESULTS} has no results: run `make bench-lifecycle-kills` first")
    pages = {PAGE: document(machine, rows), TASKS_PAGE: with_part(TASKS_PAGE, BEGIN, END, part(machine, rows))}
    return publish(pages, "python -m bench.lifecycle.report", check=arguments.check)


if __name__ == "__main__":
    sys.exit(main())
