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

    members: mappings with

    - ``host``, ``cluster``, ``name``, ``address``, ``client_port``, ``peer_port`` and ``tls``, from the inventory
    - ``peer_address``: the address that the other members use, if it is not ``address``
    - ``listen_addresses``: IP addresses to listen on, a list or text with commas; empty for the advertised address and loopback
    - ``only_ipv6``: whether the host has no IPv4 address. ``listening``: the addresses on which other processes listen
    - ``has_data``: whether the data directory holds a member
    - ``forming``: whether no run has seen the first start of the cluster succeed
    - ``release``: the release that the run changes the member to; empty or missing if the play chooses it later, or if its checks are switched off
    - ``data_optional``: whether the play also goes on if a member has lost its data, or has not finished its join
    - ``deployed``: whether the host has the unit of a member that a run has seen serve, and no volume that may hold its data
    - ``unmounted``: the commands that mount volumes of the host that are not mounted and may hold a member's data; ``new_devices``: its devices that
      become volumes in this run
    - ``view``: the cluster as the member on the host described it
    - ``configured_peer_url``: the peer URL in the config file on the host; ``data_dirs``: the folders that hold the member's data
    - ``request``: of the playbooks that change members, empty for the others. ``identity``, ``comparison`` (of the members' hashes, from the
      host that compared them) and ``integrity_record`` (the last one of the host's timer) are for ``plan``

    absent: hosts of the inventory (``host``, ``cluster``) that are not part of this run.

    Returns for each cluster

    - ``state``: ``existing`` if a member has data that is not from an interrupted first start, or if the answers show that the cluster
      was formed; else ``new``
    - ``initial_cluster``, and ``former_client_urls``: the URLs at which members answer until their update
    - ``members`` by host, with their URLs, with ``moves``: whether the rolling update changes the member's peer URL in the cluster, and with
      ``recovery``: how to go on if a part of its data is lost; empty if it needs none, because it is new or joins
    - ``first_host``: the host that acts for the cluster, in an existing one the first that has a member
    - ``membership``, with a request: the plan

    Raises TopologyError for shared names or addresses, for values with which etcd does not start, for clusters with hosts outside this run, for a new
    cluster of hosts that may hold the data of one, for a change of the minor version to several releases, for hosts without data in an existing
    cluster, for members whose name changed, and for peer URLs that cannot be changed.
    """
    hosts: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for member in members:
        hosts[member["cluster"]].append({**member, **member_urls(member)})
    missing: defaultdict[str, list[str]] = defaultdict(list)
    for host in absent:
        missing[host["cluster"]].append(host["host"])
    request: Mapping[str, Any] = next((member["request"] for member in members if member.get("request")), {})
    replaced = _parse_request(request).replace
    groups = [_collect(cluster, own, missing.get(cluster, []), replaced) for cluster, own in hosts.items()]

    endpoints = [{**member, "address": f"{member['address']}:{member['client_port']}"} for member in members]
    problems = duplicate_problems(endpoints, "address", "inventory")
    problems += replaced_problems(hosts, request)
    result = {}
    for group in groups:
        result[group.cluster], found = _form_cluster(group)
        problems += found
    if problems:
        raise TopologyError("; ".join(problems))
    return result


@dataclass(frozen=True)
class _Group:
    """The hosts of one cluster in this run, those that are not in it, and what the hosts observed, as ``form_clusters`` describes it.

    rivals: the problem of hosts that serve different clusters.
    """

    cluster: str
    members: list[dict[str, Any]]
    absent: list[str]
    view: Mapping[str, Any]
    rivals: list[str]
    record: Mapping[str, Any]
    comparison: Mapping[str, Any] | None
    request: Mapping[str, Any]


def _collect(cluster: str, members: list[dict[str, Any]], absent: list[str], replaced: Sequence[str]) -> _Group:
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
        request=next((member["request"] for member in members if member.get("request")), {}),
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
    if group.request:
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
    own = [{**member, "moves": member["host"] in moving, "recovery": advice.get(member["host"], "")} for member in own]
    for member in own:
        member.pop("view", None)
    problems += [
        *value_problems(own),
        *address_problems(own),
        *port_problems(own),
        *release_problems(own, group.view, where),
    ]
    formed = {
        **({"membership": changes} if changes else {}),
        "state": "existing" if existing else "new",
        "former_client_urls": observed.former_client_urls(group.view, own),
        "initial_cluster": ",".join(f"{member['name']}={member['peer_url']}" for member in own),
        "members": {member["host"]: member for member in own},
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


def replaced_problems(clusters: Mapping[str, list[dict[str, Any]]], given: Mapping[str, Any]) -> list[str]:
    """Return the problems of the names to replace. Raises TopologyError for an invalid request."""
    names = {cluster: [member["name"] for member in own] for cluster, own in clusters.items()}
    return plan.replaced_problems(names, _parse_request(given))


def _parse_request(given: Mapping[str, Any]) -> Request:
    try:
        return parse_request(given)
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
