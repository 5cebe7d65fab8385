"""The results file of the storage benchmark: a row for each combination of each repeat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.common.tables import column_names, write_table
from bench.storage.matrix import Combination


@dataclass(frozen=True)
class Row:
    """One combination in one repeat. Latencies in milliseconds; those of the WAL come from etcd's histogram.

    with_priority: how many of `threads` have best-effort 0. weight: bfq's weight of etcd's control group, 0 if it shares the
    neighbour's. neighbour: the neighbour's writes in bytes a second.
    """

    repeat: int
    scheduler: str
    priority: str
    layout: str
    date: str
    puts: int
    unanswered: int
    put_p50: float
    put_p99: float
    put_max: float
    fsyncs: int
    fsync_p50: float
    fsync_p99: float
    neighbour: int
    threads: int
    with_priority: int
    weight: int

    @property
    def combination(self) -> Combination:
        """Return the combination."""
        return Combination(self.scheduler, self.priority, self.layout)


def write(path: Path, machine: dict[str, str], rows: Sequence[Row]) -> None:
    """Write all rows, with the machine above them."""
    write_table(path, machine, column_names(Row), [asdict(row) for row in rows])
