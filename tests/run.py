#!/usr/bin/env python3
"""Run the project's checks and count them; the last line is `N passed, N failed`.

`run.py check` runs the fast ones, `run.py all` every one, `run.py NAME…` those named; `run.py --list` names them. Fast ones run side by side,
as many as there are CPUs; the others one by one, as they measure, or have hosts and ports of their own.
A check is a command that exits 0; one that counts tests of its own says how many in its output.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
SHELL_SCRIPTS = [
    "lab/demo",
    "lab/image",
    "lab/podman",
    "lab/volumes",
    "requirements/pin",
    ".ci/run",
    "tools/hooks/lint",
    "tools/hooks/lint-resolved",
]


@dataclass(frozen=True)
class Check:
    """A command, where it belongs, and how to read its own count of tests."""

    name: str
    command: str
    fast: bool = True
    # Finds the number of passed and of failed tests in the output; without it the check counts as one.
    passed: str = ""
    failed: str = ""


def pytest(name: str, folder: str, fast: bool = True) -> Check:
    """A check that runs pytest over a folder or file."""
    command = f"python -m pytest -q -p no:cacheprovider {folder}"
    return Check(name, command, fast, r"(\d+) passed", r"(\d+) (?:failed|errors?)\b")


CHECKS = [
    # The longest of the fast ones first: they run side by side.
    Check(
        "opa test", "python tests/policies/coverage.py", passed=r"(\d+) tests? passed", failed=r"(\d+) tests? failed"
    ),
    pytest("unit", "tests/unit"),
    # ansible-lint installs a copy of the collection, and does not renew it while the version stays the same; nobody else may find it.
    Check(
        "ansible-lint",
        'export ANSIBLE_HOME="$ANSIBLE_HOME-lint" && rm -rf "$ANSIBLE_HOME/collections" && ansible-lint --offline',
    ),
    pytest("policy conventions", "tests/policies/test_conventions.py tests/policies/test_examples.py"),
    Check("yamllint", "yamllint --strict ."),
    Check("ruff", "ruff check . && ruff format --check ."),
    Check("shellcheck", f"shellcheck -x {' '.join(SHELL_SCRIPTS)}"),
    Check(
        "mypy",
        "mypy && mypy -p ansible_collections.etcdops.headroom.plugins.module_utils "
        "-p ansible_collections.etcdops.headroom.plugins.plugin_utils",
    ),
    pytest("model", "tests/model"),
    pytest("set-up", "tests/setup"),
    pytest("bench", "tests/bench"),
    pytest("alert rules", "tests/alerts"),
    Check("opa fmt", "opa fmt --fail --list policies tests/policies"),
    Check(
        "opa check",
        "opa check --strict policies/lib policies/rules policies/headroom.rego policies/data tests/policies/rego",
    ),
    pytest(
        "conftest",
        "tests/policies/test_conftest.py tests/policies/test_vocabularies.py tests/policies/test_outputs.py tests/policies/test_plan_agreement.py",
        fast=False,
    ),
    Check("accuracy", "python -m bench.memory.report --check"),
    Check("storage evidence", "python -m bench.storage.report --check"),
    Check("changelog", "antsibull-changelog lint"),
    Check("etcd's own settings", "python model/check_binaries.py .headroom/archives/*/*.tar.gz", fast=False),
    pytest("resolver", "tests/policies/test_resolver.py", fast=False),
    pytest("hostile input", "tests/policies/test_fuzz.py", fast=False),
    Check("ansible-test sanity", "python tests/sanity_and_units.py sanity", fast=False),
    Check(
        "ansible-test units",
        "python tests/sanity_and_units.py units",
        False,
        r"(\d+) passed",
        r"(\d+) (?:failed|errors?)\b",
    ),
    pytest("real etcd", "tests/measured", fast=False),
    pytest("artifact", "tests/artifact", fast=False),
    *(
        Check(f"molecule {scenario}", f"molecule test --no-command-borders --scenario-name {scenario}", fast=False)
        for scenario in ("default", "storage", "maintenance", "etcd-3.6", "etcd-3.5")
    ),
]


def environment() -> dict[str, str]:
    """The environment of every check: the pinned tools, and no cache or configuration outside the project."""
    state = PROJECT / ".headroom"
    return {
        **os.environ,
        "PYTHONPATH": str(PROJECT / ".collections"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HEADROOM_ARCHIVES": str(state / "archives"),
        "XDG_CONFIG_HOME": str(state / "config"),
        "MYPY_CACHE_DIR": str(state / "mypy"),
        "RUFF_CACHE_DIR": str(state / "ruff"),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(state / "hypothesis"),
        "MPLCONFIGDIR": str(state / "matplotlib"),
        "ANSIBLE_HOME": str(state / "ansible"),
        "NO_COLOR": "1",
        "ANSIBLE_NOCOLOR": "1",
        "COLUMNS": "200",
    }


def count(output: str, pattern: str) -> int:
    """The last number that the pattern finds, 0 if none."""
    found = re.findall(pattern, output) if pattern else []
    return int(found[-1]) if found else 0


def run(check: Check, logs: Path) -> tuple[int, int]:
    """Run one check, print a line (and the output, if it failed); how many tests passed and failed."""
    began = time.monotonic()
    log = logs / f"{check.name.replace(' ', '-')}.log"
    with log.open("w") as out:
        done = subprocess.run(
            check.command,
            shell=True,
            cwd=PROJECT,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            check=False,
        )
    output = log.read_text(errors="replace")
    passed, failed = count(output, check.passed), count(output, check.failed)
    if done.returncode == 0:
        passed, failed = max(passed, 1), 0
    else:
        failed = max(failed, 1)
    mark = "ok    " if done.returncode == 0 else "FAILED"
    tests = f", {passed} tests" if passed > 1 else ""
    lines = [f"{mark}  {check.name} ({time.monotonic() - began:.0f} s{tests})"]
    if done.returncode:
        lines += [*output.splitlines()[-60:], f"  … all of it: {log}", ""]
    # At once: others print too.
    print("\n".join(lines) + "\n", end="", flush=True)
    return passed, failed


def run_all(checks: list[Check], logs: Path) -> Iterator[tuple[int, int]]:
    """Run checks; yield how many tests of each passed and failed."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(lambda check: run(check, logs), [check for check in checks if check.fast])
    for check in checks:
        if not check.fast:
            yield run(check, logs)


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the project's checks and count them.")
    parser.add_argument("names", nargs="*", default=["check"], help="check (the fast ones), all, or names of checks")
    parser.add_argument("--list", action="store_true", help="name the checks")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(check.name for check in CHECKS))
        return 0
    known = {check.name for check in CHECKS} | {"all", "check"}
    unknown = sorted(set(arguments.names) - known)
    if unknown:
        parser.error(f"no check is called {', '.join(unknown)}; --list names them")
    chosen = [
        check
        for check in CHECKS
        if "all" in arguments.names or check.name in arguments.names or ("check" in arguments.names and check.fast)
    ]
    logs = PROJECT / ".headroom" / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    results = list(run_all(chosen, logs))
    passed, failed = (sum(column) for column in zip(*results, strict=True))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
