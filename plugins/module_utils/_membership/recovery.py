# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Name the way out for a member whose data is lost, and find whether most members still run. Pure.

A view is the cluster as ``Cluster.as_dict`` returns it; empty if no member was asked, as on hosts without etcd.
Members are as ``shapes.HostWithUrls`` describes them.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any

REPLACE = "ansible-playbook etcdops.headroom.replace -e etcd_replace={names}"
RESTORE = "ansible-playbook etcdops.headroom.restore -e etcd_restore_snapshot=PATH -e etcd_restore_confirm={cluster}"
RESCUE = "ansible-playbook etcdops.headroom.restore_lost_quorum -e etcd_restore_confirm={cluster}"


def listed_member(
    view: Mapping[str, Any], host: Mapping[str, Any], taken: Container[str] = ()
) -> Mapping[str, Any] | None:
    """Return the cluster's entry of a host: by the id in its write-ahead log, or else its peer URL, or else its name.

    taken: the ids of entries that belong to other hosts.
    """
    listed = [entry for entry in view.get("members", []) if entry["id"] not in taken]
    member_id = (host.get("identity") or {}).get("member_id")
    by_id = [entry for entry in listed if entry["id"] == member_id]
    by_url = [entry for entry in listed if host["peer_url"] in entry["peer_urls"]]
    by_name = [entry for entry in listed if entry["name"] == host["name"]]
    return next(iter(by_id + by_url + by_name), None)


def advise(view: Mapping[str, Any], lost: Sequence[Mapping[str, Any]], members: Sequence[Mapping[str, Any]]) -> str:
    """Return how to go on without the data of the lost members of a cluster, as a clause."""
    cluster, several = lost[0]["cluster"], len(lost) > 1
    if len(members) == len(lost):
        return f"restore a backup: run '{RESTORE.format(cluster=cluster)}'"
    ids = [entry["id"] for entry in (listed_member(view, member) for member in lost) if entry]
    listed = f", which the cluster lists with the id{'s' if len(ids) > 1 else ''} {' and '.join(ids)}" if ids else ""
    command = REPLACE.format(names=",".join(member["name"] for member in lost))
    replace = f"replace the member{'s' if several else ''}{listed}: run '{command}'"
    if view and view["quorum"]["ok"]:
        return replace
    # On hosts without etcd nothing answers, and site.yml, which installs it, is refused while one of them has no data.
    hosts = " and ".join(member["host"] for member in lost)
    way = f" (if they were reinstalled: take {hosts} out of the group, run site.yml, and put {hosts} back)"
    return (
        f"start etcd on the other hosts until they have a quorum{'' if view.get('members') else way}, and {replace}. If most members are lost for good, run "
        f"'{RESCUE.format(cluster=cluster)}'"
    )


def running_majority(
    members: Mapping[str, Mapping[str, Any]], active: Sequence[str], views: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return the hosts whose voting members run, if these are a majority of the cluster; otherwise an empty list.

    members: by host. active: the hosts on which etcd runs. views: of the members that were asked. They say how many members vote, because the hosts of lost
    members may no longer be in the inventory. If no member answers, each host counts. A host that the cluster does not list counts as a voting member.
    """
    view = max(views, key=lambda one: int(one.get("quorum", {}).get("voters", 0)), default={})
    voters = view.get("quorum", {}).get("voters") or len(members)
    voting = [host for host in active if (listed_member(view, members[host]) or {}).get("role") != "learner"]
    return sorted(voting) if len(voting) > voters // 2 else []
