# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find why etcd cannot run on a host, in its facts and in the settings of role etcd. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._membership import unit_settings


@dataclass(frozen=True)
class HostPlan:
    """What a run plans for a host.

    user: the owner of etcd's files. address: of clients and peers. archive_problem, memory_problem: what is wrong with etcd's archive, and with the memory
    settings, empty if nothing is. restoring: whether the host has the mark of an interrupted restore. restores: whether this run restores the cluster.
    """

    settings: unit_settings.UnitSettings
    user: str
    address: str | None
    archive_problem: str
    memory_problem: str
    restoring: bool
    restores: bool


def host_obstacles(facts: Mapping[str, Any], plan: HostPlan) -> list[str]:
    """Return all obstacles. facts: the result of etcd_host_info."""
    found = [
        "" if facts["systemd"]["running"] else "systemd is not its init, and Headroom runs etcd as a systemd service",
        "" if facts["architecture"] else f"etcd has no release for {facts['machine']}",
        plan.archive_problem,
        plan.memory_problem,
        "" if plan.address else "it has no address; set etcd_address to the address that clients and peers should use",
        "a restore of its cluster was interrupted; run the playbook restore again, which resumes it"
        if plan.restoring and not plan.restores
        else "",
        "" if plan.restores else _moved_data_problem(facts, plan.settings.data_dir),
    ]
    return [
        *filter(None, found),
        *unit_settings.path_problems(plan.settings),
        *unit_settings.hidden_folder_problems(plan.settings),
        *_shared_folder_problems(facts, plan),
        *unit_settings.weight_problems(plan.settings),
        *unit_settings.timing_problems(plan.settings),
    ]


def _moved_data_problem(facts: Mapping[str, Any], data_dir: str) -> str:
    """Return the problem of a member whose data is in another folder.

    In the variables of the whole group, the new directory is also that of members that still run in the old one.
    """
    other = (facts.get("member") or {}).get("other_data_dir")
    if not other:
        return ""
    if (facts.get("unit") or {}).get("active_state") == "active":
        remedy = (
            "etcd still runs here: set etcd_data_dir only for the host whose directory you moved (in its host_vars), and do not stop this member while "
            "another one is down"
        )
    else:
        remedy = "set etcd_data_dir of this host back, or move the directory"
    return f"its member is in {other}, and etcd would start empty in {data_dir}; {remedy}"


def _shared_folder_problems(facts: Mapping[str, Any], plan: HostPlan) -> list[str]:
    """Return folders that other programs use. A member that has them already stays as it is."""
    if (facts.get("member") or {}).get("present") or plan.restores:
        return []
    own = [path for path, found in facts["files"].items() if found.get("owner") == plan.user]
    return unit_settings.shared_folder_problems(plan.settings, own)
