"""Figures over several repeats. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles


@dataclass(frozen=True)
class Spread:
    """A median and the range around it: minimum and maximum, or the quartiles."""

    middle: float
    low: float
    high: float


NOT_MEASURED = Spread(float("nan"), float("nan"), float("nan"))


def full_spread(values: Sequence[float]) -> Spread:
    """Return median, minimum and maximum."""
    return Spread(median(values), min(values), max(values))


def quartile_spread(values: Sequence[float]) -> Spread:
    """Return median, first and third quartile; a single value is its own quartiles."""
    if len(values) < 2:
        return full_spread(values)
    first, middle, third = quantiles(values, n=4, method="inclusive")
    return Spread(middle, first, third)
