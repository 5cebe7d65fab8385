# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan the steps that bring a cluster's members in line with the inventory. Pure.

The plan depends on the cluster's answer and on the ids in the write-ahead log of each host: a run that was killed at any step leaves a state
from which the next plan continues.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._membership import integrity, observed, obstacles, space
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.recovery import REPLACE, listed_member
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.request import Request
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.steps import (
    Join,
    Plan,
    Removal,
    describe,
    was_replaced,
)


def plan(
    view: Mapping[str, Any],
    hosts: Iterable[Mapping[str, Any]],
    request: Request,
    where: str,
    comparison: Mapping[str, Any] | None = None,
    record: Mapping[str, Any] | None = None,
) -> Plan:
    """Plan the change of a cluster.

    view: the cluster as ``Cluster.as_dict`` returns it. hosts: those of the inventory, as ``shapes.HostWithUrls`` describes them.
    comparison: of the members' hashes. record: of the last comparison by the timer. Both are for ``integrity``.
    """
    compared = comparison or {}
    members, wanted = view.get("members", []), list(hosts)
    if not members:
        return Plan(
            problems=[
                f"{where}: no member answers ({view.get('error', 'none was asked')}); start etcd, or restore a backup"
            ]
        )
    result = Plan(cluster_id=view["id"])
    matched: dict[str, Mapping[str, Any]] = {}
    for host in sorted(wanted, key=lambda one: str(one["host"])):
        entry = listed_member(view, host, matched)
        if entry:
            matched[entry["id"]] = host
        problem, join = _plan_host(host, entry, view, request, where, compared)
        result.problems += [problem] if problem else []
        if join:
            result.joins[host["host"]] = join
        elif entry and entry["healthy"] and not result.actor:
            result.actor = host["host"]
    leaving = [member for member in members if member["id"] not in matched]
    _plan_removals(result, leaving, matched, members, request, where)
    result.problems += obstacles.cluster_problems(result, view, wanted, request, where)
    if view["quorum"]["ok"]:
        result.problems += integrity.hash_problems(
            compared, request.replace, joins=bool(result.joins), confirmed=request.replace_healthy, where=where
        )
    if result.joins and not request.replace:
        staying = [str(member["name"]) for member in members if member["id"] in matched]
        result.problems += integrity.record_problems(record or {}, staying, where)
    result.database = space.largest_database(members, obstacles.leaving_ids(result))
    result.lines = describe(result, view, wanted, request)
    result.lines[2:2] = integrity.hash_lines(compared)
    # A learner that has started first, since etcd accepts one learner at a time.
    result.joins = dict(sorted(result.joins.items(), key=lambda item: (not item[1].listed, item[0])))
    return result


def _plan_host(
    host: Mapping[str, Any],
    entry: Mapping[str, Any] | None,
    view: Mapping[str, Any],
    request: Request,
    where: str,
    compared: Mapping[str, Any],
) -> tuple[str, Join | None]:
    """Return why a host cannot become or remain a member (empty if it can), and its steps to become one (None if it is one)."""
    other = observed.other_cluster(host, view)
    if host["name"] in request.replace and other and other["quorum"]["ok"] and not request.replace_healthy:
        return (
            f"{where}: {host['host']} runs a member of another cluster ({other['id']}; this one is {view['id']}), which serves and would lose that "
            "member. Take the host out of the group, or, if nobody needs that member, confirm its replacement with -e etcd_replace_healthy=true"
        ), None
    if entry is None:
        return _plan_new_host(host, view, request, where)
    identity = host.get("identity")
    own = host["has_data"] and (not identity or identity["member_id"] == entry["id"])
    if entry["role"] == "learner":
        return _plan_learner(host, entry, own, view, request, where)
    if host["name"] in request.replace:
        return _plan_replacement(host, entry, own, request, where, compared)
    return _voter_problem(host, entry, own, view, where), None


def _plan_new_host(
    host: Mapping[str, Any], view: Mapping[str, Any], request: Request, where: str
) -> tuple[str, Join | None]:
    """Return the problem or the steps of a host without a member."""
    name, replaced = host["name"], host["name"] in request.replace
    if host["has_data"] and not replaced:
        return _other_data_problem(host, view, where), None
    if request.replace and not replaced:
        return (
            f"{where}: its host {host['host']} has not joined the cluster: remove it from the group for this run, and add it afterwards with the playbook "
            f"etcdops.headroom.scale, or name it too: -e etcd_replace={','.join([*request.replace, name])}",
            None,
        )
    return "", Join(name, aside=host["has_data"])


def _plan_learner(
    host: Mapping[str, Any],
    entry: Mapping[str, Any],
    own: bool,
    view: Mapping[str, Any],
    request: Request,
    where: str,
) -> tuple[str, Join | None]:
    """Return the problem or the steps of a host whose member is a learner. own: whether the data on the host is that member's."""
    name, started = host["name"], bool(entry["client_urls"])
    if own or (not host["has_data"] and not started):
        return "", Join(name, listed=True)
    if host["has_data"] and name not in request.replace:
        return _other_data_problem(host, view, where), None
    return "", Join(name, remove=entry["id"] if started else "", aside=host["has_data"], listed=not started)


