# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Statistics of sizes in bytes, weighted, because a sample's pages stand for parts of different size. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

_PERCENTILES = (50, 90, 99)
# The upper bounds of a histogram's buckets: 64 bytes, then four times the last, up to 1 MiB.
BOUNDS = tuple(64 << (2 * step) for step in range(8))


@dataclass(frozen=True)
class Sizes:
    """Mean, percentiles and the largest of some sizes in bytes, rounded."""

    mean: int
    percentiles: dict[int, int]
    largest: int

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as a module's result."""
        named = {f"p{percent}": size for percent, size in self.percentiles.items()}
        return {"mean": self.mean, **named, "max": self.largest}


def summarize(weighted: Iterable[tuple[int, float]]) -> Sizes | None:
    """Return the statistics of (size, weight), None without any weight."""
    ordered = sorted((size, weight) for size, weight in weighted if weight > 0)
    total = sum(weight for _size, weight in ordered)
    if not ordered:
        return None
    running, reached = 0.0, []
    for _size, weight in ordered:
        running += weight
        reached.append(running)
    last = len(ordered) - 1
    percentiles = {
        percent: ordered[min(last, bisect_left(reached, total * percent / 100))][0] for percent in _PERCENTILES
    }
    mean = round(sum(size * weight for size, weight in ordered) / total)
    return Sizes(mean, percentiles, ordered[last][0])


class Histogram:
    """Counts sizes in buckets that each reach to four times the bound of the one before; the last has no bound."""

    def __init__(self) -> None:
        self._counts = [0] * (len(BOUNDS) + 1)
        self._bytes = [0] * (len(BOUNDS) + 1)

    def add(self, size: int) -> None:
        """Count a size."""
        bucket = bisect_left(BOUNDS, size)
        self._counts[bucket] += 1
        self._bytes[bucket] += size

    def as_list(self) -> list[dict[str, int | None]]:
        """Return the buckets that are not empty, smallest first: the bound in bytes (None: no bound), count and bytes."""
        bounds: list[int | None] = [*BOUNDS, None]
        return [
            {"up_to": bound, "keys": count, "bytes": size}
            for bound, count, size in zip(bounds, self._counts, self._bytes)
            if count
        ]
