# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts of a cluster a run with --limit lacks, if the inventory has a group for each cluster."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

PROJECT = Path(__file__).resolve().parents[2]
FILES = ("/restoring", "/forming", "/renewing", "/replaced")
FACTS = {
    "etcd_version": "3.7.3",
    "etcd_host_facts": {
        "architecture": "amd64",
        "machine": "x86_64",
        "versions": ["3.7.3"],
        "systemd": {"running": True},
        "files": {path: {"exists": False} for path in FILES},
        "member": {"present": True},
    },
    "etcd_host_restoring_file": "/restoring",
    "etcd_host_forming_file": "/forming",
    "etcd_host_renewing_file": "/renewing",
    "etcd_host_replaced_file": "/replaced",
    "etcd_host_unmounted_volumes": [],
    "etcd_host_new_devices": [],
    "etcd_host_address": "{{ etcd_address }}",
}

# Each cluster with the number of its members, such as north:3;
COUNTS = "{% for name in etcd_clusters | sort %}{{ name }}:{{ etcd_clusters[name].members | length }};{% endfor %}"


def hosts(letter: str, **variables: str) -> dict[str, Any]:
    """Return three hosts, such as a1 to a3, with variables of their group."""
    names = [f"{letter}{number}" for number in (1, 2, 3)]
    return {
        "hosts": {name: {"etcd_address": f"192.0.{ord(letter)}.{number}"} for number, name in enumerate(names, 1)},
        "vars": variables,
    }


# By group, each with its etcd_group; by cluster name in one group.
BY_GROUP = {"etcd_a": hosts("a", etcd_group="etcd_a"), "etcd_b": hosts("b", etcd_group="etcd_b")}
NAMED = {
    "etcd_a": hosts("a", etcd_group="etcd_a", etcd_cluster_name="north"),
    "etcd_b": hosts("b", etcd_group="etcd_b", etcd_cluster_name="south"),
}
IN_ONE_GROUP = {
    "etcd": {
        "children": {"etcd_a": hosts("a", etcd_cluster_name="north"), "etcd_b": hosts("b", etcd_cluster_name="south")}
    }
}


@pytest.fixture(scope="module")
def role(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return role etcd without the role that gathers the facts of hosts, which the test states."""
    folder = tmp_path_factory.mktemp("roles") / "etcd"
    shutil.copytree(PROJECT / "roles" / "etcd", folder)
    (folder / "meta" / "main.yml").unlink()
    return folder


def describe(
    folder: Path, role: Path, inventory: dict[str, Any], limit: str, variables: dict[str, str] | None = None
) -> tuple[int, str]:
    """Describe the members of a run with --limit and variables of the play; return the exit status and the output."""
    plays = [
        {"name": "Find the hosts", "ansible.builtin.import_playbook": str(PROJECT / "playbooks" / "_targets.yml")},
        {
            "name": "Describe the members",
            "hosts": "etcd_targets",
            "gather_facts": False,
            "vars": {**FACTS, **(variables or {})},
            "tasks": [
                {
                    "name": "Describe the members",
                    "ansible.builtin.import_role": {"name": str(role), "tasks_from": "describe"},
                },
                {
                    "name": "Name the clusters",
                    "ansible.builtin.debug": {"msg": COUNTS},
                    "run_once": True,
                },
            ],
        },
    ]
    (folder / "hosts.yml").write_text(yaml.safe_dump(inventory))
    (folder / "play.yml").write_text(yaml.safe_dump(plays))
    command = ["ansible-playbook", "-i", str(folder / "hosts.yml"), str(folder / "play.yml"), "--limit", limit]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize(
    ("inventory", "limit", "expected"),
    [
        (BY_GROUP, "etcd_a,etcd_b", "etcd_a:3;etcd_b:3;"),
        (BY_GROUP, "etcd_b", "etcd_b:3;"),
        (NAMED, "etcd_a,etcd_b", "north:3;south:3;"),
        (IN_ONE_GROUP, "etcd_b", "south:3;"),
    ],
    ids=["both groups", "one group", "both groups, named", "one cluster of a group"],
)
def test_whole_clusters_are_described(
    tmp_path: Path, role: Path, inventory: dict[str, Any], limit: str, expected: str
) -> None:
    code, output = describe(tmp_path, role, inventory, limit)
    assert code == 0 and f"msg: {expected} PLAY RECAP" in output, output


@pytest.mark.parametrize(
    ("inventory", "limit", "problem"),
    [
        (BY_GROUP, "etcd_a,b1", "cluster etcd_b: this run leaves out b2, b3"),
        (BY_GROUP, "a1,etcd_b", "cluster etcd_a: this run leaves out a2, a3"),
        (BY_GROUP, "b1,b2", "cluster etcd_b: this run leaves out b3"),
        (NAMED, "etcd_a,b1", "cluster south: this run leaves out b2, b3"),
        (IN_ONE_GROUP, "etcd_a,b1", "cluster south: this run leaves out b2, b3"),
    ],
    ids=["second group", "first group", "one group", "second group, named", "second cluster of a group"],
)
def test_a_part_of_a_cluster_is_refused(
    tmp_path: Path, role: Path, inventory: dict[str, Any], limit: str, problem: str
) -> None:
    code, output = describe(tmp_path, role, inventory, limit)
    assert (
        code == 2 and f"Task failed: Action failed: {problem}" in output and ". Nothing was changed. Origin" in output
    ), output
    assert "If a host is down, take it out of its group in the inventory for this run." in output, output


def test_a_host_outside_its_group_is_not_missed(tmp_path: Path, role: Path) -> None:
    """The way to work on a cluster while a host is down, which docs/deploy.md describes."""
    others = {name: found for name, found in ETCD["etcd"]["hosts"].items() if name != "a3"}
    inventory = {"etcd": {"hosts": others}, "down": {"hosts": {"a3": {}}}}
    code, output = describe(tmp_path, role, inventory, "all")
    assert code == 0 and "msg: etcd:2; PLAY RECAP" in output, output


# Names that hostvars does not have: by an expression with a default of the role, by the play, and by an expression with a variable of the play.
ETCD = {"etcd": hosts("a")}
NAMED_BY_EXPRESSION = {"etcd": hosts("a", etcd_cluster_name="{{ etcd_group }}-prod")}
NAMED_BY_PLAY = {"etcd": hosts("a", etcd_cluster_name="{{ prefix }}-prod")}


@pytest.mark.parametrize(
    ("inventory", "variables", "cluster"),
    [
        (NAMED_BY_EXPRESSION, {}, "etcd-prod"),
        (NAMED_BY_PLAY, {"prefix": "x"}, "x-prod"),
        (ETCD, {"etcd_cluster_name": "main"}, "main"),
    ],
    ids=["a default of the role", "a variable of the play", "the play"],
)
def test_a_part_is_refused_where_only_the_play_knows_the_name(
    tmp_path: Path, role: Path, inventory: dict[str, Any], variables: dict[str, str], cluster: str
) -> None:
    code, output = describe(tmp_path, role, inventory, "a1,a2,a3", variables)
    assert code == 0 and f"msg: {cluster}:3; PLAY RECAP" in output, output
    code, output = describe(tmp_path, role, inventory, "a1", variables)
    assert code == 2
    assert f"cluster {cluster}: this run leaves out a2, a3" in output, output
