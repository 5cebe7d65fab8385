# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan as one page of HTML that needs nothing else: the picture, and below it the flags with their reasons.

Private to the collection. Pure.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

from ansible_collections.etcdops.headroom.plugins.module_utils._plan.report import (
    Report,
    copy_lines,
    flag_rows,
    largest_first,
    memory_rows,
    summary,
    title,
    workload_rows,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.texts import component_rows

_STYLE = """\
body { font: 15px/1.45 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.35rem } h2 { font-size: 1.05rem; margin: 2rem 0 .4rem }
figure { margin: 1.5rem 0 } svg { width: 100%; height: auto }
.wide { overflow-x: auto } table { border-collapse: collapse } caption { text-align: left; font-weight: 600; padding: 0 0 .3rem }
th, td { text-align: left; vertical-align: top; padding: .25rem 1.2rem .25rem 0; border-bottom: 1px solid #e3e3e3 }
th { font-weight: 600; color: #555 } .number { text-align: right; white-space: nowrap }
pre { background: #f5f5f5; padding: .8rem 1rem; overflow-x: auto }
"""


def page(report: Report, svg: bytes) -> bytes:
    """Return the page. svg: the picture as matplotlib wrote it."""
    name = html.escape(title(report))
    figures = report.plan["estimate"]
    # Within HTML there is neither an XML declaration nor a document type.
    picture = svg.decode("utf-8")
    picture = picture[picture.index("<svg") :].rstrip()
    label = html.escape(
        "Memory with etcd's default flags and with this plan, by component, against the limit", quote=True
    )
    parts = [
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{name}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>\n{_STYLE}</style>\n</head>\n<body>",
        f"<h1>{name}</h1>",
        *(f"<p>{html.escape(text)}</p>" for text in summary(report)),
        f'<figure role="img" aria-label="{label}">\n{picture}\n</figure>',
        _table("The flags, and why", flag_rows(report), (1,)),
        f"<h2>For etcd's command line and its unit</h2>\n<pre>{html.escape(chr(10).join(copy_lines(report)))}</pre>",
        _table("Memory", memory_rows(report), (1, 2)),
        _table("What this plan's memory goes to", component_rows(figures, largest_first(figures)), (1, 2)),
        _table("The workload", workload_rows(report), (1,)),
    ]
    if report.plan["notes"]:
        items = "\n".join(f"<li>{html.escape(note)}</li>" for note in report.plan["notes"])
        parts.append(f"<h2>Notes</h2>\n<ul>\n{items}\n</ul>")
    return "\n".join([*parts, "</body>\n</html>\n"]).encode()


def _table(heading: str, rows: Sequence[tuple[str, ...]], numbers: tuple[int, ...]) -> str:
    """Return rows as a table, the first as its header; columns named in numbers are aligned to the right."""

    def line(cells: tuple[str, ...], tag: str) -> str:
        written = []
        for column, cell in enumerate(cells):
            kind = ' class="number"' if column in numbers else ""
            written.append(f"<{tag}{kind}>{html.escape(cell)}</{tag}>")
        return f"<tr>{''.join(written)}</tr>"

    body = "\n".join(line(row, "td") for row in rows[1:])
    header = line(rows[0], "th")
    return (
        f'<h2>{html.escape(heading)}</h2>\n<div class="wide">\n<table>\n<thead>{header}</thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table>\n</div>"
    )
