"""The random cases: measured figures, the model's, and the accuracy that is aimed at for workloads that were never fitted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import CONSTANTS_HIGH
from ansible_collections.etcdops.headroom.plugins.module_utils._model.estimate import estimate
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.storage import database
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import parse_input

from bench.memory import predict
from bench.memory.points import PEAKS, Point, fastest, highest
from bench.memory.predict import number

# The aim: the median error, and the share of cases that are NEAR the highest run: within 20 % or 32 MiB.
TYPICAL, NEAR = 0.06, 0.95
NEAR_SHARE, NEAR_BYTES = 0.20, 32 * MIB
# A figure is too low if it misses the highest run by more than both of these, and by more than etcd's own spread.
LOW_SHARE, LOW_BYTES = 0.05, 10 * MIB


def workload_of(row: dict[str, str], moment: str) -> dict[str, Any]:
    """Return a random case as the model's workload.

    In contrast to the other cases, watches are open during the puts, on connections of their own, which put nothing.
    """
    puts = predict.workload_of({**row, "connections": "0"}, moment)
    return {
        **puts,
        **predict.watches_of(row, number(row, "streams")),
        "clients": puts["clients"] + number(row, "connections"),
        "writers": puts["clients"],
    }


def settings_of(row: dict[str, str], moment: str) -> dict[str, Any]:
    """Return the settings of a random case, with a quota for as many revisions as it put: a short load is never compacted."""
    settings = predict.settings_of(row, moment)
    given = parse_input(row["version"], workload_of(row, moment), settings, number(row, "members"))
    revision = database(CONSTANTS_HIGH[row["series"]], given.workload, given.settings).revision
    return {**settings, "quota_backend_bytes": min(settings["quota_backend_bytes"], number(row, "puts") * revision)}


def predicted(row: dict[str, str], moment: str) -> dict[str, Any]:
    """Return the model's estimate of a random case."""
    return estimate(row["version"], workload_of(row, moment), settings_of(row, moment), number(row, "members"))


def random_runs(rows: Sequence[dict[str, str]]) -> list[Point]:
    """Return the peaks of each run of each random case."""
    found = []
    for row in fastest(rows):
        for what, name, moment in PEAKS:
            measured = max(float(row[name]), float(row["rss_anon_peak"]))
            found.append(Point(row, what, measured, predicted(row, moment)[name]))
    return found


def random_points(rows: Sequence[dict[str, str]]) -> list[Point]:
    """Return the highest peaks of each random case over all its runs and starts."""
    return highest(random_runs(rows))


def is_near(point: Point) -> bool:
    """Return whether the model is near the highest run."""
    return abs(point.model - point.measured) <= max(NEAR_SHARE * point.measured, NEAR_BYTES)


def is_low(point: Point) -> bool:
    """Return whether the model is too low: below the highest run, and, if the runs differ, below the median run too."""
    reference = point.middle if point.varies else point.measured
    return reference - point.model > max(LOW_SHARE * reference, LOW_BYTES)


def is_reached(points: Sequence[Point]) -> bool:
    """Return whether these cases reach the aim."""
    typical = median(abs(point.error) for point in points)
    return typical <= TYPICAL and near_share(points) >= NEAR and not any(map(is_low, points))


def near_share(points: Sequence[Point]) -> float:
    """Return the share of cases that are near."""
    return sum(map(is_near, points)) / len(points)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that this share of all values does not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]
