# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbooks find the hosts that run etcd wherever etcd_group is set, and fail if there are none."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

PROJECT = Path(__file__).resolve().parents[2]
PLAYBOOKS = PROJECT / "playbooks"
IMPORT = {"name": "Find the hosts that run etcd", "ansible.builtin.import_playbook": "_targets.yml"}
HOSTS = {"hosts": {"a": {}, "b": {}}}
# The second is for playbook upgrade, whose plays need no hosts of their own.
TARGETS = ("etcd_targets", "{{ etcd_deploy_hosts | default('etcd_targets') }}")


def run(folder: Path, inventory: dict[str, Any], *options: str) -> subprocess.CompletedProcess[str]:
    """Run a play on the targets that names each host."""
    (folder / "hosts.yml").write_text(yaml.safe_dump(inventory))
    imported = {**IMPORT, "ansible.builtin.import_playbook": str(PLAYBOOKS / "_targets.yml")}
    play = {
        "name": "Name the targets",
        "hosts": "etcd_targets",
        "gather_facts": False,
        "tasks": [{"name": "Name the host", "ansible.builtin.debug": {"msg": "target {{ inventory_hostname }}"}}],
    }
    (folder / "play.yml").write_text(yaml.safe_dump([imported, play]))
    command = ["ansible-playbook", "-i", str(folder / "hosts.yml"), str(folder / "play.yml"), *options]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=120, check=False)


def targets(done: subprocess.CompletedProcess[str]) -> set[str]:
    """Return the hosts that the play reached."""
    return {line.split("target ")[1].strip() for line in done.stdout.splitlines() if "target " in line}


@pytest.mark.parametrize(
    ("inventory", "options", "expected"),
    [
        ({"etcd": HOSTS}, (), {"a", "b"}),
        ({"stores": {**HOSTS, "vars": {"etcd_group": "stores"}}}, (), {"a", "b"}),
        ({"all": {"vars": {"etcd_group": "stores"}, "children": {"stores": HOSTS}}}, (), {"a", "b"}),
        ({"stores": HOSTS, "web": {"hosts": {"c": {}}}}, ("-e", "etcd_group=stores"), {"a", "b"}),
        ({"stores": {**HOSTS, "vars": {"etcd_group": "stores"}}}, ("--limit", "a"), {"a"}),
        ({"etcd": HOSTS}, ("--tags", "storage"), set()),  # the play has no task with the tag
    ],
    ids=["default", "in the group's variables", "in all's variables", "as an extra variable", "limited", "tagged"],
)
def test_targets_are_found(
    tmp_path: Path, inventory: dict[str, Any], options: tuple[str, ...], expected: set[str]
) -> None:
    done = run(tmp_path, inventory, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert targets(done) == expected


@pytest.mark.parametrize(
    ("inventory", "options", "group"),
    [
        ({"stores": HOSTS}, (), "group etcd."),
        ({"all": {"vars": {"etcd_group": "kv"}, "children": {"stores": HOSTS}}}, (), "group kv."),
        ({"etcd": HOSTS, "web": {"hosts": {"c": {}}}}, ("--limit", "c"), "group etcd."),
        ({"etcd": {}}, (), "group etcd."),
    ],
    ids=["no such group", "a group that does not exist", "limited to others", "no hosts"],
)
def test_a_run_without_targets_fails(
    tmp_path: Path, inventory: dict[str, Any], options: tuple[str, ...], group: str
) -> None:
    done = run(tmp_path, inventory, *options)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "No host to work on" in done.stdout and group in " ".join(done.stdout.split())


@pytest.mark.parametrize("path", sorted(PLAYBOOKS.glob("*.yml")), ids=lambda path: path.stem)
def test_each_play_on_members_finds_them_first(path: Path) -> None:
    plays = yaml.safe_load(path.read_text(encoding="utf-8"))
    for number, play in enumerate(plays):
        if "etcd" in str(play.get("hosts", "")):
            assert play["hosts"] in TARGETS and IMPORT in plays[:number], path.name
