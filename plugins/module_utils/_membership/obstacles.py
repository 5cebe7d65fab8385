# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find why a cluster does not accept a planned change of its members now. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import UNKNOWN_MEMBER
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import CORRUPT, NOSPACE
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.request import Request
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.steps import Plan
from ansible_collections.etcdops.headroom.plugins.module_utils._model import releases

# Raft entries that a voting member may be behind when the plan is made; each step waits for a smaller distance.
PLAN_LAG = 5000


def is_healthy(entry: Mapping[str, Any]) -> bool:
    """Return whether a member serves and is not corrupt."""
    return bool(entry["healthy"]) and CORRUPT not in entry.get("alarms", [])


def leaving_ids(plan: Plan) -> set[str]:
    """Return the ids of the members that are removed."""
    return {removal.id for removal in plan.removes} | {join.remove for join in plan.joins.values()}


def cluster_problems(
    plan: Plan, view: Mapping[str, Any], hosts: Sequence[Mapping[str, Any]], request: Request, where: str
) -> list[str]:
    """Return why the cluster does not accept a change of members now."""
    if not (plan.joins or plan.removes):
        return []
    members = view["members"]
    leaving = leaving_ids(plan)
    voters = [member for member in members if member["role"] != "learner"]
    staying = [member for member in voters if member["id"] not in leaving]
    healthy = sum(bool(member["healthy"]) for member in staying)
    needed = len(voters) // 2 + 1
    removes_first = any(removal.before_joins for removal in plan.removes)
    problems = []
    # Members that are healthy until they are removed count for earlier removals.
    present = healthy + sum(
        bool(member["healthy"]) for member in voters if member["id"] in leaving and is_healthy(member)
    )
    if not staying or present < needed:
        if removes_first or not view["quorum"]["ok"]:
            # Alone, because the other problems follow from it, and their advice would need a quorum.
            return [f"{where}: {_quorum_problem(voters, staying, present, needed)}"]
        problems.append(f"{where}: no voting member would remain; a cluster needs at least one")
    for member in staying:
        name = member["name"] or member["id"]
        if not member["healthy"]:
            problems.append(
                f"{where}: {name} is not healthy ({member['health_error']}); repair it, or replace it first"
            )
        elif (member["lag"] or 0) > PLAN_LAG:
            problems.append(
                f"{where}: {name} is {member['lag']} raft entries behind, more than {PLAN_LAG}; wait until it has caught up"
            )
    problems += [f"{where}: {text}" for text in _release_problems(plan, members, staying, request)]
    # A dead member stops the playbook nospace, so it may be removed before. Its removal writes nothing into the full databases.
    dead = {member["id"] for member in members if not member["healthy"]}
    only_dead = not plan.joins and all(removal.id in dead for removal in plan.removes)
    problems += _alarm_problems(view, leaving, where, full_blocks=not only_dead)
    voters_after = len(hosts)
    if voters_after % 2 == 0 and voters_after != len(voters) and not request.allow_even:
        problems.append(
            f"{where}: {voters_after} voting members tolerate no more failures than {voters_after - 1}; take {voters_after - 1} or "
            f"{voters_after + 1}, or confirm the even number with -e etcd_scale_allow_even=true"
        )
    return problems


def _release_problems(
    plan: Plan, members: Sequence[Mapping[str, Any]], staying: Sequence[Mapping[str, Any]], request: Request
) -> Iterator[str]:
    """Yield why the members cannot change at their releases.

    A run that changes the release refuses dead members, so they are replaced before it is completed: with a release that no member has to leave again.
    """
    enabled = sorted({member["downgrade_to"] for member in members if member.get("downgrade_to")})
    if plan.joins and enabled:
        yield (
            f"a downgrade to {', '.join(enabled)} is enabled, and etcd lets no member join before it ends: finish it, or, if a member is lost, cancel it "
            "with 'ansible-playbook etcdops.headroom.downgrade -e etcd_downgrade_cancel=true'"
        )
    names: dict[str, list[str]] = {}
    for member in staying:
        if member["version"]:
            names.setdefault(member["version"], []).append(str(member["name"]))
    if not request.version or set(names) <= {request.version}:
        return
    running = sorted(names, key=releases.version_key, reverse=True)
    runs = ", ".join(
        f"{', '.join(names[version])}{'' if number else ' runs etcd' if len(names[version]) == 1 else ' run etcd'} {version}"
        for number, version in enumerate(running)
    )
    healthy = {member["id"] for member in members if member["role"] != "learner" and is_healthy(member)}
    only_dead = not healthy & leaving_ids(plan) and all(
        join.listed or join.name in request.replace for join in plan.joins.values()
    )
    if len(running) == 1:
        yield (
            f"{runs}, but etcd_version is {request.version}. Change one thing at a time: keep the release in this run with -e etcd_version={running[0]}"
            f"{', or change it with site.yml first' if all(member['healthy'] for member in members) else ''}"
        )
    elif not only_dead:
        yield f"{runs}. Until site.yml has completed the change of the release, only dead members are removed or replaced"
    elif (
        request.version not in running
        or releases.version_key(request.version)[:2] != releases.version_key(running[0])[:2]
    ):
        yield f"{runs}, but etcd_version is {request.version}. Use the newest of them in this run: -e etcd_version={running[0]}"


def _quorum_problem(
    voters: Sequence[Mapping[str, Any]], staying: Sequence[Mapping[str, Any]], present: int, needed: int
) -> str:
    """Return why members cannot change without a quorum. Members that are only stopped can give it back, and a rescue loses writes."""
    down = [member for member in voters if not member["healthy"]]
    names = ", ".join(f"{member['name']} ({member['health_error']})" for member in down)
    kept = ", ".join(str(member["name"]) for member in down if member in staying)
    return (
        f"{present} of {len(voters)} voting members would be healthy during the change and quorum needs {needed}"
        f"{f'; not healthy: {names}' if names else ''}. Without a quorum no member can be removed: "
        f"{f'start or repair {kept} first (journalctl -u etcd), and only' if kept else 'repair a member first, and only'} if most members are lost for "
        "good, run the playbook etcdops.headroom.restore_lost_quorum"
    )


def _alarm_problems(view: Mapping[str, Any], leaving: set[str], where: str, *, full_blocks: bool) -> list[str]:
    # A removal ends CORRUPT. It does not end NOSPACE: the other databases are about as full.
    alarms = [
        (member["name"] or member["id"], kind)
        for member in view["members"]
        for kind in member["alarms"]
        if kind != CORRUPT or member["id"] not in leaving
    ]
    alarms += [
        (alarm["member"], alarm["type"]) for alarm in view.get("alarms", []) if alarm["member"] == UNKNOWN_MEMBER
    ]
    full = sorted(name for name, kind in alarms if kind == NOSPACE)
    corrupt = sorted(name for name, kind in alarms if kind == CORRUPT)
    advice = "run the playbook etcdops.headroom.nospace first"
    if any(member["role"] != "learner" and not member["healthy"] for member in view["members"]):
        advice += (
            ", which needs all voting members: take the hosts of dead ones out of the inventory and remove them with 'ansible-playbook "
            "etcdops.headroom.scale -e etcd_scale_allow_even=true', then run nospace, and then add hosts"
        )
    return [
        *([f"{where}: the alarm NOSPACE is set by {', '.join(full)}; {advice}"] if full and full_blocks else []),
        *(
            [f"{where}: the alarm CORRUPT is set for {', '.join(corrupt)}; replace that member first"]
            if corrupt
            else []
        ),
    ]
