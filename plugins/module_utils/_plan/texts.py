# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An estimate or a plan as text.

Private to the collection. Pure.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_count, format_size, pluralize

# The largest width of a report, and the smallest of its last column.
WIDTH = 120
MIN_WIDTH = 30

_KINDS = {"heap": "", "spike": "briefly", "restart": "at start", "defrag": "defragmenting", "file": "mapped file"}

_TOTALS = (
    ("heap_live", "live heap", "what is in use at the peak"),
    ("rss_anon_peak", "RssAnon peak", "not reclaimable, garbage included"),
    ("restart_rss_anon_peak", "RssAnon after a restart", "the write-ahead log is replayed into memory"),
    ("follower_snapshot_rss_anon_peak", "RssAnon of the leader", "while a follower receives a snapshot"),
    ("defrag_rss_anon_peak", "RssAnon, defragmenting", "briefly"),
    ("rss_file_peak", "RssFile peak", "mapped database and program; reclaimable"),
    (
        "memory_max_least",
        "MemoryMax at least",
        "the larger of the first two peaks, hot pages, kernel, and 5 % of margin",
    ),
    ("memory_max_recommended", "MemoryMax recommended", "with room for the whole database and a follower's snapshot"),
)


def table(rows: Sequence[tuple[str, ...]], numbers: tuple[int, ...] = (), width: int = WIDTH) -> list[str]:
    """Return rows as aligned lines; columns named in numbers are aligned to the right, the last is wrapped to the width."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    before = sum(widths[:-1]) + 2 * (len(widths) - 1)
    lines = []
    for row in rows:
        *cells, last = row
        aligned = [
            cell.rjust(widths[column]) if column in numbers else cell.ljust(widths[column])
            for column, cell in enumerate(cells)
        ]
        if len(row) - 1 in numbers:
            last = last.rjust(widths[-1])
        first, *more = textwrap.wrap(last, max(width - before, MIN_WIDTH), drop_whitespace=False) or [""]
        lines.append("  ".join([*aligned, first]).rstrip())
        lines += [(" " * before + line.lstrip()).rstrip() for line in more]
    return lines


def workload_value(name: str, value: Any) -> str:
    """Return one value of a workload as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return format_size(value) if name.endswith("_size") else format_count(value)


def workload_line(figures: dict[str, Any]) -> str:
    """Return the workload in one line; assumed values are marked."""
    parts = []
    for name, value in figures["workload"].items():
        if value is not None:
            parts.append(f"{name} {workload_value(name, value)}{' (assumed)' if name in figures['assumed'] else ''}")
    return ", ".join(parts)


def head(figures: dict[str, Any]) -> list[str]:
    """Return the lines above each table."""
    members = figures["members"]
    return [
        f"etcd {figures['version']}, {pluralize(members, 'member')}",
        f"workload: {workload_line(figures)}",
    ]


def component_rows(figures: dict[str, Any], parts: Sequence[dict[str, Any]] | None = None) -> list[tuple[str, ...]]:
    """Return the table of components, its header first. parts: the components to show, in this order; by default all of them."""
    rows: list[tuple[str, ...]] = [("component", "low", "high", "", "why")]
    for part in figures["components"] if parts is None else parts:
        kind = _KINDS.get(part["kind"], part["kind"])
        rows.append((part["name"], format_size(part["low"]), format_size(part["high"]), kind, part["why"]))
    return rows


def estimate_text(figures: dict[str, Any]) -> str:
    """Return an estimate: components, totals, notes."""
    totals = [(label, format_size(figures[name]), why) for name, label, why in _TOTALS]
    lines = [*head(figures), "", *table(component_rows(figures), (1, 2)), "", *table(totals, (1,))]
    return "\n".join(lines + _notes(figures["notes"]))


def plan_text(plan: dict[str, Any]) -> str:
    """Return a plan: flags with their reasons, totals, notes."""
    figures = plan["estimate"]
    rows = [("flag", "value", "", "why")]
    rows += [(flag["name"], flag["text"], flag["source"], flag["reason"]) for flag in plan["flags"]]
    totals = [
        (label, format_size(figures[name]), why) for name, label, why in _TOTALS if not name.startswith("memory_max")
    ]
    totals.append(("MemoryMax", format_size(plan["memory_max"]), f"of a budget of {format_size(plan['budget'])}"))
    lines = [*head(figures), "", *table(rows, (1,)), "", *table(totals, (1,))]
    return "\n".join(lines + _notes(plan["notes"]))


def _notes(notes: list[str]) -> list[str]:
    return ["", *note_lines(notes)] if notes else []


def note_lines(notes: list[str]) -> list[str]:
    """Return the notes as wrapped lines."""
    return [line for note in notes for line in textwrap.wrap(f"note: {note}", WIDTH, subsequent_indent="      ")]
