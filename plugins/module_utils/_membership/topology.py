# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Group hosts into clusters, and order the members of a rolling update. Pure.

Linear in the number of hosts: an inventory may have thousands of clusters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._membership import observed, plan, recovery, remains
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.integrity import newest_record
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.member_urls import (
    address_problems,
    member_urls,
    port_problems,
    value_problems,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.request import Request, parse_request
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.shapes import FormedHost, Host, HostWithUrls
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.steps import Plan


class TopologyError(ValueError):
    """Hosts that cannot form their clusters; the text lists every problem and its fix."""


def duplicate_problems(members: Iterable[Mapping[str, Any]], what: str, where: str) -> list[str]:
    """Return a problem for each value of the entry ``what`` that several members share."""
    hosts: defaultdict[Any, list[str]] = defaultdict(list)
    for member in members:
        hosts[member[what]].append(member["host"])
    return [
        f"{where}: {' and '.join(sorted(names))} have the same {what} {value}; give each host its own etcd_{what}"
        for value, names in hosts.items()
        if len(names) > 1
    ]


def form_clusters(members: Sequence[Host], absent: Iterable[Mapping[str, Any]] = ()) -> dict[str, dict[str, Any]]:
    """Group members into clusters, by cluster name.

    absent: hosts of the inventory (``host``, ``cluster``) that are not part of this run.

    Returns for each cluster

    - ``state``: ``existing`` if a member has data that is not from an interrupted first start, or if the answers show that the cluster
      was formed; else ``new``
    - ``initial_cluster``, and ``former_client_urls``: the URLs at which members answer until their update
    - ``members`` by host, as ``FormedHost`` describes them, without their views
    - ``first_host``: the host that acts for the cluster, in an existing one the first that has a member
    - ``membership``, with a request: the plan

    Raises TopologyError for shared names or addresses, for values with which etcd does not start, for clusters with hosts outside this run, for a new
    cluster of hosts that may hold the data of one, for a change of the minor version to several releases, for hosts without data in an existing
    cluster, for members whose name changed, and for peer URLs that cannot be changed.
    """
    hosts: defaultdict[str, list[HostWithUrls]] = defaultdict(list)
    for member in members:
        hosts[member["cluster"]].append({**member, **member_urls(member)})
    missing: defaultdict[str, list[str]] = defaultdict(list)
    for host in absent:
        missing[host["cluster"]].append(host["host"])
    requests = {cluster: _parse_request(own) for cluster, own in hosts.items()}
    # Only the version in it differs between clusters.
    request = next((found for found in requests.values() if found), Request())
    groups = [
        _collect(cluster, own, missing.get(cluster, []), request.replace, requests[cluster])
        for cluster, own in hosts.items()
    ]

    endpoints = [{**member, "address": f"{member['address']}:{member['client_port']}"} for member in members]
    problems = duplicate_problems(endpoints, "address", "inventory")
    problems += plan.replaced_problems(
        {cluster: [member["name"] for member in own] for cluster, own in hosts.items()}, request
    )
    result = {}
    for group in groups:
        result[group.cluster], found = _form_cluster(group)
        problems += found
    plans = {cluster: formed["membership"] for cluster, formed in result.items() if "membership" in formed}
    problems += plan.kept_problems(plans, request)
    if problems:
        raise TopologyError("; ".join(problems))
    return result


@dataclass(frozen=True)
class _Group:
    """The hosts of one cluster in this run, those that are not in it, and what the hosts observed, as ``Host`` describes it.

    rivals: the problem of hosts that serve different clusters. request: None in playbooks that do not change members.
    """

    cluster: str
    members: list[HostWithUrls]
    absent: list[str]
    view: Mapping[str, Any]
    rivals: list[str]
    record: Mapping[str, Any]
    comparison: Mapping[str, Any] | None
    request: Request | None


def _collect(
    cluster: str, members: list[HostWithUrls], absent: list[str], replaced: Sequence[str], request: Request | None
) -> _Group:
    """Return the group of a cluster. Moves what the hosts observed from the members to the group, but for their views. replaced: names."""
    view = observed.choose_view(members, replaced)
    records = [member.pop("integrity_record", {}) for member in members]
    comparisons = [
        found
        for member in members
        for found in [member.pop("comparison", {})]
        if not observed.other_cluster(member, view)
    ]
    return _Group(
        cluster,
        members,
        absent,
        view=view,
        rivals=observed.rival_problems(members, replaced, f"cluster {cluster}"),
        record=newest_record(records),
        comparison=next((found for found in reversed(comparisons) if found), None),
        request=request,
    )


def _form_cluster(group: _Group) -> tuple[dict[str, Any], list[str]]:
    """Return one cluster in the form that ``form_clusters`` returns, and its problems."""
    where = f"cluster {group.cluster}"
    own = sorted(group.members, key=lambda member: member["host"])
    problems = duplicate_problems(own, "name", where)
    if group.absent:
        problems.append(
            f"{where}: this run leaves out {', '.join(sorted(group.absent))}; "
            "run without --limit, or with all hosts of the cluster. If a host is down, take it out of its group in the inventory for this run. For a host of "
            "another cluster, set its etcd_cluster_name in the inventory"
        )
    if group.rivals:  # alone, because the other problems would be those of a cluster that is perhaps not meant
        return {}, problems + group.rivals
    existing = is_formed(own, group.view)
    changes: dict[str, Any] = {}
    moving: set[str] = set()
    if group.request is not None:
        changes = plan_members(group.view, own, group.request, where, group.comparison, group.record, existing=existing)
        problems += changes["problems"]
    else:
        optional = existing and any(member.get("data_optional") for member in own)
        lost = empty_problems(own, group.view, where) if existing else remains.new_cluster_problems(own, where)
        problems += [] if optional else lost
        settled = [member for member in own if not (optional and observed.has_unfinished_join(group.view, member))]
        mismatches = observed.mismatch_problems if existing else observed.first_start_problems
        problems += mismatches(group.view, settled, where)
        moving = observed.moving_hosts(group.view, own)
    kept = [member for member in own if existing and member["host"] not in changes.get("joins", {})]
    advice = {member["host"]: recovery.advise(group.view, [member], own) for member in kept}
    first_host = min(own, key=lambda member: (existing and not _has_member(member, group.view), member["host"]))["host"]
    hosts: list[FormedHost] = [
        {**member, "moves": member["host"] in moving, "recovery": advice.get(member["host"], "")} for member in own
    ]
    for host in hosts:
        host.pop("view", None)
    problems += [
        *value_problems(hosts),
        *address_problems(hosts),
        *port_problems(hosts),
        *release_problems(hosts, group.view, where),
    ]
    formed = {
        **({"membership": changes} if changes else {}),
        "state": "existing" if existing else "new",
        "former_client_urls": observed.former_client_urls(group.view, hosts),
        "initial_cluster": ",".join(f"{host['name']}={host['peer_url']}" for host in hosts),
        "members": {host["host"]: host for host in hosts},
        "first_host": first_host,
    }
    return formed, problems


def _has_member(member: Mapping[str, Any], view: Mapping[str, Any]) -> bool:
    return member["has_data"] and not observed.other_cluster(member, view)


def release_problems(members: Sequence[Mapping[str, Any]], view: Mapping[str, Any], where: str) -> list[str]:
    """Return the problem of hosts that want several releases while the minor version changes: the first host checks and backs up for all of them."""
    wanted: defaultdict[str, list[str]] = defaultdict(list)
    for member in members:
        if member.get("release"):
            wanted[str(member["release"])].append(member["host"])
    running = {str(member["version"]) for member in view.get("members", []) if member.get("version")}
    if len(wanted) < 2 or len({version.rpartition(".")[0] for version in {*wanted, *running}}) == 1:
        return []
    found = ", and ".join(f"{version} on {', '.join(hosts)}" for version, hosts in wanted.items())
    runs = f", and its members run {', '.join(sorted(running))}" if running else ""
    return [
        f"{where}: etcd_version is {found}{runs}; a change of the minor version is one change of the whole cluster, so set the same etcd_version for all "
        "its hosts. A host may have another patch release only while the minor version of the cluster stays"
    ]


def _parse_request(members: Iterable[Host]) -> Request | None:
    """Return the request for a cluster; None if there is none. Raises TopologyError if it is invalid."""
    given = next((member["request"] for member in members if member.get("request")), None)
    try:
        return parse_request(given) if given else None
    except ValueError as error:
        raise TopologyError(str(error)) from error


def plan_members(
    view: Mapping[str, Any],
    members: Sequence[Host],
    request: Request,
    where: str,
    comparison: Mapping[str, Any] | None = None,
    record: Mapping[str, Any] | None = None,
    *,
    existing: bool,
) -> dict[str, Any]:
    """Plan the change of a cluster's members, as a variable of Ansible. Raises TopologyError for an invalid request."""
    if not existing:
        problem = f"{where}: it does not exist yet; deploy it with site.yml"
        return Plan(problems=[problem]).as_dict()
    try:
        return plan.plan(view, members, request, where, comparison, record).as_dict()
    except ValueError as error:
        raise TopologyError(str(error)) from error


def is_formed(members: Iterable[Mapping[str, Any]], view: Mapping[str, Any]) -> bool:
    """Return whether a cluster exists. Its own answer has precedence over the marks of an interrupted first start."""
    with_data = [member for member in members if member["has_data"]]
    return any(not member["forming"] for member in with_data) or bool(with_data and observed.was_formed(view))


def empty_problems(members: Sequence[Mapping[str, Any]], view: Mapping[str, Any], where: str) -> list[str]:
    """Return the problem of hosts without data in an existing cluster; their first start may have been interrupted."""
    with_data = [member["host"] for member in members if member["has_data"]]
    empty = [
        member
        for member in members
        if not member["has_data"]
        and not (member["forming"] and observed.never_started(view, member["name"], member["peer_url"]))
    ]
    if not empty:
        return []
    listed = [member for member in empty if recovery.listed_member(view, member)]
    advice = recovery.advise(view, listed or empty, members)
    return [
        f"{where}: exists on {', '.join(with_data)}, but {', '.join(member['host'] for member in empty)} "
        f"{'has' if len(empty) == 1 else 'have'} no data; check that its volume is mounted."
        f"{'' if len(listed) == len(empty) else ' Add new members with the playbook etcdops.headroom.scale.'} If the data of a member is lost, {advice}"
    ]


# After all members that join.
NEVER = 10**6


def update_order(members: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the position of each changing host in the rolling update of its cluster, from 0.

    members: mappings with ``host``, ``cluster``, ``state`` (of its cluster), ``changes``, ``down`` (its unit does not run),
    ``healthy``, ``leads``, ``quorum`` (of its cluster) and ``joins`` (its place among the members that join, from 1; 0 or none if it is one).
    All members of a new cluster start together, at position 0; those that are ``later`` start at position 1, once the others serve.
    In an existing cluster those that join come first, so that a restart of the others costs less. Then come those that are down: their
    update cannot cost quorum. They start together if the cluster has none, since no member serves before there is a
    majority. Then come unhealthy members (no other may stop before them), then followers, then the leader, so that the
    leadership moves once.
    """
    queues: defaultdict[str, list[tuple[int, bool, bool, bool, str]]] = defaultdict(list)
    without_quorum = {member["cluster"] for member in members if not (member["quorum"] or member.get("joins"))}
    order = {}
    for member in members:
        joins = member.get("joins") or NEVER
        if not member["changes"] and joins == NEVER:
            continue
        if member["state"] == "new":
            order[member["host"]] = int(bool(member.get("later")))
        elif member["down"] and member["cluster"] in without_quorum:
            order[member["host"]] = 0
        else:
            place = (joins, not member["down"], bool(member["healthy"]), bool(member["leads"]), member["host"])
            queues[member["cluster"]].append(place)
    for cluster, queue in queues.items():
        first = 1 if cluster in without_quorum else 0
        order.update({place[-1]: position for position, place in enumerate(sorted(queue), first)})
    return order
