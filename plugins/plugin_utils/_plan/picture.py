# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw a plan with matplotlib on the controller.

The same plan gives the same bytes: the picture has no date and no random ids, and ignores matplotlibrc.
"""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import GIB, MIB, format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.bars import (
    GARBAGE,
    ITSELF,
    OUTSIDE_GO,
    PARTS,
    STARTUP,
    Bar,
    caption,
    groups,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.report import Report

try:
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch
except ImportError as error:
    MATPLOTLIB_ERROR: ImportError | None = error
else:
    MATPLOTLIB_ERROR = None

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which people with any colour vision tell apart, and greys for what is not etcd's data; with the text on it.
COLOURS = {
    "raft log": ("#D55E00", "white"),
    "index": ("#0072B2", "white"),
    "connections, watches, leases": ("#56B4E9", "black"),
    "requests and answers in flight": ("#F0E442", "black"),
    STARTUP: ("#009E73", "white"),
    ITSELF: ("#CC79A7", "black"),
    GARBAGE: ("#D9D9D9", "black"),
    OUTSIDE_GO: ("#8C8C8C", "black"),
}
LIMIT = "#B00020"
QUIET = "#555555"
SIZE = (10.0, 6.4)  # inches
LEFT, RIGHT, TOP, BOTTOM = 0.15, 0.965, 0.83, 0.2
MARGIN = 0.015
# Width of the axes, and the upper bound of a label's character, in points.
WIDTH = SIZE[0] * (RIGHT - LEFT) * 72
CHARACTER = 5.0
# A stack that is this many times the limit is cut off, because the plan below it would be too small to read; and so is the limit itself,
# where it is that far from any stack.
CUT = 3.5
# What the longest stack is stretched by to have room for its label.
LABEL = 1.32


def draw(report: Report, kind: str) -> bytes:
    """Draw the report as ``kind``, svg or png, and return the file's content. Raises ImportError without matplotlib."""
    if MATPLOTLIB_ERROR is not None:
        raise MATPLOTLIB_ERROR
    with mpl.rc_context():
        mpl.rcdefaults()
        # Keep text as text, so that it can be searched and read aloud.
        mpl.rcParams.update(
            {"svg.hashsalt": "headroom", "svg.fonttype": "none", "font.size": 9, "hatch.linewidth": 0.5}
        )
        figure = Figure(figsize=SIZE, facecolor="white")
        compose(figure, report)
        out = io.BytesIO()
        metadata = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}[kind]
        figure.savefig(out, format=kind, dpi=144, metadata=metadata)
    return out.getvalue()


def compose(figure: Figure, report: Report) -> None:
    """Compose the picture on a figure of SIZE."""
    title, below = caption(report)
    figure.text(MARGIN, 0.955, title, fontsize=13, fontweight="bold", va="center")
    figure.text(MARGIN, 0.908, below, fontsize=9, color=QUIET, va="center")
    axes = figure.add_axes((LEFT, BOTTOM, RIGHT - LEFT, TOP - BOTTOM))
    shown = groups(report)
    highest = max(sum(stack.high.values()) for group in shown for stack in group.bars)
    planned = max(sum(stack.high.values()) for stack in shown[-1].bars)
    limit = report.plan["memory_max"]
    end = math.ceil(scale_end(highest, planned, limit))
    y = 0.0
    for group in shown:
        axes.text(
            (MARGIN - LEFT) / (RIGHT - LEFT),
            y + 0.02,
            group.label,
            transform=axes.get_yaxis_transform(),
            fontweight="bold",
            va="center",
        )
        y += 0.62
        for stack in group.bars:
            axes.text(-0.012, y, stack.label, transform=axes.get_yaxis_transform(), ha="right", va="center")
            _bars(axes, stack, y, end, limit)
            y += 1.0
        y += 0.1
    _limits(axes, report, end)
    axes.set(xlim=(0, end), ylim=(y - 0.35, -0.4), yticks=[])
    _scale(axes, end)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    present = [part for part in PARTS if any(stack.high.get(part) for group in shown for stack in group.bars)]
    handles = [Patch(facecolor=COLOURS[part][0], hatch=_hatch(part), edgecolor="white", label=part) for part in present]
    figure.legend(handles=handles, loc="lower left", bbox_to_anchor=(0.008, 0.045), ncol=4, frameon=False, fontsize=8.5)
    figure.text(
        MARGIN,
        0.025,
        "Thick bar: maximum, with garbage. Thin bar: live heap only. The page cache uses the rest and can be reclaimed.",
        fontsize=8,
        color=QUIET,
        va="center",
    )


def scale_end(highest: int, planned: int, limit: int) -> float:
    """Return the end of the axis, with space for the labels of the bars and of the limit, unless they are far apart."""
    if limit > highest * CUT:
        return highest * 1.8
    if highest > max(limit, planned) * CUT:
        return max(limit * CUT, planned * LABEL)
    return max(highest * LABEL, limit * 1.4)


