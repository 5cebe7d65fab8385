"""The files that a measurement leaves and the report reads: runs, half seconds of latency, and what the members logged."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from bench.maintenance.cluster import Event
from bench.maintenance.load import Window


@dataclass(frozen=True)
class Row:
    """What one group of clients noticed of one maintenance.

    seconds: from the begin of the maintenance to its end. Sizes in bytes, the largest of the members'; rest_*: before it began, in
    milliseconds. message: what the maintenance said where it failed.
    """

    way: str
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
    rest_put_p99: float
    rest_range_p99: float
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
    """One maintenance: a row for each group, the windows of both, and events with times since it began."""

    rows: tuple[Row, ...]
    windows: tuple[Window, ...]
    events: tuple[Event, ...]

    @property
    def way(self) -> str:
        """How it was done."""
        return self.rows[0].way

    @property
    def repeat(self) -> int:
        """Which repeat it is, from 0 on."""
        return self.rows[0].repeat


FILES = ("runs.csv", "windows.csv", "events.csv")


def write(folder: Path, machine: dict[str, str], runs: Sequence[Run]) -> None:
    """Write all runs, the machine above them."""
    folder.mkdir(parents=True, exist_ok=True)
    head = "".join(f"# {name}: {value}\n" for name, value in machine.items())
    key = [{"way": run.way, "repeat": run.repeat} for run in runs]
    _write(folder / "runs.csv", head, Row, [asdict(row) for run in runs for row in run.rows])
    note = "# start: seconds since the maintenance began; p50, p99 and slowest in milliseconds\n"
    _write(
        folder / "windows.csv",
        note,
        Window,
        [{**k, **asdict(one)} for k, run in zip(key, runs, strict=True) for one in run.windows],
    )
    note = "# at: seconds since the maintenance began\n"
    _write(
        folder / "events.csv",
        note,
        Event,
        [{**k, **asdict(one)} for k, run in zip(key, runs, strict=True) for one in run.events],
    )


def _write(path: Path, head: str, kind: type[Any], rows: list[dict[str, Any]]) -> None:
    names = [item.name for item in fields(kind)]
    with path.open("w", newline="") as out:
        out.write(head)
        table = csv.DictWriter(out, [*({} if kind is Row else ("way", "repeat")), *names], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def read(folder: Path) -> tuple[dict[str, str], list[Run]]:
    """Read what was measured: the machine, and all runs in the order of their rows."""
    machine, rows = _read(folder / "runs.csv")
    windows, events = (_read(folder / name)[1] for name in FILES[1:])
    return machine, [
        Run(
            tuple(_made(Row, row) for row in rows if _key(row) == key),
            tuple(_made(Window, row) for row in windows if _key(row) == key),
            tuple(_made(Event, row) for row in events if _key(row) == key),
        )
        for key in dict.fromkeys(_key(row) for row in rows)
    ]


def _key(row: dict[str, str]) -> tuple[str, str]:
    return row["way"], row["repeat"]


def _made(kind: type[Any], row: dict[str, str]) -> Any:
    kinds: dict[str, Any] = {"int": int, "float": float, "bool": lambda text: text == "True", "str": str}
    return kind(**{item.name: kinds[str(item.type)](row[item.name]) for item in fields(kind)})


def _read(path: Path) -> tuple[dict[str, str], list[dict[str, str]]]:
    with path.open(newline="") as lines:
        text = lines.read().splitlines(keepends=True)
    head = [re.match(r"# ([^:]+): (.*)", line) for line in text]
    machine = {found[1]: found[2] for found in head if found}
    return machine, list(csv.DictReader(line for line in text if not line.startswith("#")))
