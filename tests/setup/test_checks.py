"""Every file of tests is run by a check."""

from __future__ import annotations

import re
from pathlib import Path

from tests.checks import CPU, FAST, HOSTS

PROJECT = Path(__file__).resolve().parents[2]
# Files with the arguments of pytest, which checks run.
CALLERS = (
    "tests/sanity_and_units.py",
    *(str(path.relative_to(PROJECT)) for path in (PROJECT / "molecule").rglob("*.yml")),
)


def test_every_file_of_tests_is_run() -> None:
    said = "\n".join(
        [check.command for check in (*FAST, *CPU, *HOSTS)] + [(PROJECT / name).read_text() for name in CALLERS]
    )
    named = set(re.findall(r"tests/[\w./-]*\w", said))
    files = [path.relative_to(PROJECT) for path in (PROJECT / "tests").rglob("test_*.py")]
    forgotten = [str(path) for path in files if named.isdisjoint(map(str, [path, *path.parents]))]
    assert len(files) > 200 and not forgotten, forgotten
