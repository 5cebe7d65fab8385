"""What the measurements say about each remedy. Pure."""

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

# Below this share in every repeat a remedy helps, above its counterpart in every repeat it harms; all else shows nothing.
HELPS, HARMS = 0.9, 1.1

Figure = Callable[[Row], float]


def put_p50(row: Row) -> float:
    """The latency that half of the puts stay within, in ms."""
    return row.put_p50


def put_p99(row: Row) -> float:
    """The latency that 99 % of the puts stay within, in ms."""
    return row.put_p99


def fsync_p99(row: Row) -> float:
    """The same of the WAL's fsyncs."""
    return row.fsync_p99


def neighbour(row: Row) -> float:
    """What the neighbour writes, in bytes a second."""
    return float(row.neighbour)


@dataclass(frozen=True)
class Remedy:
    """Something that is advised: the combination with it, and the combination that differs in nothing else."""

    name: str
    after: Combination
    before: Combination


def of(rows: Sequence[Row], combination: Combination) -> dict[int, Row]:
    """A combination's rows by repeat."""
    return {row.repeat: row for row in rows if row.combination == combination}


def level(rows: Sequence[Row], combination: Combination, figure: Figure) -> Spread | None:
    """A figure of a combination over all repeats; None if it was not measured."""
    found = of(rows, combination)
    return full_spread([figure(row) for row in found.values()]) if found else None


def ratio(rows: Sequence[Row], after: Combination, before: Combination, figure: Figure) -> Spread | None:
    """How a figure changes from one combination to another, within each repeat; None if one of them was not measured."""
    late, early = of(rows, after), of(rows, before)
    values = [
        figure(row) / figure(early[repeat]) for repeat, row in late.items() if repeat in early and figure(early[repeat])
    ]
    return full_spread(values) if values else None


def word(found: Spread) -> str:
    """Whether a remedy did something that every repeat shows."""
    return "helps" if found.high <= HELPS else "harms" if found.low >= HARMS else "no effect shown"


def remedies() -> list[Remedy]:
    """What is usually advised, and Headroom's form of it, each against the same without it."""
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
