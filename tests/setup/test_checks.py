"""Every file of tests is run by a check."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import yaml

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


def test_a_scenario_with_a_part_for_itself_has_it_in_its_sequence() -> None:
    """molecule test runs the whole scenario, and the two checks of tests/run.py together do, too."""
    for check in HOSTS:
        if check.name.startswith("molecule "):
            file = PROJECT / "molecule" / check.name.removeprefix("molecule ") / "molecule.yml"
            steps = yaml.safe_load(file.read_text()).get("scenario", {}).get("test_sequence", [])
            assert ("side_effect" in steps) is bool(check.alone), check.name


def test_hosts_are_removed_although_their_last_part_failed(tmp_path: Path) -> None:
    program = tmp_path / "molecule"
    program.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/steps\n[ "$1" != side-effect ]\n')
    program.chmod(0o755)
    [last] = [check.alone for check in HOSTS if check.alone and check.name == "molecule default"]
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "ANSIBLE_HOME": "home"}
    done = subprocess.run(["sh", "-c", last.command], env=environment, check=False)
    assert done.returncode == 1 and (tmp_path / "steps").read_text().split() == ["side-effect", "destroy"]