def _bars(axes: Axes, stack: Bar, y: float, end: int, limit: int) -> None:
    """Draw the maximum of a moment as a thick stack, and its minimum as a thin stack below."""
    high, low = sum(stack.high.values()), sum(stack.low.values())
    over = high - limit
    verdict = f"{format_size(high)}, {format_size(over)} over" if over > 0 else f"{format_size(high)}, fits"
    style = {"fontweight": "bold", "color": LIMIT if over > 0 else "black", "fontsize": 9}
    clear = _total(axes, high, verdict, y, end, limit, style)
    _total(axes, low, f"at least {format_size(low)}", y + 0.34, end, limit, {"color": QUIET, "fontsize": 7.5})
    for sizes, centre, height in ((stack.high, y, 0.46), (stack.low, y + 0.34, 0.12)):
        left = 0
        for part in PARTS:
            size = sizes.get(part, 0)
            width = min(left + size, end) - left
            if width > 0:
                line = 0.6 if width * 100 > end else 0  # a border would hide a thinner bar
                colour = COLOURS[part][0]
                axes.barh(
                    centre, width, height, left, color=colour, hatch=_hatch(part), edgecolor="white", linewidth=line
                )
                if sizes is stack.high:
                    _inside(axes, left, min(left + size, clear) - left, end, y, part, size)
            left += size


def _total(axes: Axes, size: int, text: str, y: float, end: int, limit: int, style: dict[str, Any]) -> int:
    """Write a sum next to its stack, clear of the limit's line, or at the end of a stack that is cut off.

    Returns the position up to which the stack is free for other text.
    """
    gap = end // 150
    length: int = round(len(text) * CHARACTER * style["fontsize"] / 8 / WIDTH * end)
    where = limit + gap if size <= limit < size + length else size + gap
    if size <= end and where + length <= end:
        axes.text(where, y, text, va="center", **style)
        return end
    text = f"{text} →" if size > end else text
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.9}
    axes.text(min(size, end) - gap, y, text, ha="right", va="center", bbox=box, **style)
    return min(size, end) - length - 3 * gap


def _inside(axes: Axes, left: int, width: int, end: int, y: float, part: str, size: int) -> None:
    """Write a part's name and size into its bar, or only the name, or nothing, as space permits."""
    room = width / end * WIDTH / CHARACTER - 1
    colour, ink = COLOURS[part]
    for text in (f"{_short(part)} {format_size(size)}", _short(part)):
        if len(text) <= room:
            box = {"facecolor": colour, "edgecolor": "none", "pad": 1} if _hatch(part) else None
            axes.text(left + width / 2, y, text, ha="center", va="center", color=ink, fontsize=8, bbox=box)
            return


def _short(part: str) -> str:
    """Return the first word or two of a part's name."""
    return part.split(",")[0].split(" before")[0].split(" and")[0]


def _hatch(part: str) -> str:
    return "////" if part == GARBAGE else ""


def _limits(axes: Axes, report: Report, end: int) -> None:
    """Draw MemoryHigh, where the kernel reclaims, and MemoryMax, where it kills."""
    high, limit = report.plan["memory_high"], report.plan["memory_max"]
    above: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "va": "bottom", "color": LIMIT, "fontsize": 8.5}
    budget = "the budget, " if limit == report.plan["budget"] else ""
    text = f"{budget}MemoryMax {format_size(limit)}"
    if limit > end:
        axes.text(end, 1.015, f"{text} →", ha="right", fontweight="bold", **above)
        return
    axes.axvspan(limit, end, color=LIMIT, alpha=0.05, linewidth=0, zorder=0)
    axes.axvline(high, color=LIMIT, linewidth=1, linestyle=(0, (4, 3)), zorder=3)
    axes.axvline(limit, color=LIMIT, linewidth=1.8, zorder=3)
    axes.text(high, 1.015, f"MemoryHigh {format_size(high)} ", ha="right", **above)
    axes.text(limit, 1.015, f" {text}", ha="left", fontweight="bold", **above)


def _scale(axes: Axes, end: int) -> None:
    """Label the axis in MiB or GiB at round numbers, with at most eight marks."""
    step = MIB
    while end / step > 8:
        step *= 2
    axes.set_xticks(range(0, end + 1, step), [_mark(number) for number in range(0, end + 1, step)])
    axes.tick_params(axis="x", color=QUIET, labelcolor=QUIET)
    axes.grid(axis="x", color="#E6E6E6", linewidth=0.8, zorder=0)
    axes.set_axisbelow(True)


def _mark(size: int) -> str:
    if size == 0:
        return "0"
    unit, name = (GIB, "GiB") if size >= GIB else (MIB, "MiB")
    return f"{size / unit:g} {name}"
