# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The picture of a plan: readable whatever is planned, and the same bytes for the same plan."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from typing import Any
from xml.etree import ElementTree

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.bars import PARTS
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.report import Report, prepare
from ansible_collections.etcdops.headroom.plugins.plugin_utils._plan import picture
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

PLANS: dict[str, dict[str, Any]] = {
    "only the value's size": {"workload": {"value_size": "100KB"}},
    "defaults far over": {
        "version": "3.6.16",
        "workload": {"value_size": "1MB", "keys": 500, "puts_per_second": 5},
        "budget": "2GB",
    },
    "everything far over": {
        "version": "3.5.35",
        "workload": {"value_size": "1MB", "keys": 99, "puts_per_second": 5},
        "budget": "3GB",
    },
    "limit far away": {"workload": {}, "budget": "64GB"},
    "many keys": {"workload": {"keys": 2000000, "value_size": 300, "clients": 5000}, "budget": "4GB"},
    "one member, little": {"members": 1, "workload": {"puts_per_second": 0, "keys": 1, "clients": 0}},
    "limits pinned": {"workload": {}, "budget": "2GB", "settings": {"memory_max": "600MB", "memory_high": "300MB"}},
    "large": {"workload": {"keys": 12345678, "value_size": 7, "watchers": 99999999, "clients": 999999}},
}


def texts_of(report: Report) -> list[tuple[str, Any]]:
    """Return every text of the picture with the box that it takes, in pixels."""
    figure = Figure(figsize=picture.SIZE)
    canvas = FigureCanvasAgg(figure)
    picture.compose(figure, report)
    canvas.draw()
    found = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    return [(text.get_text(), text.get_window_extent(canvas.get_renderer())) for text in found]


@pytest.mark.parametrize("name", PLANS)
def test_texts_do_not_overlap_and_stay_on_the_page(name: str) -> None:
    boxes = texts_of(prepare(**PLANS[name]))
    width, height = (inches * 100 for inches in picture.SIZE)
    for text, box in boxes:
        assert box.x0 >= 0 and box.x1 <= width and box.y0 >= 0 and box.y1 <= height, text
    for (one, first), (other, second) in itertools.combinations(boxes, 2):
        across = min(first.x1, second.x1) - max(first.x0, second.x0)
        down = min(first.y1, second.y1) - max(first.y0, second.y0)
        # The space above and below the letters of two lines may overlap.
        assert across <= 0 or down <= 3, f"{one!r} and {other!r} overlap"


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_same_plan_gives_the_same_bytes(kind: str) -> None:
    report = prepare(workload={"value_size": "100KB"}, budget="2GB")
    first = picture.draw(report, kind)
    assert first == picture.draw(report, kind)
    assert first.startswith(b"<?xml" if kind == "svg" else b"\x89PNG")


def test_svg_has_its_texts_and_names_no_date() -> None:
    svg = picture.draw(prepare("3.7.3", {"value_size": "100KB"}, 3, "2GB"), "svg")
    root = ElementTree.fromstring(svg)
    shown = {"".join(text.itertext()).strip() for text in root.iter("{http://www.w3.org/2000/svg}text")}
    for text in (
        "Memory of one of 3 members, etcd 3.7.3",
        "running",
        "after a restart",
        "the budget, MemoryMax 2.0 GiB",
    ):
        assert text in shown
    assert b"<dc:date>" not in svg and b"Matplotlib v" not in svg


def test_every_part_has_a_colour_of_its_own() -> None:
    assert set(picture.COLOURS) == set(PARTS)
    assert len({colour for colour, _ink in picture.COLOURS.values()}) == len(PARTS)
    for colour, ink in picture.COLOURS.values():
        assert contrast(colour, {"white": "#FFFFFF", "black": "#000000"}[ink]) >= 3


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG 2.2 defines it."""

    def luminance(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, bright = sorted((luminance(one), luminance(other)))
    return (bright + 0.05) / (dark + 0.05)


def test_importing_needs_no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second copy of the module, because others hold on to the first."""
    for name in ["matplotlib", *(name for name in sys.modules if name.startswith("matplotlib."))]:
        monkeypatch.setitem(sys.modules, name, None)
    spec = importlib.util.spec_from_file_location("picture_without_matplotlib", picture.__file__)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert isinstance(module.MATPLOTLIB_ERROR, ImportError)
