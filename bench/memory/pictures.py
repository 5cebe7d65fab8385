"""Draw predicted against measured memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.lines import Line2D

# Colours that colour-blind readers can distinguish (Okabe and Ito).
COLOURS = {"3.5": "#0072B2", "3.6": "#D55E00", "3.7": "#009E73"}
MARKERS = {"RssAnon peak": "o", "after a restart": "^"}


def file_name(component: str) -> str:
    """Return the file name of a component's picture."""
    return f"{component.replace(' ', '-')}.svg"


def legend(band: tuple[float, float]) -> list[Line2D]:
    """Return the entries of the legend: series, figures, parts, and the promised band."""
    handles = [
        Line2D([], [], color=colour, marker="s", linestyle="none", label=f"etcd {series}")
        for series, colour in COLOURS.items()
    ]
    handles += [
        Line2D([], [], color="0.3", marker=marker, linestyle="none", label=what) for what, marker in MARKERS.items()
    ]
    return [
        *handles,
        Line2D([], [], color="0.3", marker="o", linestyle="none", label="not fitted"),
        Line2D([], [], color="0.3", marker="o", markerfacecolor="none", linestyle="none", label="fitted"),
        Line2D([], [], color="0.88", linewidth=8, label=f"promised: −{band[0]:.0%} to +{band[1]:.0%}"),
    ]


def draw(
    path: Path, title: str, found: Sequence[tuple[float, float, str, str, str]], band: tuple[float, float]
) -> None:
    """Draw (measured, predicted, series, part, figure) on logarithmic axes with the promised band. Deterministic."""
    plt.rcParams["svg.hashsalt"] = "headroom"
    figure, axes = plt.subplots(figsize=(6.4, 5.2), layout="constrained")
    sizes = [size / MIB for row in found for size in row[:2]]
    low, high = min(sizes) / 1.4, max(sizes) * 1.4
    axes.plot([low, high], [low, high], color="0.4", linewidth=1)
    axes.fill_between(
        [low, high],
        [low * (1 - band[0]), high * (1 - band[0])],
        [low * (1 + band[1]), high * (1 + band[1])],
        color="0.88",
        linewidth=0,
        zorder=0,
    )
    for measured, model, series, part, what in found:
        colour = COLOURS[series]
        axes.plot(
            measured / MIB,
            model / MIB,
            MARKERS[what],
            color=colour,
            markersize=6,
            alpha=0.85,
            markerfacecolor="none" if part == "fit" else colour,
            linestyle="none",
        )
    axes.set(
        xscale="log",
        yscale="log",
        xlim=(low, high),
        ylim=(low, high),
        xlabel="measured, MiB",
        ylabel="predicted, MiB",
        title=f"{title}: RssAnon, predicted against measured",
    )
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.legend(handles=legend(band), loc="upper left", fontsize="small", framealpha=1)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(figure)
