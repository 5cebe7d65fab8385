"""Draw the proof: memory relative to the limit, throughput and latency relative to unlimited defaults."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB
from matplotlib.axes import Axes

from bench.common import figures
from bench.common.statistics import Spread
from bench.plan.configurations import LIMITED, PLAN, UNLIMITED
from bench.plan.verdict import MAX_P99, MIN_THROUGHPUT, Verdict

OURS, RESTART, THEIRS, LIMIT = "#2a78b5", "#8fc1e3", "#b9b9b9", "#c0392b"


def draw(verdicts: Sequence[Verdict], folder: Path) -> None:
    """Write proof.svg and proof.png; the same verdicts give the same files."""
    figure, (left, middle, right) = plt.subplots(
        1, 3, figsize=(11, 1.6 + 0.52 * len(verdicts)), sharey=True, width_ratios=(2.3, 1, 1)
    )
    _memory(left, verdicts)
    _ratios(middle, [verdict.throughput for verdict in verdicts], [verdict.fast_enough for verdict in verdicts])
    middle.axvline(MIN_THROUGHPUT, color=LIMIT, lw=1)
    middle.set_title("puts/s,\nplan : unlimited defaults", fontsize=9)
    _ratios(right, [verdict.p99 for verdict in verdicts], [verdict.prompt_enough for verdict in verdicts])
    right.axvline(MAX_P99, color=LIMIT, lw=1)
    right.set_title("p99 latency,\nplan : unlimited defaults", fontsize=9)
    left.set_yticks(range(len(verdicts)), [_label(verdict) for verdict in verdicts], fontsize=8)
    left.invert_yaxis()
    figure.legend(*left.get_legend_handles_labels(), loc="lower center", ncols=5, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    figures.save(figure, folder, "proof")


def _label(verdict: Verdict) -> str:
    limit = verdict.rows(PLAN)[0].memory_max / MIB
    return f"{verdict.name}\nlimit {limit:,.0f} MiB"


def _memory(axes: Axes, verdicts: Sequence[Verdict]) -> None:
    """Draw bars of RssAnon in percent of the limit, the highest of the repeats."""
    height = 0.27
    for index, verdict in enumerate(verdicts):
        limit = verdict.rows(PLAN)[0].memory_max
        ours = max(row.rss_anon_peak for row in verdict.rows(PLAN)) / limit
        restart = max(row.restart_rss_anon_peak for row in verdict.rows(PLAN)) / limit
        theirs = max(row.rss_anon_peak for row in verdict.rows(UNLIMITED)) / limit
        first = index == 0
        bars = ((-height, ours, OURS, "plan"), (0, restart, RESTART, "plan, after a restart"))
        for offset, value, colour, label in (*bars, (height, theirs, THEIRS, "defaults without a limit")):
            axes.barh(index + offset, value, height * 0.92, color=colour, label=label if first else None)
        limited = verdict.rows(LIMITED)
        if verdict.killed:
            text = f"✗ killed under this limit, {verdict.killed} of {len(limited)}"
            axes.text(max(theirs, 1.0) + 0.06, index + height, text, fontsize=7, va="center", color=LIMIT)
    axes.axvline(1, color=LIMIT, lw=1.2, label="MemoryMax")
    axes.set_title("RssAnon peak, in percent of MemoryMax", fontsize=9)
    axes.xaxis.set_major_formatter(lambda value, _position: f"{value:.0%}")
    axes.set_xlim(0, axes.get_xlim()[1] * 1.45)
    figures.style(axes)


def _ratios(axes: Axes, spreads: Sequence[Spread], good: Sequence[bool]) -> None:
    """Draw dots with whiskers, red where a claim is not met."""
    for index, (spread, fine) in enumerate(zip(spreads, good, strict=True)):
        colour = OURS if fine else LIMIT
        axes.plot([spread.low, spread.high], [index, index], color=colour, lw=1.4)
        axes.plot(spread.middle, index, "o", color=colour, ms=5)
    axes.axvline(1, color="0.8", lw=0.8, zorder=0)
    axes.xaxis.set_major_formatter(lambda value, _position: f"{value:.0%}")
    axes.set_xlim(min(0.5, axes.get_xlim()[0]), max(1.5, axes.get_xlim()[1]))
    figures.style(axes)
