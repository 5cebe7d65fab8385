"""Report how the linter does on public files: docs/policies/world.md.

python -m bench.world.report            write the page from the recorded results
python -m bench.world.report --check    write nothing; exit 1 if the page is not current
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.common.markdown import table
from bench.common.tables import read_rows
from bench.world.lint import COMMANDS, READER
from bench.world.score import Row, Total, total
from bench.world.table import PROJECT, SETS, load

RESULTS = Path(__file__).parent / "results.csv"
# The first measurement of each blind set; nobody changes a line of it.
FIRST = Path(__file__).parent / "first.csv"
PAGE = PROJECT / "docs" / "policies" / "world.md"
HEAD = [
    "files ",
    "expected ",
    "found ",
    "recall ",
    "precision ",
    "false denials ",
    "in files ",
    "noise a file ",
    "unread ",
]
NONE = "–"


def percent(share: float | None) -> str:
    """Format a share."""
    return NONE if share is None else f"{share:.0%}"


def cells(counts: Total) -> list[str]:
    """Format one row of a table."""
    return [
        *(str(each) for each in (counts.files, counts.expected, counts.found)),
        *(percent(each) for each in (counts.recall, counts.precision)),
        *(str(each) for each in (counts.false_denials, counts.files_denied)),
        f"{counts.noise / counts.files:.2f}" if counts.files else NONE,
        str(counts.unread),
    ]


def sets(rows: Sequence[Row]) -> list[str]:
    """Return a table with a row for each tool and set."""
    body = [
        [tool, name, *cells(total(chosen))]
        for tool in COMMANDS
        for name in SETS
        if (chosen := [row for row in rows if row.tool == tool and row.set == name])
    ]
    return table(["tool", "set", *HEAD], body)


def first() -> list[str]:
    """Return the table of the first measurements, as they were recorded."""
    files = Counter(entry.set for entry in load())
    body = []
    with FIRST.open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            share = f"{int(row['found']) / int(row['expected']):.1%}"
            found = f"{row['found']} of {row['expected']}"
            body.append(
                [row["set"], row["chosen"], str(files[row["set"]]), found, share, row["false_denials"], row["noise"]]
            )
    return table(["set", "chosen", "files ", "found ", "recall ", "false denials ", "noise a file "], body)


def vocabularies(rows: Sequence[Row], tool: str) -> list[str]:
    """Return a table with a row for each vocabulary and set, of one tool."""
    body = [
        [vocabulary, name, *cells(total(chosen))]
        for vocabulary in sorted({row.vocabulary for row in rows})
        for name in SETS
        if (chosen := [row for row in rows if (row.tool, row.vocabulary, row.set) == (tool, vocabulary, name)])
    ]
    return table(["vocabulary", "set", *HEAD], body)


def rules(rows: Sequence[Row], tool: str) -> list[str]:
    """Return a table of the rules that were missed, falsely denied or noise, of one tool."""
    chosen = [row for row in rows if row.tool == tool]
    counted = {
        column: Counter(rule for row in chosen for rule in getattr(row, column).split())
        for column in ("found", "missed", "false_denials", "noise")
    }
    wrong = counted["missed"] + counted["false_denials"] + counted["noise"]
    body = [
        [f"`{rule}`", *(str(each[rule]) for each in counted.values())]
        for rule, _ in sorted(wrong.most_common(), key=lambda pair: (-pair[1], pair[0]))
    ]
    return table(["rule", "found ", "missed ", "false denials ", "noise "], body)


def best_tool(rows: Sequence[Row]) -> str:
    """Return the tool that the page details: the reader where it was measured."""
    measured = {row.tool for row in rows}
    return READER if READER in measured else next(tool for tool in COMMANDS if tool in measured)


def summary(rows: Sequence[Row]) -> list[str]:
    """Return the tables that the command prints."""
    if not rows:
        return ["nothing was measured"]
    tool = best_tool(rows)
    return [*sets(rows), "", *vocabularies(rows, tool), "", *rules(rows, tool)]


def measured(head: Mapping[str, str]) -> str:
    """Return when each set was measured, and at which commit."""
    dates: dict[str, list[str]] = {}
    for name in SETS:
        if name in head:
            dates.setdefault(head[name], []).append(f"`{name}`")
    return "; ".join(f"{', '.join(names)} on {when}" for when, names in dates.items())


def page(head: Mapping[str, str], rows: Sequence[Row]) -> str:
    """Return docs/policies/world.md."""
    text = (Path(__file__).parent / "world.md.in").read_text(encoding="utf-8")
    entries = load()
    tool = best_tool(rows)
    worst = max((len(row.noise.split()) for row in rows if row.tool == tool), default=0)
    values = {
        "measured": measured(head),
        "files": str(len(entries)),
        "repositories": str(len({entry.repository for entry in entries})),
        "nothing": str(sum(entry.vocabulary == "nothing" for entry in entries)),
        "expected": str(sum(len(entry.expected) for entry in entries)),
        "tool": tool,
        "worst": str(worst),
        "first": "\n".join(first()),
        "sets": "\n".join(sets(rows)),
        "vocabularies": "\n".join(vocabularies(rows, tool)),
        "rules": "\n".join(rules(rows, tool)),
    }
    for name, value in values.items():
        text = text.replace("{{ " + name + " }}", value)
    return text


def read_results() -> tuple[dict[str, str], list[Row]]:
    """Read the recorded results."""
    return read_rows(RESULTS, Row)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the page is stale")
    options = parser.parse_args()
    text = page(*read_results())
    if not options.check:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    print(
        f"{PAGE.relative_to(PROJECT)} is not what results.csv says: run `python -m bench.world.report`", file=sys.stderr
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
