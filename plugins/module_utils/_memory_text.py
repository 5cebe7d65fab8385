# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An estimate or a plan as a person reads it.

Private to the collection. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._units import format_count, format_size

_KINDS = {"heap": "", "spike": "for a moment", "restart": "at start", "defrag": "defragmenting", "file": "mapped file"}

_TOTALS = (
    ("heap_live", "live heap", "what is in use at the peak"),
    ("rss_anon_peak", "RssAnon peak", "what cannot be dropped, garbage included"),
    ("restart_rss_anon_peak", "RssAnon after a restart", "the write-ahead log is replayed into memory"),
    ("defrag_rss_anon_peak", "RssAnon, defragmenting", "for a moment"),
    ("rss_file_peak", "RssFile peak", "mapped database and program; can be dropped and read again"),
    ("memory_max_recommended", "MemoryMax recommended", "the larger peak, hot pages, kernel, and 5 % of air"),
)


def table(rows: Sequence[tuple[str, ...]], numbers: tuple[int, ...] = ()) -> list[str]:
    """Return rows as aligned lines; columns named in numbers are aligned to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if column in numbers else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def workload_line(figures: dict[str, Any]) -> str:
    """Return the workload in one line; what was assumed is marked."""
    work, assumed = figures["workload"], figures["assumed"]
    parts = []
    for name, value in work.items():
        if value is None:
            continue
        text = format_size(value) if name.endswith("_size") else format_count(value)
        parts.append(f"{name} {text}{' (assumed)' if name in assumed else ''}")
    return ", ".join(parts)


def head(figures: dict[str, Any]) -> list[str]:
    """Return the lines above each table."""
    members = figures["members"]
    return [
        f"etcd {figures['version']}, {members} member{'s' if members > 1 else ''}",
        f"workload: {workload_line(figures)}",
    ]


def estimate_text(figures: dict[str, Any]) -> str:
    """Return an estimate: components, totals, notes."""
    components = [("component", "low", "high", "", "why")]
    for part in figures["components"]:
        components.append(
            (part["name"], format_size(part["low"]), format_size(part["high"]), _KINDS[part["kind"]], part["why"])
        )
    totals = [(label, format_size(figures[name]), why) for name, label, why in _TOTALS]
    lines = [*head(figures), "", *table(components, (1, 2)), "", *table(totals, (1,))]
    return "\n".join(lines + _notes(figures["notes"]))


def plan_text(plan: dict[str, Any]) -> str:
    """Return a plan: flags with their reasons, what they lead to, notes."""
    figures = plan["estimate"]
    rows = [("flag", "value", "", "why")]
    rows += [(flag["name"], flag["text"], flag["source"], flag["reason"]) for flag in plan["flags"]]
    totals = [
        (label, format_size(figures[name]), why) for name, label, why in _TOTALS if name != "memory_max_recommended"
    ]
    totals.append(("MemoryMax", format_size(plan["memory_max"]), f"of a budget of {format_size(plan['budget'])}"))
    lines = [*head(figures), "", *table(rows, (1,)), "", *table(totals, (1,))]
    return "\n".join(lines + _notes(plan["notes"]))


def _notes(notes: list[str]) -> list[str]:
    return ["", *(f"note: {note}" for note in notes)] if notes else []
