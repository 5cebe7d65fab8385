# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An upgrade or a downgrade whose etcd_version is an extra variable, which the release of no step could override."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from tests.playbooks.variables import PROJECT

TASKS = PROJECT / "roles" / "etcd" / "tasks"
TITLE = "Refuse etcd_version as an extra variable"
# By plan: the facts that its earlier tasks have set, and what they refuse.
PLANS = {
    "plan_upgrade": (
        {"etcd_upgrade_steps": ["3.6.16", "3.7.3", "3.7.3"]},
        "has precedence over the releases of this run (3.6.16, 3.7.3): run this with -e etcd_upgrade_to=3.7.3 instead",
    ),
    "plan_downgrade": (
        {"etcd_downgrade_release": "3.6.16"},
        "has precedence over the release of this run (3.6.16): run this with -e etcd_downgrade_to=3.6.16 instead",
    ),
}
# By case: the options, and whether each plan refuses them. The inventory sets etcd_version to 3.7.3.
CASES = {
    "of the inventory": ([], []),
    "of another release": (["-e", "etcd_version=3.5.35"], ["plan_upgrade", "plan_downgrade"]),
    "of the only release": (["-e", "etcd_version=3.6.16"], ["plan_upgrade"]),
}


@pytest.mark.parametrize("case", CASES)
def test_an_extra_variable_may_only_be_the_release_of_the_run(tmp_path: Path, case: str) -> None:
    options, refused = CASES[case]
    plays = []
    for plan, (facts, _message) in PLANS.items():
        (task,) = [one for one in yaml.safe_load((TASKS / f"{plan}.yml").read_text()) if one["name"] == TITLE]
        included = {**task, "ansible.builtin.import_tasks": str(TASKS / task["ansible.builtin.import_tasks"])}
        plays.append(
            {
                "name": plan,
                "hosts": "localhost",
                "connection": "local",
                "gather_facts": False,
                "vars": {"etcd_version": "3.7.3", **facts},
                "tasks": [
                    {"block": [included], "rescue": [{"name": f"{plan} goes on", "ansible.builtin.meta": "noop"}]}
                ],
            }
        )
    (tmp_path / "play.yml").write_text(yaml.safe_dump(plays))
    command = ["ansible-playbook", "-i", "localhost,", *options, str(tmp_path / "play.yml")]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = " ".join(done.stdout.split())
    assert [plan for plan, (_facts, message) in PLANS.items() if message in told] == refused, done.stdout
    assert f"rescued={len(refused)} " in told, done.stdout
