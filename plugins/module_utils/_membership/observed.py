# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare a cluster's own description of its members with the inventory. Pure.

A view is what the member on one host answered, as ``Cluster.as_dict`` returns it; empty if it was not asked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._membership.recovery import REPLACE

FREE_HOST = "Take {hosts} out of the group, or, if nobody needs that data, stop etcd there (systemctl disable --now etcd), and run this again"


def best_view(views: Iterable[Mapping[str, Any] | None]) -> Mapping[str, Any]:
    """Return the most complete view, one with a quorum if there is any; empty if no member was asked."""
    asked = [view for view in views if view]
    return max(
        asked, key=lambda view: (view["quorum"]["ok"], view["quorum"]["healthy"], len(view["members"])), default={}
    )


def choose_view(members: Sequence[Mapping[str, Any]], replaced: Collection[str]) -> Mapping[str, Any]:
    """Return the best view of the cluster that the hosts keep. A host to be replaced may serve another one.

    members: with ``name`` and ``view``. replaced: names.
    """
    kept = best_view(member.get("view") for member in members if member["name"] not in replaced)
    cluster, views = kept.get("id"), [member.get("view") or {} for member in members]
    return best_view(view for view in views if not cluster or view.get("id") == cluster)


def other_cluster(member: Mapping[str, Any], view: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the view of another cluster, whose member answers on a host; empty if none does. view: of the host's own cluster."""
    own = member.get("view") or {}
    return own if own.get("id") and view.get("id") and own["id"] != view["id"] else {}


def rival_problems(members: Sequence[Mapping[str, Any]], replaced: Collection[str], where: str) -> list[str]:
    """Return the problem of hosts that serve different clusters: only the user knows whose data the inventory means.

    members, replaced: as ``choose_view`` has them.
    """
    served: dict[str, list[str]] = {}
    for member in sorted(members, key=lambda one: str(one["host"])):
        view = member.get("view") or {}
        if member["name"] not in replaced and view.get("id") and view["quorum"]["ok"]:
            served.setdefault(view["id"], []).append(member["host"])
    if len(served) < 2:
        return []
    found = ", ".join(
        f"{' and '.join(hosts)} {'answers' if len(hosts) == 1 else 'answer'} for cluster {cluster}"
        for cluster, hosts in served.items()
    )
    return [
        f"{where}: its hosts serve different clusters ({found}). Choose one of them. {FREE_HOST.format(hosts='the hosts of the others')}"
    ]


def was_formed(view: Mapping[str, Any]) -> bool:
    """Return whether the cluster once had quorum.

    A member publishes its client URLs through raft, when it first has quorum. Source: ``publishV3`` in
    server/etcdserver/server.go, 3.5 to 3.7.
    """
    return any(member["client_urls"] for member in view.get("members", []))


def never_started(view: Mapping[str, Any], name: str, peer_url: str) -> bool:
    """Return whether a member of the initial cluster has not joined yet: then etcd accepts its first start without data.

    A member that was added later has no name before its first start, and needs initial-cluster-state=existing.
    """
    return any(
        member["name"] == name and not member["client_urls"] and peer_url in member["peer_urls"]
        for member in view.get("members", [])
    )


def moving_hosts(view: Mapping[str, Any], members: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the hosts whose members have another peer URL in the cluster, which ``etcdctl member update`` changes.

    members: as ``shapes.HostWithUrls`` describes them. Only those that ``mismatch_problems`` allows to move.
    """
    return {
        member["host"]
        for member in members
        if member["has_data"]
        for found in [_listed(view, member["name"])]
        if found and member["peer_url"] not in found["peer_urls"]
    }


def former_client_urls(view: Mapping[str, Any], members: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return client URLs of members that are in the cluster but no longer in the inventory: members use them until their update."""
    known = list(members)
    names, wanted = {member["name"] for member in known}, {member["client_url"] for member in known}
    return [
        url
        for found in view.get("members", [])
        if found["name"] in names
        for url in found["client_urls"]
        if url not in wanted
    ]


def mismatch_problems(view: Mapping[str, Any], members: Iterable[Mapping[str, Any]], where: str) -> list[str]:
    """Return the members with data whose name or peer URL in the cluster differs from the inventory and cannot be changed.

    etcd keeps both in its data: a member with another peer URL in its configuration starts, but is unreachable. A majority can
    change the URL, but not the name.
    members: as ``shapes.HostWithUrls`` describes them. Without the cluster's answer ``configured_peer_url`` counts.
    """
    return [problem for member in members if member["has_data"] for problem in _mismatches(view, member, where)]


def first_start_problems(view: Mapping[str, Any], members: Iterable[Mapping[str, Any]], where: str) -> list[str]:
    """Return the problem of a cluster whose data has other peer URLs than the inventory before its first start was seen to succeed.

    With wrong addresses it never gets the quorum that could change them. members: as for ``mismatch_problems``, with ``data_dirs``: what holds their data.
    """
    with_data = [member for member in members if member["has_data"]]
    changed = {
        member["host"]: urls
        for member in with_data
        for urls in [_peer_urls(view, member)]
        if member["peer_url"] not in urls
    }
    if not changed:
        return mismatch_problems(view, with_data, where)
    former = "; ".join(f"{', '.join(urls)} of {host}" for host, urls in changed.items())
    dirs = list(dict.fromkeys(path for member in with_data for path in member.get("data_dirs", [])))
    return [
        f"{where}: its first start has not been seen to succeed, and its data has only the former peer URLs: {former}. If no client has ever written to "
        f"this cluster, stop etcd on {', '.join(member['host'] for member in with_data)}, remove {' and '.join(dirs) or 'its data'} there, and run this "
        "again. Otherwise set etcd_address, etcd_peer_address, etcd_peer_port and etcd_tls_enabled back, run site.yml, and change them afterwards"
    ]


def has_unfinished_join(view: Mapping[str, Any], member: Mapping[str, Any]) -> bool:
    """Return whether a host has data of a member that was added at its URL, but never served: etcd lists it without a name."""
    unstarted = (found for found in view.get("members", []) if not found["name"])
    return bool(member["has_data"]) and any(member["peer_url"] in found["peer_urls"] for found in unstarted)


def _listed(view: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    return next((item for item in view.get("members", []) if item["name"] == name), None)


def _peer_urls(view: Mapping[str, Any], member: Mapping[str, Any]) -> list[str]:
    """Return the peer URLs of a member in the cluster; without its answer, that in the config file on the host."""
    found = _listed(view, member["name"])
    return list(found["peer_urls"]) if found else [member.get("configured_peer_url") or member["peer_url"]]


def _mismatches(view: Mapping[str, Any], member: Mapping[str, Any], where: str) -> list[str]:
    listed = view.get("members", [])
    found = _listed(view, member["name"])
    if listed and found is None and has_unfinished_join(view, member):
        return [
            f"{where}: the join of {member['host']} did not finish: run the playbook that added it again, etcdops.headroom.scale, or "
            f"'{REPLACE.format(names=member['name'])}'"
        ]
    if listed and found is None:
        names = ", ".join(item["name"] or item["id"] for item in listed)
        return [
            f"{where}: {member['host']} has data, but the cluster has no member {member['name']}; its members are {names}. Set "
            "etcd_name to the name that the member has there"
        ]
    urls = _peer_urls(view, member)
    obstacle = "" if member["peer_url"] in urls else _obstacle_to_move(view, member, urls)
    if not obstacle:
        return []
    return [
        f"{where}: its members reach {member['name']} at {', '.join(urls)}, but the inventory makes that {member['peer_url']}, and {obstacle}"
    ]


def _obstacle_to_move(view: Mapping[str, Any], member: Mapping[str, Any], urls: Iterable[str]) -> str:
    """Return why the cluster cannot take the member's new peer URL, with the fix; empty if it can."""
    back = f"Set etcd_address, etcd_peer_address and etcd_peer_port of {member['host']} back"
    if any(url.partition(":")[0] != member["peer_url"].partition(":")[0] for url in urls):
        return "TLS cannot be switched on or off in a running cluster. Set etcd_tls_enabled back"
    if not view.get("members"):
        return f"the cluster, which has to change it, did not answer in time. Run site.yml again, or start its members. {back} if they cannot be started"
    if not view["quorum"]["ok"]:
        return f"only a cluster with quorum can change it. {back}, and run site.yml first"
    owner = next((item for item in view["members"] if member["peer_url"] in item["peer_urls"]), None)
    if owner:
        return f"that is where its members reach {owner['name'] or owner['id']}. {back}; to swap two addresses, move one member to a third one first"
    if (_listed(view, member["name"]) or {}).get("role") == "learner":
        return f"it is a learner, whose URL etcd cannot change safely before 3.5.31 and 3.6.12. {back}, and complete the change of members first"
    return ""
