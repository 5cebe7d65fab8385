"""Judge each remedy by the measurements. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.common.statistics import Spread, full_spread
from bench.storage.matrix import (
    ALL_THREADS,
    ALONE,
    DEFAULT,
    HEAVY_UNIT,
    MAIN_THREAD,
    OWN_DEVICE,
    OWN_VOLUME,
    OWN_WAL,
    REFERENCE,
    SCHEDULERS,
    SHARED,
    UNIT,
    Combination,
)
from bench.storage.results import Row

# A remedy helps if its ratio is at most HELPS in every repeat, and harms if it is at least HARMS in every repeat.
HELPS, HARMS = 0.9, 1.1

Figure = Callable[[Row], float]


def put_p50(row: Row) -> float:
    """Return the median put latency in ms."""
    return row.put_p50


def put_p99(row: Row) -> float:
    """Return the 99th percentile of put latency in ms."""
    return row.put_p99


def fsync_p99(row: Row) -> float:
    """Return the 99th percentile of WAL fsync latency in ms."""
    return row.fsync_p99


def neighbour(row: Row) -> float:
    """Return the neighbour's writes in bytes a second."""
    return float(row.neighbour)


@dataclass(frozen=True)
class Remedy:
    """A remedy: the combination with it, and the otherwise equal combination without it."""

    name: str
    after: Combination
    before: Combination


def of(rows: Sequence[Row], combination: Combination) -> dict[int, Row]:
    """Return a combination's rows by repeat."""
    return {row.repeat: row for row in rows if row.combination == combination}


def level(rows: Sequence[Row], combination: Combination, figure: Figure) -> Spread | None:
    """Return the spread of a combination's figure over all repeats; None if it was not measured."""
    found = of(rows, combination)
    return full_spread([figure(row) for row in found.values()]) if found else None


def ratio(rows: Sequence[Row], after: Combination, before: Combination, figure: Figure) -> Spread | None:
    """Return the spread of a figure's ratio between two combinations, within each repeat; None if one was not measured."""
    late, early = of(rows, after), of(rows, before)
    values = [
        figure(row) / figure(early[repeat]) for repeat, row in late.items() if repeat in early and figure(early[repeat])
    ]
    return full_spread(values) if values else None


def word(found: Spread) -> str:
    """Return the verdict on a remedy, which must hold in every repeat."""
    return "helps" if found.high <= HELPS else "harms" if found.low >= HARMS else "no effect shown"


def remedies() -> list[Remedy]:
    """Return the usual remedies and Headroom's variants, each with the same combination without it."""
    found = [Remedy("bfq alone", Combination("bfq", DEFAULT, SHARED), REFERENCE)]
    found.append(Remedy("mq-deadline alone", Combination("mq-deadline", DEFAULT, SHARED), REFERENCE))
    for scheduler in SCHEDULERS:
        without = Combination(scheduler, DEFAULT, SHARED)
        for priority in (MAIN_THREAD, ALL_THREADS, UNIT):
            found.append(Remedy(f"{priority}, {scheduler}", Combination(scheduler, priority, SHARED), without))
    found.append(
        Remedy(f"{HEAVY_UNIT}, bfq", Combination("bfq", HEAVY_UNIT, SHARED), Combination("bfq", DEFAULT, SHARED))
    )
    for layout in (OWN_VOLUME, OWN_WAL, OWN_DEVICE, ALONE):
        found.append(Remedy(layout, Combination("none", DEFAULT, layout), REFERENCE))
    found.append(Remedy(f"{UNIT}, bfq, {OWN_VOLUME}", Combination("bfq", UNIT, OWN_VOLUME), REFERENCE))
    return found
