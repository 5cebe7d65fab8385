# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read and write Prometheus' text format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

# Name, labels and value; the timestamp that may follow is left out.
_SAMPLE = re.compile(r"^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)", re.MULTILINE)


class Sample(NamedTuple):
    """One line of metrics. ``labels`` is the text between the braces, ``text`` the value as it is written."""

    name: str
    labels: str
    text: str

    @property
    def value(self) -> float:
        """The value as a number. Raises ValueError."""
        return float(self.text)

    def label(self, name: str) -> str | None:
        """Return the text of a label, None if the sample does not have it."""
        found = re.search(rf'(?:^|,){name}="((?:[^"\\]|\\.)*)"', self.labels)
        return found[1] if found else None


def parse_samples(page: str) -> Iterator[Sample]:
    """Yield the samples of a page of metrics; comments and other lines are left out."""
    for name, labels, text in _SAMPLE.findall(page):
        yield Sample(name, labels, text)


def format_gauge(name: str, description: str, samples: Iterable[tuple[Mapping[str, str], float]]) -> list[str]:
    """Return the lines of a gauge from labels and value of each sample; none without samples."""
    lines = []
    for labels, value in samples:
        listed = ",".join(f'{label}="{escape_label(text)}"' for label, text in labels.items())
        lines.append(f"{name}{{{listed}}} {value}")
    return [f"# HELP {name} {description}", f"# TYPE {name} gauge", *lines] if lines else []


def escape_label(text: str) -> str:
    """Escape what ends a label. Prometheus knows no other escapes, and refuses the whole page because of one."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
