# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare the memory and the settings of one member between two releases. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size, parse_size
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.quota import later_quota_problem
from ansible_collections.etcdops.headroom.plugins.module_utils._model.releases import render_config
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.for_release import plan_for_release


@dataclass(frozen=True)
class Member:
    """The configuration of a member, apart from its release.

    base: settings in canonical names, without those of the plan. extra: further settings in etcd's own keys of the new release.
    pinned: settings that the plan must keep.
    """

    workload: Mapping[str, Any]
    members: int
    budget: Any
    pinned: Mapping[str, Any]
    volume_size: Any = None
    base: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


def plan_change(
    member: Member, old: str, new: str, databases: Mapping[str, int] | None = None
) -> tuple[list[str], list[str]]:
    """Return the obstacles to the new release on this member, and its effects. old: empty if unknown.

    databases: the bytes of each member's database, if the old release starts with its own plan before the new one does.
    """
    problems, changes = [], []
    settings = dict(member.base)
    try:
        planned, before = _plan(member, new), _plan_or_none(member, old)
        # The extra settings have these already, in their own spelling.
        given = {"memory_mlock", *(["max_request_bytes"] if "max-request-bytes" in member.extra else [])}
        settings.update({name: value for name, value in planned["settings"].items() if name not in given})
        changes.append(_memory_change(member, old, new, planned, before))
        lowered = later_quota_problem(_quota(planned), _quota(before) if before else None, databases or {})
        problems += [f"quota with etcd {new}: {lowered}"] if lowered else []
    except ValueError as error:
        problems.append(f"memory with etcd {new}: {error}")
    try:
        render_config(new, settings, dict(member.extra))
    except ValueError as error:
        problems.append(f"settings with etcd {new}: {error}")
    return problems, changes


def _plan(member: Member, release: str) -> dict[str, Any]:
    found: dict[str, Any] = plan_for_release(
        release, dict(member.workload), member.members, member.budget, dict(member.pinned), member.volume_size, "refuse"
    )
    return found


def _plan_or_none(member: Member, release: str) -> dict[str, Any] | None:
    """Return the plan, None for a release without one: it is unknown, or its plan does not fit."""
    try:
        return _plan(member, release)
    except ValueError:
        return None


def _quota(planned: Mapping[str, Any]) -> int:
    quota: int = planned["settings"]["quota_backend_bytes"]
    return quota


def _memory_change(
    member: Member, old: str, new: str, planned: Mapping[str, Any], before: Mapping[str, Any] | None
) -> str:
    budget = format_size(parse_size(member.budget, "the memory budget"))
    earlier = f"{format_size(_needed(before))} with {old}, " if before else ""
    return f"memory needed: {earlier}{format_size(_needed(planned))} with {new}, the budget is {budget}"


def _needed(planned: Mapping[str, Any]) -> int:
    needed: int = planned["estimate"]["memory_max_least"]
    return needed
