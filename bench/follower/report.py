#!/usr/bin/env python3
"""Report what bench/follower/run.py measured: docs/follower-evidence.md.

The page depends only on results.csv. `--check` writes nothing and exits 1 if the page is stale.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.common.lab import PROJECT
from bench.common.markdown import mib, table
from bench.common.member import SAMPLE_SECONDS
from bench.common.page import publish
from bench.common.tables import read_rows
from bench.follower import run as measuring
from bench.follower.cases import LEAST, ROOM
from bench.follower.run import RESULTS, Row

PAGE = PROJECT / "docs" / "follower-evidence.md"


def memory(rows: Sequence[Row]) -> list[str]:
    """Return the table of the leader's memory and how it ended."""
    head = ["etcd", "load", "budget", "MemoryMax ", "RssAnon before ", "planned, running ", "RssAnon, snapshot "]
    lines = [
        [
            row.version,
            f"{row.stated_puts_per_second}/s of {row.value_size:,} B",
            row.budget,
            mib(row.memory_max),
            mib(row.rss_anon_before),
            mib(row.planned_rss_anon_peak),
            mib(row.rss_anon_peak),
            mib(row.planned_follower_snapshot_rss_anon_peak),
            f"{row.puts_per_second:,.0f}" if row.outcome == "survived" else "",
            "survived" if row.outcome == "survived" else f"**{row.outcome}**",
        ]
        for row in rows
    ]
    return table([*head, "planned, snapshot ", "puts/s ", "leader"], lines)


def claims(rows: Sequence[Row]) -> list[str]:
    """Return what the measurements show, in figures."""
    lines = []
    for budget, text in ((ROOM, "With room for it in the plan"), (LEAST, "With the smallest budget that has a plan")):
        found = [row for row in rows if row.budget == budget]
        killed = sum(row.outcome == "killed" for row in found)
        lines.append(f"- {text}, the leader was killed in {killed} of {len(found)} cases.")
    more = [row for row in rows if row.outcome == "survived" and row.rss_anon_peak > row.planned_rss_anon_peak]
    above = [row for row in rows if row.rss_anon_peak > row.planned_follower_snapshot_rss_anon_peak]
    survived = sum(row.outcome == "survived" for row in rows)
    lines.append(
        f"- Of {survived} leaders that survived, {len(more)} took more than the planned peak of a running member; of all {len(rows)}, {len(above)} took more "
        "than what is planned while a follower receives a snapshot."
    )
    return lines


def method() -> str:
    """Return the description of the measurement, from the docstring of the program that measures."""
    text = measuring.__doc__ or ""
    return text[text.index("Three members") : text.index("Needs root")].strip()


def document(machine: Mapping[str, str], rows: Sequence[Row]) -> str:
    """Return docs/follower-evidence.md."""
    dates = sorted({row.date for row in rows})
    values = {
        "claims": "\n".join(claims(rows)),
        "dates": " to ".join(dict.fromkeys((dates[0], dates[-1]))),
        "machine": f"{machine['cores']} cores, {machine['memory']}, Linux {machine['kernel']}, {machine['filesystem']}",
        "memory": "\n".join(memory(rows)),
        "method": method(),
        "sample": f"{SAMPLE_SECONDS * 1000:.0f}",
    }
    text = (Path(__file__).parent / "follower-evidence.md.in").read_text()
    for name, value in values.items():
        text = text.replace("{{ " + name + " }}", value)
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS, help="the figures to report")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the page is stale")
    options = parser.parse_args()
    pages = {PAGE: document(*read_rows(options.results, Row))}
    return publish(pages, "python -m bench.follower.report", check=options.check)


if __name__ == "__main__":
    sys.exit(main())
