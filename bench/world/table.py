"""The table of public files: where each is, and what an expert expects the linter to find in it."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

PROJECT = Path(__file__).resolve().parent.parent.parent
TABLE = PROJECT / "tests" / "policies" / "world" / "files.csv"
TUNE, HELD = "tune", "held"
# Sets that were added later from other repositories, each judged before the linter ran on it.
BLIND = tuple(f"blind-{number}" for number in range(1, 24))
SETS = (TUNE, HELD, *BLIND)
# Folders whose names mean something to Ansible: a file keeps them when it is linted.
MEANINGFUL = ("group_vars", "host_vars")


@dataclass(frozen=True)
class Entry:
    """One public file: its source, its digest, and the expected and allowed rules."""

    set: str
    vocabulary: str
    repository: str
    commit: str
    path: str
    sha256: str
    # Rule → the key that it is about.
    expected: dict[str, str]
    # Rules, or topics such as version/*.
    allowed: tuple[str, ...]
    note: str

    @property
    def place(self) -> PurePosixPath:
        """Return the path under which the file is linted: its name, and group_vars or host_vars above it."""
        parts = PurePosixPath(self.path).parts
        first = next((number for number, part in enumerate(parts) if part in MEANINGFUL), len(parts) - 1)
        return PurePosixPath(*parts[first:])

    def allows(self, rule: str) -> bool:
        """Return whether a finding of the rule is correct for this file, although it is not expected."""
        return any(rule == each or (each.endswith("/*") and rule.startswith(each[:-1])) for each in self.allowed)


def first_set_of(repository: str, path: str) -> str:
    """Return which of the first two sets a file belongs to; its digest decides, so that nobody can choose."""
    return (TUNE, HELD)[int(hashlib.sha256(f"{repository} {path}".encode()).hexdigest(), 16) % 2]


def parse(row: dict[str, str]) -> Entry:
    """Parse a row of the table."""
    expected = dict(each.split("@", 1) for each in row["expected"].split())
    return Entry(**{**row, "expected": expected, "allowed": tuple(row["allowed"].split())})  # type: ignore[arg-type]


def load(sets: Sequence[str] = SETS, table: Path = TABLE) -> list[Entry]:
    """Return the table's rows of some sets."""
    with table.open(newline="", encoding="utf-8") as stream:
        return [entry for entry in map(parse, csv.DictReader(stream)) if entry.set in sets]
