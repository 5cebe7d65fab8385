# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filters that estimate etcd's memory, plan its flags and compare its limits with a host."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

# Ansible loads every filter of a collection in each process that uses one of them, so each imports what it needs when it is called.


def etcd_memory_estimate(
    workload: dict[str, Any],
    version: str,
    members: int = 3,
    settings: dict[str, Any] | None = None,
    unknown_version: str = "refuse",
) -> dict[str, Any]:
    """Estimate a member's memory; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._plan import for_release

    try:
        return for_release.estimate_for_release(version, workload, settings, members, unknown_version)
    except ValueError as error:
        raise AnsibleFilterError(f"etcd_memory_estimate: {error}") from error


def etcd_memory_plan(
    workload: dict[str, Any],
    version: str,
    budget: Any,
    members: int = 3,
    settings: dict[str, Any] | None = None,
    volume_size: Any = None,
    unknown_version: str = "refuse",
) -> dict[str, Any]:
    """Plan a member's flags; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._plan import for_release

    try:
        return for_release.plan_for_release(version, workload, members, budget, settings, volume_size, unknown_version)
    except ValueError as error:
        raise AnsibleFilterError(f"etcd_memory_plan: {error}") from error


def etcd_memory_problem(facts: Mapping[str, Any], budget: Any, memory_max: Any = None) -> str:
    """Return which limits are above the memory of a host; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._plan import plan

    sizes = {"etcd_memory_budget": budget, "etcd_memory_max": memory_max}
    return plan.host_memory_problem(sizes, facts.get("memory_total") or 0, facts.get("memory_limit"))


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters by name."""
        return {
            "etcd_memory_estimate": etcd_memory_estimate,
            "etcd_memory_plan": etcd_memory_plan,
            "etcd_memory_problem": etcd_memory_problem,
        }
