# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Volumes that are not mounted, and may hold the data of members: which ones a host has, and that no member starts if one turns out to."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.playbooks.variables import evaluate

PROJECT = Path(__file__).resolve().parents[2]
POINT, DEVICE, UUID = "/var/lib/etcd", "/dev/disk/by-id/data", "0d7e4f3a"
MOUNT = f"mkdir -p {POINT} && mount {DEVICE} {POINT}"


def host(fstab: bool = False, **device: Any) -> dict[str, Any]:
    """The variables of a host with a data device, by default with an ext4 filesystem of etcd."""
    found = {
        "path": DEVICE,
        "exists": True,
        "is_block": True,
        "signature": "ext4 filesystem",
        "of_etcd": True,
        "uuid": UUID,
    }
    found.update(mounted_at=[], was_mounted=True)
    facts = {
        "devices": {DEVICE: {**found, **device}},
        "mounts": {POINT: {"fstab": {"source": DEVICE} if fstab else None}},
    }
    return {
        "etcd_host_facts": facts,
        "etcd_storage_data_device": DEVICE,
        "etcd_storage_data_mount": POINT,
    }


BLANK = {"signature": None, "of_etcd": False, "uuid": None, "was_mounted": None}

# By case: the variables, the commands that mount used volumes, and the devices that become volumes.
CASES: dict[str, tuple[dict[str, Any], list[str], list[str]]] = {
    "used": (host(), [MOUNT], []),
    "mounted": (host(mounted_at=[POINT]), [], []),
    # A first deployment was interrupted between mkfs and mount: it must go on.
    "never_mounted": (host(was_mounted=False), [], []),
    "never_mounted_in_fstab": (host(True, was_mounted=False), [], []),
    # XFS records nothing of the kind: what it holds is seen once it is mounted.
    "xfs": (host(was_mounted=None), [], []),
    "xfs_in_fstab": (host(True, was_mounted=None), [MOUNT], []),
    "blank": (host(**BLANK), [], [DEVICE]),
    "foreign": (host(of_etcd=False), [], [DEVICE]),
    "foreign_mounted": (host(of_etcd=False, mounted_at=[POINT]), [], []),
    "missing": ({**host(), "etcd_host_facts": {"devices": {DEVICE: {"exists": False, "is_block": False}}}}, [], []),
    "none": ({**host(), "etcd_storage_data_device": ""}, [], []),
}


def test_volumes_of_a_host_that_may_hold_data(tmp_path: Path) -> None:
    expression = "[etcd_host_unmounted_volumes, etcd_host_new_devices]"
    found = evaluate(tmp_path, "etcd_host", expression, {case: given for case, (given, _old, _new) in CASES.items()})
    assert found == {case: [old, new] for case, (_given, old, new) in CASES.items()}


def facts_of(present: bool, before: bool, **cluster: Any) -> dict[str, Any]:
    """The variables of a host of a cluster after its volumes were mounted. before: whether the play saw data at its start."""
    members = {"localhost": {"has_data": before}}
    return {
        "etcd_host_cluster_name": "etcd",
        "etcd_host_facts": {"member": {"present": present}},
        "etcd_clusters": {"etcd": {"state": "new", "members": members, **cluster}},
    }


def test_members_that_the_plan_of_a_new_cluster_did_not_see(tmp_path: Path) -> None:
    cases = {
        "appeared": (facts_of(True, False), True),
        "disappeared": (facts_of(False, True), True),
        "none": (facts_of(False, False), False),
        # Its first start was interrupted.
        "forming": (facts_of(True, True), False),
        "existing": (facts_of(True, False, state="existing"), False),
        "restored": ({**facts_of(True, False), "etcd_restore_active": True}, False),
        "without_role_etcd": ({"etcd_host_cluster_name": "etcd"}, False),
    }
    given = {case: variables for case, (variables, _wrong) in cases.items()}
    found = evaluate(tmp_path, "etcd_storage", "_etcd_storage_plan_is_outdated | bool", given)
    assert found == {case: wrong for case, (_variables, wrong) in cases.items()}


@pytest.mark.parametrize("fatal", [True, False])
def test_no_member_starts_if_a_mounted_volume_of_one_host_holds_a_member(tmp_path: Path, fatal: bool) -> None:
    """Also in a play without any_errors_fatal. The hosts whose volumes were mounted before do not run this task."""
    tasks = yaml.safe_load((PROJECT / "roles" / "etcd_storage" / "tasks" / "volumes.yml").read_text())
    name = "Refuse volumes whose content differs from what the plan of the cluster assumes"
    [check] = [task for task in tasks if task["name"] == name]
    check["when"] = ["inventory_hostname != 'n3'", check["when"]]
    members = {host: {"has_data": False} for host in ("n1", "n2", "n3")}
    hosts = {host: {"etcd_host_facts": {"member": {"present": host == "n1"}}} for host in members}
    variables = {"etcd_host_cluster_name": "etcd", "etcd_clusters": {"etcd": {"state": "new", "members": members}}}
    inventory = {"etcd": {"hosts": hosts, "vars": {"ansible_connection": "local", **variables}}}
    (tmp_path / "hosts.yml").write_text(yaml.safe_dump(inventory))
    play = {
        "hosts": "etcd",
        "gather_facts": False,
        "any_errors_fatal": fatal,
        "vars_files": [str(PROJECT / "roles" / "etcd_storage" / "vars" / "main.yml")],
        "tasks": [check, {"ansible.builtin.debug": {"msg": "a member starts"}}],
    }
    (tmp_path / "play.yml").write_text(yaml.safe_dump([play]))
    command = ["ansible-playbook", "-i", str(tmp_path / "hosts.yml"), str(tmp_path / "play.yml")]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300, check=False)
    text = " ".join((done.stdout + done.stderr).split())
    assert done.returncode != 0 and "n1: the volumes that were mounted hold the data of a member" in text, text
    assert "a member starts" not in text, text