def _plan_replacement(
    host: Mapping[str, Any],
    entry: Mapping[str, Any],
    own: bool,
    request: Request,
    where: str,
    compared: Mapping[str, Any],
) -> tuple[str, Join | None]:
    """Return the problem or the steps of a voting member to replace; neither if an earlier run replaced it."""
    name = host["name"]
    healthy = own and obstacles.is_healthy(entry) and not integrity.differs(compared, name)
    if healthy and was_replaced(host, entry) and not request.replace_again:
        return "", None
    if healthy and not request.replace_healthy:
        return (
            f"{where}: {name} is healthy{integrity.hash_note(compared, name)}, so there is no need to replace it; to replace it "
            "anyway, confirm it with -e etcd_replace_healthy=true"
        ), None
    return "", Join(name, remove=entry["id"], aside=host["has_data"])


def _voter_problem(
    host: Mapping[str, Any], entry: Mapping[str, Any], own: bool, view: Mapping[str, Any], where: str
) -> str:
    """Return why a voting member cannot stay as it is; empty if it can."""
    name = host["name"]
    if not own:
        found = _describe_other_data(host.get("identity"), view) if host["has_data"] else "no data"
        return (
            f"{where}: {name} is a voting member, but {host['host']} holds {found}; check that its volume is mounted. If its data is lost, run "
            f"'{REPLACE.format(names=name)}'"
        )
    target = host["peer_url"] if observed.moving_hosts(view, [host]) else ""
    if entry["client_urls"] and host["client_url"] not in entry["client_urls"]:
        target = target or host["client_url"]
    if target:
        return f"{where}: {name} would move to {target}: change one thing at a time, and run site.yml first, which moves it"
    return next(iter(observed.mismatch_problems(view, [host], where)), "")


def _other_data_problem(host: Mapping[str, Any], view: Mapping[str, Any], where: str) -> str:
    advice = _clearing_advice(host, observed.other_cluster(host, view))
    return f"{where}: {host['host']} holds {_describe_other_data(host.get('identity'), view)}; {advice}"


def _describe_other_data(identity: Mapping[str, str] | None, view: Mapping[str, Any]) -> str:
    if not identity:
        return "data that is not of this cluster"
    if identity["cluster_id"] == view.get("id"):
        return f"the data of member {identity['member_id']}, which was removed from this cluster and cannot return"
    return f"data of another cluster ({identity['cluster_id']}; this one is {view.get('id')})"


def _clearing_advice(host: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    if other:  # its member runs: nobody knows yet whether that data is the one that counts
        return f"its member runs there. {observed.FREE_HOST.format(hosts='the host')}"
    command = REPLACE.format(names=host["name"])
    return f"stop etcd there and move the data aside, or run '{command}', which does both and keeps the data"


def replaced_problems(names: Mapping[str, Sequence[str]], request: Request) -> list[str]:
    """Return the names to replace that are not in exactly one cluster. names: the inventory's names, by cluster."""
    problems = []
    for name in request.replace:
        found = sorted(cluster for cluster, members in names.items() if name in members)
        if not found:
            listed = ", ".join(sorted(other for members in names.values() for other in members)[:20])
            problems.append(
                f"etcd_replace names {name}, but no host of the inventory has that name ({listed}); a member that left the inventory is removed by "
                "the playbook etcdops.headroom.scale"
            )
        elif len(found) > 1:
            problems.append(
                f"etcd_replace names {name}, which the clusters {', '.join(found)} have; choose one with --limit"
            )
    return problems


def kept_problems(plans: Mapping[str, Mapping[str, Any]], request: Request) -> list[str]:
    """Return a problem for each name to remove whose host is in the inventory, unless another cluster removes a member of that name.

    plans: by cluster, as variables of Ansible.
    """
    removing = {cluster: {removal["name"] for removal in one["removes"]} for cluster, one in plans.items()}
    advice = ", or, if a member of another cluster is meant, give its id, or choose that cluster with --limit"
    return [
        f"cluster {cluster}: etcd_scale_remove names {name}, whose host is still in the inventory; take it out of the group first"
        f"{advice if len(plans) > 1 else ''}"
        for cluster, one in plans.items()
        for name in request.remove
        if name in one["kept"] and (name in removing[cluster] or not any(name in names for names in removing.values()))
    ]


def _plan_removals(
    result: Plan,
    leaving: Sequence[Mapping[str, Any]],
    matched: Mapping[str, Mapping[str, Any]],
    members: Sequence[Mapping[str, Any]],
    request: Request,
    where: str,
) -> None:
    """Add the removals: replaced members that are corrupt or not healthy, then members that left the inventory.

    A replacement may need both, because each of two dead members prevents that the other one is changed alone.
    """
    for member in members:
        host = matched.get(member["id"])
        join = result.joins.get(host["host"]) if host else None
        if join and join.remove and member["role"] != "learner" and not obstacles.is_healthy(member):
            result.removes.append(Removal(member["id"], member["name"] or member["id"], before_joins=True))
    kept = result.kept = sorted(str(host["name"]) for host in matched.values())
    for member in leaving:
        name = member["name"] or member["id"]
        if name in request.remove or member["id"] in request.remove:
            # etcd accepts one learner at a time.
            before_joins = member["role"] == "learner" or not obstacles.is_healthy(member)
            result.removes.append(Removal(member["id"], name, before_joins=before_joins))
        else:
            kind = "learner" if member["role"] == "learner" else "member"
            # A host that is kept may have the same name, which is never removed.
            shown, given = (f"{name} ({member['id']})", member["id"]) if name in kept else (name, name)
            result.problems.append(
                f"{where}: its {kind} {shown} is not in the inventory. To remove it, add "
                f'-e \'{{"etcd_scale_remove": ["{given}"]}}\'; to keep it, put its host into the inventory'
            )
