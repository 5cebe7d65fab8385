"""Results files of the proof: a row for each configuration of each repeat, and a row for each slice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.common.tables import column_names, parse_row, read_table, write_table
from bench.plan.load import Slice

# The percentiles of latency that the benchmark prints for a slice, as shares of the puts.
SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0)


@dataclass(frozen=True)
class Row:
    """One configuration of one workload in one repeat. Sizes in bytes; a limit of 0 means none."""

    workload: str
    repeat: int
    configuration: str
    date: str
    version: str
    members: int
    value_size: int
    keys: int
    stated_puts_per_second: int
    paced: bool
    clients: int
    puts: int
    budget: int
    memory_max: int
    memory_high: int
    gomemlimit: str
    gogc: str
    snapshot_count: int
    snapshot_catchup_entries: int
    planned_rss_anon_peak: int
    planned_restart_rss_anon_peak: int
    outcome: str
    rss_anon_peak: int
    restart_rss_anon_peak: int
    restart_entries: int
    restart_seconds: float
    cgroup_peak: int
    major_faults: int
    oom_kills: int


@dataclass(frozen=True)
class Run:
    """A row and its slices, in the order in which they were driven."""

    row: Row
    slices: tuple[Slice, ...]


def read(folder: Path) -> tuple[dict[str, str], list[Run]]:
    """Return the machine that was measured, and all runs."""
    machine, rows = read_table(folder / "results.csv")
    slices: dict[tuple[str, str, str], list[Slice]] = {}
    for line in read_table(folder / "slices.csv")[1]:
        points = [(share, float(line[column(share)])) for share in SHARES if line[column(share)]]
        found = Slice(int(line["puts"]), float(line["seconds"]), tuple(points), int(line["errors"]))
        slices.setdefault((line["workload"], line["repeat"], line["configuration"]), []).append(found)
    return machine, [
        Run(parse_row(Row, line), tuple(slices.get((line["workload"], line["repeat"], line["configuration"]), [])))
        for line in rows
    ]


def column(share: float) -> str:
    """Return the column name of a percentile."""
    return f"p{share * 100:g}"


def write(folder: Path, machine: dict[str, str], runs: Sequence[Run]) -> None:
    """Write all runs, with the machine above them."""
    write_table(folder / "results.csv", machine, column_names(Row), [asdict(run.row) for run in runs])
    names = ["workload", "repeat", "configuration", "slice", "puts", "seconds", "errors", *map(column, SHARES)]
    note = {"latencies in seconds": "p0 is the fastest put, p100 the slowest"}
    write_table(folder / "slices.csv", note, names, [line for run in runs for line in _slice_lines(run)])


def _slice_lines(run: Run) -> Iterator[dict[str, Any]]:
    """Yield the rows of a run's slices."""
    key = {name: getattr(run.row, name) for name in ("workload", "repeat", "configuration")}
    for number, part in enumerate(run.slices):
        points = {column(share): f"{seconds:.6f}" for share, seconds in part.quantiles}
        whole = {"slice": number, "puts": part.puts, "seconds": f"{part.seconds:.4f}", "errors": part.errors}
        yield {**key, **whole, **points}


def merge(kept: Sequence[Run], new: Sequence[Run]) -> list[Run]:
    """Return all runs; new runs replace older ones of the same workloads."""
    names = {run.row.workload for run in new}
    return [run for run in kept if run.row.workload not in names] + list(new)
