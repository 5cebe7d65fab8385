# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The targets of the Makefile, and what the set-up installs for each."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.setup import __main__ as program
from tools.setup import targets
from tools.setup.debian import GROUPS

PROJECT = Path(__file__).resolve().parents[2]
MAKEFILE = (PROJECT / "Makefile").read_text()
RULES = re.findall(r"^([a-z-]+):(.*?)## ", MAKEFILE, re.MULTILINE)


def without_make() -> dict[str, str]:
    """Return the environment without what `make check` tells a make that runs in it."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}


def test_every_target_is_phony() -> None:
    declared = re.search(r"^\.PHONY: ((?:.*\\\n)*.*)$", MAKEFILE, re.MULTILINE)
    assert declared
    assert sorted(declared[1].replace("\\", "").split()) == sorted(name for name, _ in RULES)


def test_help_lists_every_target_below_a_heading() -> None:
    done = subprocess.run(["make", "help"], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert re.findall(r"^  make (\S+)", done.stdout, re.MULTILINE) == [name for name, _ in RULES]


def test_a_target_ignores_what_the_shell_tells_ansible() -> None:
    given = os.environ | {"ANSIBLE_INVENTORY": "/elsewhere", "ANSIBLE_CONFIG": "/elsewhere/ansible.cfg"}
    command = ["make", "--eval=print-environment: ; @env", "print-environment"]
    done = subprocess.run(command, cwd=PROJECT, env=given, capture_output=True, text=True, check=True)
    assert "elsewhere" not in done.stdout


@pytest.mark.parametrize(("arguments", "wanted"), [([], ""), (["VERSION=3.6.16"], "etcd-3.6")])
def test_the_release_of_the_demo_is_named_on_the_command_line(arguments: list[str], wanted: str) -> None:
    given = without_make() | {"VERSION": "1.4.2"}
    command = ["make", "--dry-run", "demo", *arguments]
    done = subprocess.run(command, cwd=PROJECT, env=given, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"python3 -m tools.setup demo {wanted}\n")


def test_the_project_may_be_in_a_folder_with_a_space_in_its_name(tmp_path: Path) -> None:
    """Make passes the folder on to the shell, and lab/inventory.py to Ansible and SSH."""
    folder = tmp_path / "a folder"
    state = folder / ".headroom" / "labs" / "demo"
    state.mkdir(parents=True)
    (folder / ".headroom" / "activate").write_text("")
    (folder / "Makefile").write_text(MAKEFILE)
    command = ["make", '--eval=print-path: ; @$(RUN) echo "$$PYTHONPATH"', "print-path"]
    done = subprocess.run(command, cwd=folder, env=without_make(), capture_output=True, text=True, check=True)
    assert done.stdout == f"{folder}/.collections\n"
    (folder / "lab").mkdir()
    shutil.copy(PROJECT / "lab" / "inventory.py", folder / "lab")
    (state / "hosts.json").write_text('{"etcd-1": "10.89.0.2"}')
    environment = {**os.environ, "LAB_NAME": "demo", "XDG_CACHE_HOME": str(tmp_path)}
    listed = subprocess.run(
        [sys.executable, folder / "lab" / "inventory.py"], env=environment, capture_output=True, text=True, check=True
    )
    options = shlex.split(json.loads(listed.stdout)["_meta"]["hostvars"]["etcd-1"]["ansible_ssh_common_args"])
    ssh = subprocess.run(["ssh", "-G", *options, "10.89.0.2"], capture_output=True, text=True, check=True)
    assert f"userknownhostsfile {state}/known_hosts\n" in ssh.stdout


@pytest.mark.parametrize(("name", "prerequisites"), [rule for rule in RULES if "setup-" in rule[1]])
def test_a_target_sets_up_its_own_needs(name: str, prerequisites: str) -> None:
    assert prerequisites.split() == [f"setup-{name}"]
    assert targets.parts([name]) <= targets.parts(["test"]) | set(targets.OLD_ETCDS)


def test_the_demo_builds_etcd_and_conftest_only() -> None:
    assert targets.parts(["demo"]) - GROUPS.keys() == {"venv", "lab-bookworm", "conftest", "etcd-3.7"}


def test_a_test_run_needs_every_part_but_old_releases() -> None:
    assert targets.parts(["test"]) == (targets.PURPOSES.keys() | GROUPS.keys()) - set(targets.OLD_ETCDS)


def test_without_a_name_every_part_is_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[list[str]] = []
    monkeypatch.setattr(program, "set_up", given.append)
    monkeypatch.setattr(sys, "argv", ["setup"])
    assert program.main() == 0
    assert targets.parts(*given) == targets.PURPOSES.keys() | GROUPS.keys()


def test_old_releases_are_built_for_one_campaign() -> None:
    assert targets.OLD_ETCDS
    assert [name for name in targets.NEEDS if targets.parts([name]) & set(targets.OLD_ETCDS)] == ["bench-lifecycle"]


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.setup", "etcd-3.4"], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "nothing is called etcd-3.4: name targets or parts, of demo," in done.stderr
