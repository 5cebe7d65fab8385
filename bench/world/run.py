"""Lint public files where they can be fetched, compare with what an expert expects, and write docs/policies/world.md.

    python -m bench.world.run FOLDER                print the tables; FOLDER holds REPOSITORY/PATH, or git clones of the repositories
    python -m bench.world.run FOLDER --set tune     one set only
    python -m bench.world.run FOLDER --write        and record the results and write the page
    python -m bench.world.run FOLDER --show         and print each missed or false finding

Exits 1 if a file of the table is not in FOLDER. Files in another version than the expert judged count as missing.
"""

from __future__ import annotations

import argparse
import datetime
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from bench.common.tables import column_names, write_table
from bench.world.content import fetch
from bench.world.lint import COMMANDS, Answer, lint
from bench.world.report import PAGE, RESULTS, page, read_results, summary
from bench.world.score import Row, judge
from bench.world.table import PROJECT, SETS, Entry, load

AT_ONCE = 6


def tools() -> list[str]:
    """Return the tools that are there; the reader is not in every version."""
    return [tool for tool, command in COMMANDS.items() if shutil.which(command[0])]


def judged(pairs: list[tuple[Entry, bytes]], tool: str) -> Iterator[tuple[Row, Answer]]:
    """Lint and judge each file with one tool."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = pool.map(lambda pair: lint(pair[0], pair[1], tool), pairs)
        for (entry, _), answer in zip(pairs, answers, strict=True):
            yield judge(entry, answer, tool), answer


def show(row: Row, answer: Answer) -> None:
    """Print what is wrong with one answer."""
    if not (row.missed or row.false_denials or row.noise or row.error):
        return
    print(
        f"{row.tool} {row.set} {row.vocabulary} {row.repository} {row.path}: missed {row.missed or 'nothing'}; {row.error}"
    )
    for finding in answer.findings:
        if finding.rule in row.false_denials.split() or finding.rule in row.noise.split():
            print(f"    {finding.severity} {finding.message[:300]}")


def commit() -> str:
    """Return the commit that was measured."""
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", choices=SETS, action="append")
    parser.add_argument("--tool", choices=sorted(COMMANDS), action="append")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args(arguments)
    entries = load(options.set or SETS)
    pairs = [(entry, data) for entry in entries if (data := fetch(entry, options.folder)) is not None]
    rows: list[Row] = []
    for tool in options.tool or tools():
        for row, answer in judged(pairs, tool):
            rows.append(row)
            if options.show:
                show(row, answer)
    print("\n".join(summary(rows)))
    if options.write:
        head, others = read_results()
        now = f"{datetime.datetime.now(datetime.UTC).date().isoformat()} at commit {commit()}"
        chosen = options.set or SETS
        head, rows = {**head, **dict.fromkeys(chosen, now)}, [*(row for row in others if row.set not in chosen), *rows]
        write_table(RESULTS, head, column_names(Row), [asdict(row) for row in rows])
        PAGE.write_text(page(head, rows), encoding="utf-8")
        print(f"wrote {PAGE.relative_to(PROJECT)}")
    missing = len(entries) - len(pairs)
    if missing:
        print(f"{missing} of {len(entries)} files are not in {options.folder}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
