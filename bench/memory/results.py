"""Results of measurements of memory: a row for each case, release and repeat."""

from __future__ import annotations

import csv
import datetime
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

from bench.common.machine import one_line
from bench.memory.cases import Case

RESULTS = Path(__file__).parent / "results.csv"
MEASURED = (
    "puts_per_second rss_anon_peak rss_file_peak rss_peak heap_live heap_inuse stacks db_size db_in_use revisions "
    "replayed restarts restart_rss_anon_least restart_rss_anon_peak restart_rss_peak restart_seconds "
    "snapshot_rss_anon_peak defrag_rss_anon_peak defrag_db_size"
).split()
COLUMNS = ["version", "repeat", *(field.name for field in fields(Case)), *MEASURED, "date", "machine"]


def row_of(case: Case, version: str, repeat: int, figures: dict[str, float]) -> dict[str, str]:
    """Return a row of the results."""
    known = {
        "version": version,
        "repeat": repeat,
        **asdict(case),
        **{name: round(figures[name], 1) for name in MEASURED},
    }
    known |= {"date": datetime.date.today().isoformat(), "machine": one_line()}
    return {
        name: f"{known[name]:g}"
        if isinstance(known[name], float) and known[name] < 1e6
        else str(round(known[name]) if isinstance(known[name], float) else known[name])
        for name in COLUMNS
    }


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a results file; an empty list if it does not exist."""
    if not path.exists():
        return []
    with path.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    for row in rows:  # rows from before restarts were repeated
        row.setdefault("restarts", "1" if float(row["restart_rss_anon_peak"]) else "0")
        row.setdefault("restart_rss_anon_least", row["restart_rss_anon_peak"])
        row.setdefault("retention", "0")  # and from before etcd compacted by itself
        row.setdefault("replayed", "")  # and from before the entries since the last disk snapshot were counted
    return rows


def write(path: Path, rows: Sequence[dict[str, str]]) -> None:
    """Write all rows, replacing the file atomically."""
    fresh = path.with_suffix(".tmp")
    with fresh.open("w", newline="") as out:
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    fresh.replace(path)


def keep(path: Path, fresh: dict[str, str]) -> None:
    """Write a row into the file, replacing the one of the same case, release and repeat."""
    key = ("version", "name", "repeat")
    rows = [row for row in read(path) if [row[name] for name in key] != [fresh[name] for name in key]]
    write(path, [*rows, fresh])
