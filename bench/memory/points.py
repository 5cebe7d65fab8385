"""Measured figures and the model's figures for the same cases, and the accuracy that the model promises."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from bench.memory.predict import predicted

# The promise for cases that were not fitted, as shares of the highest measurement: median error, maximum above and below.
TYPICAL, ABOVE, BELOW = 0.10, 0.20, 0.05
# The title of a figure, its name in the results and in the estimate, and its moment.
PEAKS = (("RssAnon peak", "rss_anon_peak", "running"), ("after a restart", "restart_rss_anon_peak", "restart"))


@dataclass(frozen=True)
class Point:
    """A figure of a measured case: bytes measured and predicted."""

    row: dict[str, str]
    what: str
    measured: float
    model: int
    # Over all runs of the case, once they are merged: the lowest figure, and the median of each run's highest.
    lowest: float = 0.0
    middle: float = 0.0

    @property
    def times(self) -> int:
        """Return how often it was measured in this run of the case."""
        return int(self.row["restarts"]) if self.what == "after a restart" else 1

    @property
    def least(self) -> float:
        """Return the lowest of these measurements."""
        return float(self.row["restart_rss_anon_least"]) if self.what == "after a restart" else self.measured

    @property
    def error(self) -> float:
        """Return the model's error as a share of the measurement, positive if the model is above it."""
        return self.model / self.measured - 1

    @property
    def varies(self) -> bool:
        """Return whether the case's runs differ by more than the promised band, so that no figure fits all of them."""
        return self.measured * (1 - BELOW) > self.lowest * (1 + ABOVE)

    @property
    def kept(self) -> bool:
        """Return whether the model keeps the promise: near the highest run, or between the median and the highest if the runs vary."""
        least = self.middle if self.varies else self.measured
        return least * (1 - BELOW) <= self.model <= self.measured * (1 + ABOVE)


def fastest(rows: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Return the rows with the highest rate that their case reached, because a busy machine lowers the rate, not the clients' number."""
    rates: dict[tuple[str, str], float] = {}
    for row in rows:
        case = (row["version"], row["name"])
        rates[case] = max(rates.get(case, 0), float(row["puts_per_second"]))
    return [{**row, "puts_per_second": f"{rates[row['version'], row['name']]:g}"} for row in rows]


def points(rows: Iterable[dict[str, str]]) -> list[Point]:
    """Return all peaks of all rows."""
    found = []
    for row in fastest(list(rows)):
        for what, name, moment in PEAKS:
            if float(row[name]):
                # In the model too, a restart lasts until the member runs steadily again.
                measured = max(float(row[name]), float(row["rss_anon_peak"]))
                found.append(Point(row, what, measured, predicted(row, moment)[name]))
    return found


def runs(found: Sequence[Point]) -> dict[tuple[str, str, str], list[Point]]:
    """Group the points by version, case and figure."""
    listed: dict[tuple[str, str, str], list[Point]] = {}
    for point in found:
        listed.setdefault((point.row["version"], point.row["name"], point.what), []).append(point)
    return listed


def highest(found: Sequence[Point]) -> list[Point]:
    """Return the highest point of each case and figure, which a limit must cover."""
    return [
        replace(
            max(same, key=lambda point: point.measured),
            lowest=min(point.least for point in same),
            middle=median(point.measured for point in same),
        )
        for same in runs(found).values()
    ]


def part(found: Sequence[Point], name: str) -> list[Point]:
    """Return the points of one part."""
    return [point for point in found if point.row["part"] == name]
