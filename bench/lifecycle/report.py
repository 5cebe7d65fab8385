"""Write what bench.lifecycle.kills measured into docs/lifecycle.md. `--check` writes nothing and exits 1 if the page is not current."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence

from bench.common.campaign import results
from bench.common.campaign.cells import cut, ending, mark
from bench.common.campaign.play import KILLED_IN
from bench.common.lab import PROJECT
from bench.common.markdown import table
from bench.common.page import is_current, write_part
from bench.lifecycle.kills import KILLS, RESULTS, Row
from bench.lifecycle.operations import OPERATIONS

PAGE = PROJECT / "docs" / "lifecycle.md"
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
        judged = [row for row in of if not row.failed or row.load <= MAX_LOAD * cores]
        failed, lost = sum(row.failed for row in judged), sum(row.lost for row in of)
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
                f"{mark(str(failed), not failed)} in {len(judged)}" if judged else "not judged",
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


def text(machine: Mapping[str, str], rows: Sequence[Row]) -> str:
    """Return the section of the page."""
    dates = sorted({row.date for row in rows})
    killed = {row.operation for row in rows if row.kills}
    missing = [name for name in (make().name for make in OPERATIONS) if name not in killed]
    commits = ", ".join(dict.fromkeys(row.commit for row in rows))
    return "\n".join(
        [
            f"Measured {dates[0]}{'' if len(dates) == 1 else ' to ' + dates[-1]} at {commits}, {machine['cores']} cores, {machine['memory']}. "
            "Failed writes are those that no member accepted within 2 s while a majority served (in the second table: + while there was none). "
            f"They count only at a load of at most {MAX_LOAD} for each core: on a busier machine members wait for a processor longer "
            "than an election takes.",
            "",
            *summary(rows, int(machine["cores"])),
            "",
            f"Not killed yet: {', '.join(missing) or 'none'}.",
            "",
            "Each case, with the tasks in which successive runs were killed:",
            "",
            *cases(rows),
            "",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the page is stale")
    arguments = parser.parse_args()
    machine, rows, _ = results.read(RESULTS, Row)
    if not rows:
        sys.exit(f"{RESULTS} has no results: run `make bench-lifecycle-kills` first")
    wanted = text(machine, rows)
    if not arguments.check:
        write_part(PAGE, BEGIN, END, wanted)
    elif not is_current(PAGE, BEGIN, END, wanted):
        print(f"{PAGE.relative_to(PROJECT)} is not current: run `python -m bench.lifecycle.report`")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
