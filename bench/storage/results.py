"""The file that a run leaves and the report reads: a row for each cell of each repeat."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from bench.storage.cells import Cell


@dataclass(frozen=True)
class Row:
    """One cell in one repeat. Latencies in milliseconds; those of the WAL come from etcd's histogram.

    with_priority of threads have best-effort 0; weight is bfq's of etcd's control group, 0 where it shares the neighbour's.
    neighbour is what the neighbour wrote meanwhile, in bytes a second.
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
    def cell(self) -> Cell:
        """Which cell."""
        return Cell(self.scheduler, self.priority, self.layout)


def read(path: Path) -> tuple[dict[str, str], list[Row]]:
    """Read what was measured: the machine, and all rows."""
    lines = path.read_text().splitlines()
    head = [re.match(r"# ([^:]+): (.*)", line) for line in lines]
    kinds: dict[str, Any] = {"int": int, "float": float, "str": str}
    rows = [
        Row(**{item.name: kinds[str(item.type)](line[item.name]) for item in fields(Row)})
        for line in csv.DictReader(line for line in lines if not line.startswith("#"))
    ]
    return {found[1]: found[2] for found in head if found}, rows


def write(path: Path, machine: dict[str, str], rows: Sequence[Row]) -> None:
    """Write all rows, the machine above them, replacing the file as one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".tmp")
    with fresh.open("w", newline="") as out:
        out.writelines(f"# {name}: {value}\n" for name, value in machine.items())
        writer = csv.DictWriter(out, [item.name for item in fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)
    fresh.replace(path)
