# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the tests of the policies: `python tests/policies/coverage.py`. Fail if a test fails or if no test reaches a line of a policy.

`opa test` records each step of each test, which takes ten times as long as the evaluation. So the tests of whole tables of cases are evaluated by
`opa eval`, which has the same value and the same coverage, and `opa test` runs the others.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import yaml

from tools import REPOSITORY, SOURCES, TESTS, tool

# A rule whose name starts so is a test. One with a key in brackets counts once; the tables of cases are counted case by case.
_TEST = re.compile(r"^(test_\w+)", re.MULTILINE)
_PACKAGE = re.compile(r"^package (\S+)$", re.MULTILINE)
# The tests of whole tables.
_TABLES = [TESTS / "rules/rules_test.rego", TESTS / "lib/waivers/every_rule_test.rego"]
# Relative, as opa reports them.
_LOADED = [*SOURCES, str(TESTS.relative_to(REPOSITORY))]
# Beside lab hosts, opa gets a tenth of a processor.
SECONDS = 1800


class TestsFailed(Exception):
    """The output of opa, or the tests that failed."""


def opa(*arguments: str) -> dict[str, Any]:
    """Run opa on the policies and their tests; return its answer."""
    # Fewer collections of garbage: a third less processor time, and half a GiB more memory.
    env = {**os.environ, "GOGC": "400"}
    command = [tool("opa"), *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=SECONDS, cwd=REPOSITORY, env=env
    )
    if done.returncode:
        raise TestsFailed(done.stdout + done.stderr)
    answer: dict[str, Any] = json.loads(done.stdout)
    return {**answer, "printed": done.stderr}


def run_others() -> dict[str, Any]:
    """Run the tests that no table belongs to; return their coverage by file."""
    ignored = [f"--ignore={path.name}" for path in _TABLES]
    # opa leaves out files by their name alone.
    for path in _TABLES:
        if others := [str(other) for other in TESTS.rglob(path.name) if other != path]:
            raise TestsFailed(
                f"rename {', '.join(others)}: no test of a file with this name runs, as it is that of a table"
            )
    limits = ["--fail-on-empty", "--coverage-runs=", "--timeout", f"{SECONDS}s"]
    files: dict[str, Any] = opa("test", "--coverage", *limits, *ignored, *_LOADED)["files"]
    return files


def run_tables() -> dict[str, Any]:
    """Evaluate the tests of tables; return their coverage by file. Raises TestsFailed if one is not true."""
    texts = [path.read_text(encoding="utf-8") for path in _TABLES]
    wanted = {
        f"data.{package}.{name}" for text in texts for package in _PACKAGE.findall(text) for name in _TEST.findall(text)
    }
    # An undefined test is missing from the set instead of making the query undefined.
    query = "; ".join(f'["{name}" | {name} == true]' for name in sorted(wanted))
    data = [f"--data={path}" for path in _LOADED]
    answer = opa("eval", "--coverage", "--format=json", *data, query)
    passed = {name for part in answer["result"][0]["expressions"] for name in part["value"]}
    if passed != wanted:
        raise TestsFailed(f"{answer['printed']}failed: {', '.join(sorted(wanted - passed))}")
    files: dict[str, Any] = answer["coverage"]["files"]
    return files


def rows(lines: dict[str, Any], key: str) -> set[int]:
    """Return the numbers of the lines of a file that are covered or not_covered."""
    return {row for part in lines.get(key, []) for row in range(part["start"]["row"], part["end"]["row"] + 1)}


def cases() -> int:
    """Return how many cases the tables of the rules have."""
    tables = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in (TESTS / "rules").rglob("*.yml")]
    return sum(len(rule["bad"]) + len(rule["good"]) for table in tables for rule in table.values())


def main() -> int:
    """Run; return the exit code."""
    with ThreadPoolExecutor() as pool:
        running = [pool.submit(part) for part in (run_others, run_tables)]
        try:
            others, tables = (part.result() for part in running)
        except TestsFailed as failed:
            print(failed)
            return 1
    covered, gaps = 0, []
    for path in sorted(others.keys() | tables.keys()):
        parts = [files.get(path, {}) for files in (others, tables)]
        reached = rows(parts[0], "covered") | rows(parts[1], "covered")
        covered += len(reached)
        missed = (rows(parts[0], "not_covered") | rows(parts[1], "not_covered")) - reached
        gaps += [f"{path}:{row} is reached by no test" for row in sorted(missed)]
    print("\n".join([*gaps, ""]), end="")
    tests = sum(len(set(_TEST.findall(path.read_text(encoding="utf-8")))) for path in TESTS.rglob("*_test.rego"))
    print(f"{tests + cases()} tests passed, coverage {100 * covered / (covered + len(gaps)):g} %")
    return 1 if gaps else 0


if __name__ == "__main__":
    sys.exit(main())
