"""Draw put and WAL fsync latency of all combinations, with a colour for each scheduler."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from bench.common import figures
from bench.storage.matrix import ALONE, LAYOUTS, PRIORITIES, REFERENCE, SCHEDULERS, Combination
from bench.storage.results import Row
from bench.storage.verdict import Figure, fsync_p99, level, put_p99

COLOURS = {"none": "#8a8a8a", "mq-deadline": "#d9822b", "bfq": "#2a78b5"}
GUIDE = "#c0392b"
GUIDE_MS = 10


def draw(rows: Sequence[Row], folder: Path) -> None:
    """Write evidence.svg and evidence.png; the same rows give the same files."""
    lines = [
        (layout, priority)
        for layout in (*LAYOUTS, ALONE)
        for priority in PRIORITIES
        if any(row.layout == layout and row.priority == priority for row in rows)
    ]
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 1.5 + 0.42 * len(lines)), sharey=True)
    for axes, what, title in ((left, put_p99, "put p99, ms"), (right, fsync_p99, "WAL fsync p99, ms")):
        _panel(axes, rows, lines, what, title)
    right.axvline(GUIDE_MS, color=GUIDE, lw=1, label="etcd's guide: 10 ms")
    left.set_yticks(range(len(lines)), [_label(layout, priority) for layout, priority in lines], fontsize=8)
    left.invert_yaxis()
    figure.legend(*right.get_legend_handles_labels(), loc="lower center", ncols=4, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0.04, 1, 1))
    figures.save(figure, folder, "evidence")


def _label(layout: str, priority: str) -> str:
    return "alone (no neighbour)" if layout == ALONE else f"{layout}: {priority}"


def _panel(axes: Axes, rows: Sequence[Row], lines: Sequence[tuple[str, str]], what: Figure, title: str) -> None:
    """Draw a dot at the median of the repeats and a line from minimum to maximum, with a colour for each scheduler."""
    step = 0.24
    for number, scheduler in enumerate(SCHEDULERS):
        label: str | None = scheduler
        for index, (layout, priority) in enumerate(lines):
            found = level(rows, Combination(scheduler, priority, layout), what)
            if found is None:
                continue
            y = index + (number - 1) * step
            axes.plot([found.low, found.high], [y, y], color=COLOURS[scheduler], lw=1.4)
            axes.plot(found.middle, y, "o", color=COLOURS[scheduler], ms=4.5, label=label)
            label = None
    for index in range(1, len(lines)):
        if lines[index][0] != lines[index - 1][0]:
            axes.axhline(index - 0.5, color="0.75", lw=0.8)
    reference = level(rows, REFERENCE, what)
    if reference:
        axes.axvline(reference.middle, color="0.8", lw=0.8, zorder=0)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(lambda value, _position: f"{value:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_title(title, fontsize=9)
    figures.style(axes)
