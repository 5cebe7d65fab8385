# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the tests of the policies: `python tests/policies/coverage.py`. Fail if a test fails or if no test reaches a line of a policy."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import yaml

from tools import REPOSITORY, SOURCES, TESTS, tool

# A rule whose name starts so is a test. One with a key in brackets counts once; the tables of cases are counted case by case.
_TEST = re.compile(r"^(test_\w+)", re.MULTILINE)

# Beside lab hosts, opa gets a tenth of a processor.
SECONDS = 1800


def cases() -> int:
    """Return how many cases the tables of the rules have."""
    tables = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in (TESTS / "rules").rglob("*.yml")]
    return sum(len(rule["bad"]) + len(rule["good"]) for table in tables for rule in table.values())


def main() -> int:
    """Run; return the exit code."""
    command = [
        tool("opa"),
        "test",
        "--coverage",
        "--fail-on-empty",
        "--coverage-runs=",
        "--timeout",
        f"{SECONDS}s",
        *SOURCES,
        str(TESTS),
    ]
    # Fewer collections of garbage: a third less processor time, and half a GiB more memory.
    env = {**os.environ, "GOGC": "400"}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=SECONDS, cwd=REPOSITORY, env=env
    )
    if done.returncode:
        print(done.stdout + done.stderr)
        return 1
    report = json.loads(done.stdout)
    gaps = [
        f"{path}:{gap['start']['row']} is reached by no test"
        for path, lines in report["files"].items()
        for gap in lines.get("not_covered", [])
    ]
    for gap in gaps:
        print(gap)
    tests = sum(len(set(_TEST.findall(path.read_text(encoding="utf-8")))) for path in TESTS.rglob("*_test.rego"))
    tests += cases()
    print(f"{tests} tests passed, coverage {report['coverage']:g} %")
    return 1 if gaps or report["coverage"] < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
