"""Matplotlib figures that come out the same for the same data, as SVG for the documentation and PNG for a quick look."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

SALT = "headroom"


def style(axes: Axes) -> None:
    """Set small tick labels and remove the top and right border."""
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write NAME.svg and NAME.png without dates and random ids, and close the figure."""
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"svg.hashsalt": SALT}):
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    figure.savefig(folder / f"{name}.png", dpi=110, metadata={"Software": None})
    plt.close(figure)
