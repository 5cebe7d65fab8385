# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Group hosts into clusters, and order the members of a rolling update. Pure.

Linear in the number of hosts: an inventory may have thousands of clusters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._membership import observed, plan
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.integrity import newest_record
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.member_urls import (
    address_problems,
    member_urls,
    port_problems,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.request import parse_request
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


def form_clusters(members: list[dict[str, Any]], absent: Iterable[Mapping[str, Any]] = ()) -> dict[str, dict[str, Any]]:
    """Group members into clusters, by cluster name.

    members: mappings with ``host``, ``cluster``, ``name``, ``address``, ``client_port``, ``peer_port``, ``tls``,
    ``peer_address`` (that the other members use, if it is not ``address``), ``listen_addresses`` (IP addresses; empty, the advertised one and
    loopback), ``only_ipv6`` (the host has no IPv4 address), ``listening`` (where other processes listen), ``has_data`` (the data
    directory holds a member), ``forming`` (no run has seen the first start of its cluster succeed), ``view`` (what the member on the
    host answered about its cluster) and ``configured_peer_url`` (in its config file), which ``observed`` compares. ``request`` (what
    the playbooks that change members were asked for; empty for the others), ``identity``, ``comparison`` (of the members' hashes,
    where one host compared them) and ``integrity_record`` (the last one of the host's timer) are for ``plan``.
    absent: hosts of the inventory (``host``, ``cluster``) that are not part of this run.

    Returns ``state``, ``initial_cluster``, ``former_client_urls`` (at which members answer until their update) and ``members`` (by host, with their
    URLs, and with ``moves``: whether the cluster has another peer URL of the member, which the rolling update changes) of each cluster. The state is
    ``existing`` if a member has data that is not from an interrupted first start, or if the answers show that the cluster
    was formed; else ``new``. With a request there is also ``membership``: the plan.

    Raises TopologyError for shared names or addresses, for clusters with hosts outside this run, for hosts without data in
    an existing cluster, for members whose name changed, and for peer URLs that cannot be changed.
    """
    clusters: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for member in members:
        clusters[member["cluster"]].append({**member, **member_urls(member)})
    views = {cluster: observed.best_view(member.pop("view", {}) for member in own) for cluster, own in clusters.items()}
    records = {
        cluster: newest_record([member.pop("integrity_record", {}) for member in own])
        for cluster, own in clusters.items()
    }
    compared = [(member["cluster"], member.pop("comparison", {})) for own in clusters.values() for member in own]
    comparisons = {cluster: found for cluster, found in compared if found}
    requests: dict[str, Mapping[str, Any]] = {
        cluster: next((member["request"] for member in own if member.get("request")), {})
        for cluster, own in clusters.items()
    }
    missing: defaultdict[str, list[str]] = defaultdict(list)
    for host in absent:
        missing[host["cluster"]].append(host["host"])

    endpoints = [{**member, "address": f"{member['address']}:{member['client_port']}"} for member in members]
    problems = duplicate_problems(endpoints, "address", "inventory")
    given: Mapping[str, Any] = next((request for request in requests.values() if request), {})
    problems += replaced_problems(clusters, given)
    result = {}
    for cluster, own in clusters.items():
        own.sort(key=lambda member: member["host"])
        where = f"cluster {cluster}"
        problems += duplicate_problems(own, "name", where)
        if missing.get(cluster):
            problems.append(
                f"{where}: {', '.join(sorted(missing[cluster]))} belong to it, but are not part of this run; "
                "run without --limit, or with all hosts of the cluster"
            )
        existing = is_formed(own, views[cluster])
        changes: dict[str, Any] = {}
        if requests[cluster]:
            changes = plan_members(
                views[cluster],
                own,
                requests[cluster],
                where,
                comparisons.get(cluster),
                records[cluster],
                existing=existing,
            )
            problems += changes["problems"]
        else:
            problems += empty_problems(own, views[cluster], where) if existing else []
            problems += observed.mismatch_problems(views[cluster], own, where)
        moving = set() if requests[cluster] else observed.moving_hosts(views[cluster], own)
        own = [{**member, "moves": member["host"] in moving} for member in own]
        problems += [*address_problems(own), *port_problems(own)]
        result[cluster] = {
            **({"membership": changes} if changes else {}),
            "state": "existing" if existing else "new",
            "former_client_urls": observed.former_client_urls(views[cluster], own),
            "initial_cluster": ",".join(f"{member['name']}={member['peer_url']}" for member in own),
            "members": {member["host"]: member for member in own},
        }
    if problems:
        raise TopologyError("; ".join(problems))
    return result


def replaced_problems(clusters: Mapping[str, list[dict[str, Any]]], given: Mapping[str, Any]) -> list[str]:
    """Return the problems of the names to replace. Raises TopologyError for an invalid request."""
    names = {cluster: [member["name"] for member in own] for cluster, own in clusters.items()}
    try:
        return plan.replaced_problems(names, parse_request(given))
    except ValueError as error:
        raise TopologyError(str(error)) from error


def plan_members(
    view: Mapping[str, Any],
    members: list[dict[str, Any]],
    request: Mapping[str, Any],
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
        return plan.plan(view, members, parse_request(request), where, comparison, record).as_dict()
    except ValueError as error:
        raise TopologyError(str(error)) from error


def is_formed(members: Iterable[Mapping[str, Any]], view: Mapping[str, Any]) -> bool:
    """Return whether a cluster exists. Its own answer has precedence over the marks of an interrupted first start."""
    with_data = [member for member in members if member["has_data"]]
    return any(not member["forming"] for member in with_data) or bool(with_data and observed.was_formed(view))


def empty_problems(members: Iterable[Mapping[str, Any]], view: Mapping[str, Any], where: str) -> list[str]:
    """Return the problem of hosts without data in an existing cluster; their first start may have been interrupted."""
    with_data = [member["host"] for member in members if member["has_data"]]
    empty = [
        member["host"]
        for member in members
        if not member["has_data"]
        and not (member["forming"] and observed.never_started(view, member["name"], member["peer_url"]))
    ]
    if not empty:
        return []
    return [
        f"{where}: exists on {', '.join(with_data)}, but {', '.join(empty)} "
        f"{'has' if len(empty) == 1 else 'have'} no data; check that its volume is mounted. Add new members with playbooks/scale.yml; replace "
        f"a member whose data is lost with playbooks/replace.yml -e etcd_replace={empty[0]}"
    ]


# After all members that join.
NEVER = 10**6


def update_order(members: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return the position of each changing host in the rolling update of its cluster, from 0.

    members: mappings with ``host``, ``cluster``, ``state`` (of its cluster), ``changes``, ``down`` (its unit does not run),
    ``healthy``, ``leads``, ``quorum`` (of its cluster) and ``joins`` (its place among the members that join, from 1; 0 or none if it is one).
    All members of a new cluster start together, at position 0. In an existing cluster those that join come first, so that a restart of the
    others costs less. Then come those that are down: their
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
        if member["state"] == "new" or (member["down"] and member["cluster"] in without_quorum):
            order[member["host"]] = 0
        else:
            place = (joins, not member["down"], bool(member["healthy"]), bool(member["leads"]), member["host"])
            queues[member["cluster"]].append(place)
    for cluster, queue in queues.items():
        first = 1 if cluster in without_quorum else 0
        order.update({place[-1]: position for position, place in enumerate(sorted(queue), first)})
    return order
