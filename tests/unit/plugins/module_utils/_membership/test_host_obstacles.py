# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why etcd cannot run on a host."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.host_obstacles import (
    HostPlan,
    host_obstacles,
)

from tests.unit.plugins.module_utils._membership.role_settings import DEFAULTS

SETTINGS = replace(DEFAULTS, data_dir="/srv", wal_dir=None)
PLAN = HostPlan(
    settings=replace(SETTINGS, data_dir="/var/lib/etcd/data"),
    user="etcd",
    address="192.0.2.11",
    archive_problem="",
    memory_problem="",
    restoring=False,
    restores=False,
)
FACTS: dict[str, Any] = {
    "systemd": {"running": True},
    "architecture": "amd64",
    "machine": "x86_64",
    "member": {"present": False, "other_data_dir": None},
    "unit": None,
    "files": {"/srv": {"exists": True, "owner": "root"}, "/mnt": {"exists": False}},
}
MOVED = {"member": {"present": True, "other_data_dir": "/old"}}
MOVED_TEXT = "its member is in /old, and etcd would start empty in /var/lib/etcd/data; "
SHARED = (
    "etcd_data_dir is /srv, which other programs use, but only etcd may enter it; choose a path with a folder for etcd, "
    "such as /srv/etcd-wal/wal"
)


@pytest.mark.parametrize(
    ("facts", "plan", "obstacles"),
    [
        ({}, {}, []),
        ({"member": None}, {}, []),
        ({"systemd": {"running": False}}, {}, ["systemd is not its init, and Headroom runs etcd as a systemd service"]),
        ({"architecture": None, "machine": "sparc64"}, {}, ["etcd has no release for sparc64"]),
        ({}, {"archive_problem": "no SHA-256 is known"}, ["no SHA-256 is known"]),
        ({}, {"memory_problem": "the budget is too high"}, ["the budget is too high"]),
        ({}, {"address": ""}, ["it has no address; set etcd_address to the address that clients and peers should use"]),
        (
            {},
            {"restoring": True},
            ["a restore of its cluster was interrupted; run the playbook restore again, which resumes it"],
        ),
        ({}, {"restoring": True, "restores": True}, []),
        # The variable may be set for the whole group.
        (
            {**MOVED, "unit": {"active_state": "active"}},
            {},
            [
                f"{MOVED_TEXT}etcd still runs here: set etcd_data_dir only for the host whose directory you moved (in its host_vars), and do not stop this "
                "member while another one is down"
            ],
        ),
        (
            {**MOVED, "unit": {"active_state": "failed"}},
            {},
            [f"{MOVED_TEXT}set etcd_data_dir of this host back, or move the directory"],
        ),
        (MOVED, {}, [f"{MOVED_TEXT}set etcd_data_dir of this host back, or move the directory"]),
        (MOVED, {"restores": True}, []),
        ({}, {"settings": SETTINGS}, [SHARED]),
        ({}, {"settings": SETTINGS, "restores": True}, []),
        # A member that is there already stays manageable, and so is a folder of etcd.
        ({"member": {"present": True}}, {"settings": SETTINGS}, []),
        ({"files": {"/srv": {"exists": True, "owner": "etcd"}}}, {"settings": SETTINGS}, []),
    ],
)
def test_obstacles(facts: dict[str, Any], plan: dict[str, Any], obstacles: list[str]) -> None:
    assert host_obstacles({**FACTS, **facts}, replace(PLAN, **plan)) == obstacles


def test_all_obstacles_are_found_at_once() -> None:
    settings = replace(SETTINGS, install_dir="opt", io_weight=0, election_timeout=60000)
    plan = replace(PLAN, settings=settings, address=None, memory_problem="the budget is too high")
    found = host_obstacles({**FACTS, "systemd": {"running": False}}, plan)
    assert [text.split()[0] for text in found] == [
        "systemd",
        "the",
        "it",
        "etcd_install_dir",
        "etcd_data_dir",
        "etcd_io_weight",
        "etcd_election_timeout",
    ]
