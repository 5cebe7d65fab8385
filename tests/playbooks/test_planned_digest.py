# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan remembers: the state of a member, whose change is refused if another play changes it first, and its release."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.playbooks.variables import PROJECT, evaluate

ANSWERS = {"cluster": {"members": [{"version": None}, {"version": "3.6.16"}], "quorum": {"ok": True}}}
SILENT = {"cluster": {"members": [{"version": None}, {"version": None}], "quorum": {"ok": False}}}


def member(state: str, digest: str | None, observed: dict[str, Any] | None) -> dict[str, Any]:
    facts = {"unit": {"active_state": state, "digest": digest}, "etcd": {}}
    return {"etcd_host_facts": facts, **({"_etcd_observed": observed} if observed is not None else {})}


# By case: the facts, and what the plan remembers.
CASES = {
    "serving": (member("active", "d1", ANSWERS), "d1"),
    "foreign": (member("active", None, ANSWERS), ""),
    "stopped": (member("inactive", None, ANSWERS), "down"),
    # Perhaps by an upgrade. The releases of the members that answer do not show its own.
    "starting": (member("activating", "d1", ANSWERS), "down"),
    # Expired certificates, or a power cut: it becomes active as soon as others answer, and its unit shows its release.
    "starting_alone": (member("activating", "d1", SILENT), "d1"),
    "stopped_alone": (member("failed", None, SILENT), "down"),
    "new": (member("inactive", None, None), "down"),
    "forming": (member("activating", "d1", {"skipped": True}), "d1"),
}


def test_what_a_plan_remembers_of_a_member(tmp_path: Path) -> None:
    found = evaluate(
        tmp_path, "etcd", "_etcd_digest_or_down", {case: given for case, (given, _digest) in CASES.items()}
    )
    assert found == {case: digest for case, (_given, digest) in CASES.items()}


@pytest.mark.parametrize("name", ["preflight", "verify_update"])
def test_preflight_and_verification_record_the_digest(name: str) -> None:
    tasks = yaml.safe_load((PROJECT / "roles" / "etcd" / "tasks" / f"{name}.yml").read_text())
    remembered = [task["ansible.builtin.set_fact"] for task in tasks if "ansible.builtin.set_fact" in task]
    assert "{{ _etcd_digest_or_down }}" in [facts.get("_etcd_planned_digest") for facts in remembered]


def test_a_second_play_of_a_run_makes_a_plan_of_its_own_for_another_release(tmp_path: Path) -> None:
    tasks = tmp_path / "etcd" / "tasks"
    tasks.mkdir(parents=True)
    shutil.copy(PROJECT / "roles" / "etcd" / "tasks" / "main.yml", tasks)
    facts = {"etcd_plan": {"of": "{{ etcd_version }}"}, "_etcd_planned_version": "{{ etcd_version }}"}
    (tasks / "preflight.yml").write_text(yaml.safe_dump([{"ansible.builtin.set_fact": facts}]))
    said = "{{ etcd_version }} by the plan of {{ etcd_plan.of }}"
    (tasks / "apply.yml").write_text(yaml.safe_dump([{"ansible.builtin.debug": {"msg": said}}]))
    plays = [
        {
            "hosts": "localhost",
            "gather_facts": False,
            "vars": {"etcd_version": version},
            "roles": [str(tmp_path / "etcd")],
        }
        for version in ("3.5.35", "3.6.16", "3.6.16")
    ]
    (tmp_path / "play.yml").write_text(yaml.safe_dump(plays))
    command = ["ansible-playbook", "-i", "localhost,", "-c", "local", str(tmp_path / "play.yml")]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("3.5.35 by the plan of 3.5.35") == 1
    assert done.stdout.count("3.6.16 by the plan of 3.6.16") == 2, done.stdout
