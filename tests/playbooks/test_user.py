# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether role etcd_host creates the user of etcd and its group; in check mode, as the user that runs the tests."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.playbooks.variables import PROJECT, evaluate

USER, GROUP = "headroom-test-user", "headroom-test-group"
CONFIG = {"etcd_config_file": "/etc/etcd/etcd.yml"}


def host(user: bool, group: bool, mode: str = "0755") -> dict[str, Any]:
    facts = {
        "users": {USER: {"exists": user}},
        "groups": {GROUP: {"exists": group}},
        "files": {"/etc/etcd": {"mode": mode}},
    }
    return {**CONFIG, "etcd_user": USER, "etcd_user_group": GROUP, "etcd_host_facts": facts}


# By case: the facts, whether an account is missing, and the tasks that have something to do.
TASKS = ["Create the group that etcd runs as", "Create the user that etcd runs as"]
CASES: dict[str, tuple[dict[str, Any], bool, list[str]]] = {
    "both": (host(user=True, group=True), False, []),
    "no group": (host(user=True, group=False), True, TASKS[:1]),
    "no user": (host(user=False, group=True), True, TASKS[1:]),
    "nothing": (host(user=False, group=False), True, TASKS),
}


def test_hosts_without_the_user_or_its_group(tmp_path: Path) -> None:
    given = {case: variables for case, (variables, _lacks, _tasks) in CASES.items()}
    given["no directory"] = host(user=True, group=True, mode="0700")
    found = evaluate(tmp_path, "etcd_host", "[etcd_host_lacks_account, etcd_host_lacks_user]", given)
    assert found == {
        **{case: [lacks, lacks] for case, (_given, lacks, _tasks) in CASES.items()},
        "no directory": [False, True],
    }


@pytest.mark.parametrize("case", CASES)
def test_what_is_created(tmp_path: Path, case: str) -> None:
    variables, _lacks, tasks = CASES[case]
    play = {
        "name": "Create the user",
        "hosts": "localhost",
        "connection": "local",
        "gather_facts": False,
        "become": os.geteuid() != 0,
        "vars": {"ansible_python_interpreter": "{{ ansible_playbook_python }}", **variables},
        "vars_files": [str(PROJECT / "roles" / "etcd_host" / "vars" / "main.yml")],
        "tasks": [
            {
                "name": "Create the user",
                "ansible.builtin.import_tasks": str(PROJECT / "roles" / "etcd_host" / "tasks" / "user.yml"),
            }
        ],
    }
    (tmp_path / "play.yml").write_text(yaml.safe_dump([play]))
    command = ["ansible-playbook", "--check", "-i", "localhost,", str(tmp_path / "play.yml")]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [task for task in TASKS if re.search(rf"TASK \[{task}\] \*+\nchanged", done.stdout)] == tasks, done.stdout
