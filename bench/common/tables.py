"""Results files: CSV with `# name: value` lines above it, one row for each frozen dataclass."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

PARSERS: dict[str, Any] = {"int": int, "float": float, "bool": lambda text: text == "True", "str": str}


def column_names(kind: type[Any]) -> list[str]:
    """Return the field names of a dataclass, which are the columns of its table."""
    return [item.name for item in fields(kind)]


def read_table(path: Path) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Return the head of a results file and its rows as text."""
    with path.open(newline="") as stream:
        lines = stream.read().splitlines(keepends=True)
    head = dict(line[2:].rstrip("\n").split(": ", 1) for line in lines if line.startswith("# ") and ": " in line)
    return head, list(csv.DictReader(line for line in lines if not line.startswith("#")))


def parse_row(kind: type[Any], row: Mapping[str, str]) -> Any:
    """Return a dataclass whose int, float, bool and str fields are read from a row of text."""
    return kind(**{item.name: PARSERS[str(item.type)](row[item.name]) for item in fields(kind)})


def read_rows(path: Path, kind: type[Any]) -> tuple[dict[str, str], list[Any]]:
    """Return the head of a results file and its rows as dataclasses."""
    head, rows = read_table(path)
    return head, [parse_row(kind, row) for row in rows]


def write_table(path: Path, head: Mapping[str, str], names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Write a results file, replacing it atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".tmp")
    with fresh.open("w", newline="") as out:
        out.writelines(f"# {name}: {value}\n" for name, value in head.items())
        writer = csv.DictWriter(out, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    fresh.replace(path)
