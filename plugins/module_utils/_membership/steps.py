# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a plan for the members of a cluster, and the plan in words. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._membership.request import Request


@dataclass(frozen=True)
class Join:
    """The steps for a host to become a voting member. remove: the id of its old member, empty if there is none. aside: whether it holds old data.

    listed: the cluster already lists its new member.
    """

    name: str
    remove: str = ""
    aside: bool = False
    listed: bool = False


@dataclass(frozen=True)
class Removal:
    """A member to remove. before_joins: learners and members that are corrupt or not healthy are removed before others join, healthy ones after them."""

    id: str
    name: str
    before_joins: bool


@dataclass
class Plan:
    """Joins by host and removals, each in their order, the steps in words, and all problems.

    kept: the names of the members whose hosts are in the inventory. cluster_id: of the cluster that the plan is for. database: the bytes of the database
    that a new member receives.
    """

    joins: dict[str, Join] = field(default_factory=dict)
    removes: list[Removal] = field(default_factory=list)
    actor: str = ""
    lines: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    cluster_id: str = ""
    database: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return the plan for a variable of Ansible."""
        return {**asdict(self), "pending": bool(self.joins or self.removes)}


def was_replaced(host: Mapping[str, Any], entry: Mapping[str, Any]) -> bool:
    """Return whether replace.yml replaced the member before, perhaps in a run that was interrupted: the mark on its host has the id of another one.

    ``replaced`` of the host is the SHA-256 of the mark, empty without one.
    """
    return host.get("replaced", "") not in ("", sha256(entry["id"].encode()).hexdigest())


def describe(plan: Plan, view: Mapping[str, Any], hosts: Sequence[Mapping[str, Any]], request: Request) -> list[str]:
    """Describe the plan: the current members, the requested ones, and the steps."""
    now = ", ".join(
        f"{member['name'] or member['id']}{_note(member)}"
        for member in sorted(view["members"], key=lambda one: str(one["name"]))
    )
    lines = [f"Members now: {now}", f"Members wanted: {', '.join(sorted(host['name'] for host in hosts))}"]
    states = {member["id"]: _state(member) for member in view["members"]}
    steps = [
        f"remove {removal.name} ({removal.id}), which is {states[removal.id]}"
        for removal in plan.removes
        if removal.before_joins
    ]
    removed = {removal.id for removal in plan.removes}
    for host, join in sorted(plan.joins.items(), key=lambda item: (not item[1].listed, item[0])):
        parts = [f"remove {join.name} ({join.remove})"] if join.remove and join.remove not in removed else []
        parts += ["move its old data aside"] if join.aside else []
        parts += [
            "continue its join" if join.listed else f"add {join.name} as a learner",
            "start it",
            "promote it once it has caught up",
        ]
        steps.append(f"{host}: {', '.join(parts)}")
    steps += [
        f"move the leadership away from {removal.name} if it leads, and remove it ({removal.id})"
        for removal in plan.removes
        if not removal.before_joins
    ]
    lines += [
        f"{host['name']} was replaced already, and is healthy; this run completes the rest. To replace it once more, add -e etcd_replace_again=true"
        for host in hosts
        for entry in view["members"]
        if host["name"] in request.replace and host["host"] not in plan.joins
        if entry["name"] == host["name"] and was_replaced(host, entry)
    ]
    gone = [name for name in request.remove if not any(name in (removal.name, removal.id) for removal in plan.removes)]
    lines += [f"Step {number}: {step}" for number, step in enumerate(steps, 1)] or ["No member joins or leaves"]
    return lines + [
        f"{name} {'stays a member' if name in plan.kept else 'is not a member'} of this cluster" for name in gone
    ]


def _state(member: Mapping[str, Any]) -> str:
    """Return the state for which a member is removed before others join."""
    if member["role"] == "learner":
        return "a learner"
    return "corrupt" if member["healthy"] else "not healthy"


def _note(member: Mapping[str, Any]) -> str:
    if member["role"] in ("leader", "learner"):
        return f" ({member['role']})"
    return "" if member["healthy"] else " (not healthy)"
