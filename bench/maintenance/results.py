"""Results files of the maintenance benchmark: runs, latency by half second, and events from the members' logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.common.tables import column_names, parse_row, read_table, write_table
from bench.maintenance.cluster import Event
from bench.maintenance.load import Window


@dataclass(frozen=True)
class Row:
    """The results of one group of clients in one run.

    seconds: the duration of the maintenance. Sizes in bytes, the largest of the members; idle_*: before it began, in milliseconds.
    message: the error of the maintenance if it failed.
    """

    method: str
    repeat: int
    group: str
    date: str
    version: str
    gate: bool
    leader: str
    size_before: int
    free_before: float
    size_after: int
    seconds: float
    message: str
    rate: int
    requests: int
    failed: int
    errors: str
    idle_put_p99: float
    idle_range_p99: float
    put_p99: float
    range_p99: float
    slowest: float
    leases: int
    leases_lost: int
    longest_renewal_pause: float
    watch_events: int
    watch_missed: int
    watches_closed: int


@dataclass(frozen=True)
class Run:
    """One maintenance: a row for each group, the windows of both groups, and events with times since it began."""

    rows: tuple[Row, ...]
    windows: tuple[Window, ...]
    events: tuple[Event, ...]

    @property
    def method(self) -> str:
        """Return the name of the method."""
        return self.rows[0].method

    @property
    def repeat(self) -> int:
        """Return the number of the repeat, from 0."""
        return self.rows[0].repeat


# The columns that identify a run in each file.
IDENTITY = ("method", "repeat")
FILES = ("runs.csv", "windows.csv", "events.csv")


def write(folder: Path, machine: dict[str, str], runs: Sequence[Run]) -> None:
    """Write all runs, with the machine above them."""
    head = {
        "runs.csv": machine,
        "windows.csv": {"start": "seconds since the maintenance began; p50, p99 and slowest in milliseconds"},
        "events.csv": {"at": "seconds since the maintenance began"},
    }
    rows = {
        "runs.csv": [asdict(row) for run in runs for row in run.rows],
        "windows.csv": [{**_identity(run), **asdict(window)} for run in runs for window in run.windows],
        "events.csv": [{**_identity(run), **asdict(event)} for run in runs for event in run.events],
    }
    columns = {
        "runs.csv": column_names(Row),
        "windows.csv": [*IDENTITY, *column_names(Window)],
        "events.csv": [*IDENTITY, *column_names(Event)],
    }
    for name in FILES:
        write_table(folder / name, head[name], columns[name], rows[name])


def _identity(run: Run) -> dict[str, Any]:
    return {name: getattr(run, name) for name in IDENTITY}


def read(folder: Path) -> tuple[dict[str, str], list[Run]]:
    """Return the machine that was measured, and all runs in the order of their rows."""
    machine, rows = read_table(folder / "runs.csv")
    windows, events = (read_table(folder / name)[1] for name in FILES[1:])
    return machine, [
        Run(
            tuple(parse_row(Row, row) for row in rows if _key(row) == key),
            tuple(parse_row(Window, row) for row in windows if _key(row) == key),
            tuple(parse_row(Event, row) for row in events if _key(row) == key),
        )
        for key in dict.fromkeys(_key(row) for row in rows)
    ]


def _key(row: dict[str, str]) -> tuple[str, str]:
    return row["method"], row["repeat"]
