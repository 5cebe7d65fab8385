"""Markdown tables, aligned so that the source is readable too, and their cells."""

from __future__ import annotations

from collections.abc import Sequence

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB


def mib(size: float) -> str:
    """Format bytes as whole MiB."""
    return f"{size / MIB:,.0f}"


def signed_percent(share: float) -> str:
    """Format a share in percent with its sign."""
    return f"{100 * share:+.0f} %"


def mark(text: str, good: bool) -> str:
    """Mark a figure that misses its aim."""
    return text if good else f"**{text}** ✗"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table. A column whose head ends in a blank is aligned to the right."""
    right = [cell.endswith(" ") for cell in head]
    lines = [[cell.strip() for cell in head], *rows]
    widths = [max(3, *(len(line[column]) for line in lines)) for column in range(len(head))]

    def join(cells: Sequence[str]) -> str:
        padded = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(cells, widths, right, strict=True)
        ]
        return "| " + " | ".join(padded) + " |"

    rule = ["-" * (width + 1) + (":" if to_right else "-") for width, to_right in zip(widths, right, strict=True)]
    return [join(lines[0]), "|" + "|".join(rule) + "|", *map(join, lines[1:])]
