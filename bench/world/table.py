"""The table of public files: where each is, and what an expert expects the linter to find in it."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

PROJECT = Path(__file__).resolve().parent.parent.parent
TABLE = PROJECT / "tests" / "policies" / "world" / "files.csv"
HALVES = ("tune", "held")
# Files that were added later, and that nobody had tuned to when they were measured.
FRESH = "fresh"
UNSEEN = "unseen"
LATER = "later"
NEWEST = "newest"
WEAK = "weak"
MIXED = "mixed"
NEWER = "newer"
LAST = "last"
FINAL = "final"
ADDED = (FRESH, UNSEEN, LATER, NEWEST, WEAK, MIXED, NEWER, LAST, FINAL)
PARTS = (*HALVES, *ADDED)
# Folders whose names mean something to Ansible: a file keeps them when it is linted.
MEANINGFUL = ("group_vars", "host_vars")


@dataclass(frozen=True)
class Entry:
    """One public file: its source, its digest, and the expected and allowed rules."""

    half: str
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
        """Tell whether a finding of the rule is right here, though nobody demands it."""
        return any(rule == each or (each.endswith("/*") and rule.startswith(each[:-1])) for each in self.allowed)


def half_of(repository: str, path: str) -> str:
    """Return the half of a file, which nobody chooses."""
    return HALVES[int(hashlib.sha256(f"{repository} {path}".encode()).hexdigest(), 16) % 2]


def parse(row: dict[str, str]) -> Entry:
    """Parse a row of the table."""
    expected = dict(each.split("@", 1) for each in row["expected"].split())
    return Entry(**{**row, "expected": expected, "allowed": tuple(row["allowed"].split())})  # type: ignore[arg-type]


def load(halves: Sequence[str] = PARTS, table: Path = TABLE) -> list[Entry]:
    """Return the table's rows of some halves."""
    with table.open(newline="", encoding="utf-8") as stream:
        return [entry for entry in map(parse, csv.DictReader(stream)) if entry.half in halves]
