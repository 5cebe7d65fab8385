# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide whether a member may be stopped, and whether it serves again afterwards. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster


@dataclass(frozen=True)
class DrainVerdict:
    """Whether a member may be stopped, with the reason if not.

    move_to: the member that must lead first, empty if the leader stays. interrupts: the cluster has no quorum while this
    member is stopped. transient: waiting may help.
    """

    allowed: bool
    move_to: str = ""
    interrupts: bool = False
    reason: str = ""
    transient: bool = False


def drain_verdict(cluster: Cluster, name: str, prefer: list[str], max_lag: int) -> DrainVerdict:
    """Decide whether the member ``name`` may be stopped now.

    All other voters have to be healthy, and no member corrupt, so that stopping this one is the only failure that the
    cluster has to tolerate. With one or two voters stopping one interrupts the service, which is allowed and reported.
    NOSPACE does not forbid it: a restart with a larger quota is its remedy.
    prefer: members preferred as the next leader. max_lag: raft entries that the next leader may be behind.
    """
    if cluster.unreachable:
        return _refuse(cluster.unreachable, True)
    this = cluster.member(name)
    if this is None:
        return _refuse(cluster.absence(name))
    if cluster.corruption:
        return _refuse(cluster.corruption)
    others = [member for member in cluster.members if member.votes and member is not this]
    broken = [f"{member.name or member.id} ({member.health_error})" for member in others if not member.healthy]
    if broken:
        rest = sum(member.healthy for member in others)
        needed, voters = cluster.quorum.needed, cluster.quorum.voters
        effect = "would break quorum" if rest < needed else "would leave no spare member"
        return _refuse(
            f"stopping {name} {effect}: not healthy: {', '.join(broken)}; {rest} of the {len(others)} other "
            f"voting members are healthy and quorum needs {needed} of {voters}; repair or replace the unhealthy members first",
            True,
        )
    interrupts = this.votes and len(others) < cluster.quorum.needed
    if this.role != "leader" or not others:
        return DrainVerdict(allowed=True, interrupts=interrupts)
    # A healthy member's status is a request of its own, which may time out.
    ready = [member for member in others if member.lag is not None and member.lag <= max_lag]
    if not ready:
        lags = ", ".join(
            f"{member.name} returned no status"
            if member.lag is None
            else f"{member.name} is {member.lag} entries behind"
            for member in others
        )
        return _refuse(f"{name} leads and no other member has caught up to within {max_lag} entries: {lags}", True)
    chosen = min(ready, key=lambda member: (member.name not in prefer, member.lag or 0, member.name))
    return DrainVerdict(allowed=True, move_to=chosen.name, interrupts=interrupts)


def serving_problem(cluster: Cluster, name: str, max_lag: int) -> str:
    """Return why the member ``name`` does not serve yet; empty if it serves.

    It serves when it answers a linearizable read (a learner: knows a leader), the cluster has a leader, and the member
    is at most ``max_lag`` raft entries behind.
    """
    if not cluster.members:
        return f"no member of the cluster answers ({cluster.error})"
    this = cluster.member(name)
    if this is None:
        names = ", ".join(member.name or member.id for member in cluster.members)
        return f"the cluster has no member named {name!r} (yet); its members are {names}"
    if not this.healthy:
        quorum = cluster.quorum
        return f"{name} is not healthy: {this.health_error}; {quorum.healthy} of {quorum.voters} voting members are"
    if not cluster.leader:
        return "the cluster has no leader"
    if this.lag is None:
        return f"{name} did not report its status, so it is not known whether it has caught up"
    if this.lag > max_lag:
        return f"{name} is {this.lag} raft entries behind, more than {max_lag}"
    return ""


def _refuse(reason: str, transient: bool = False) -> DrainVerdict:
    return DrainVerdict(allowed=False, reason=reason, transient=transient)
