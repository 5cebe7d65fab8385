# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide whether a member may now be added as a learner, promoted, moved to another peer URL or removed. Pure.

Each verdict is based on a new answer of the cluster, directly before the request.
"""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import UNKNOWN_MEMBER, Cluster, Member
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import NOSPACE
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.recovery import REPLACE


@dataclass(frozen=True)
class Verdict:
    """The next action: ``done`` if there is no work left; otherwise the request is allowed unless there is a reason against it.

    member_id: the member concerned, empty before it is added. move_to: the member that must lead first. transient: waiting may help.
    """

    done: bool = False
    member_id: str = ""
    move_to: str = ""
    reason: str = ""
    transient: bool = False

    @property
    def allowed(self) -> bool:
        """Return whether the request may be made now."""
        return not self.done and not self.reason


def find_member(cluster: Cluster, name: str, peer_url: str = "", member_id: str = "") -> Member | None:
    """Return the member with this id, else with this peer URL, else with this name. A learner that never started has no name."""
    if member_id:
        return next((member for member in cluster.members if member.id == member_id), None)
    by_url = next((member for member in cluster.members if peer_url in member.peer_urls), None)
    return by_url or cluster.member(name)


def add_verdict(cluster: Cluster, name: str, peer_url: str, max_lag: int, written_by: str | None = None) -> Verdict:
    """Decide whether a learner may be added now. An entry with its peer URL means that it was added before.

    written_by: the id of the member that wrote the log on this host, empty without a log, None if unknown. A voting member must not start
    without its log: it would forget its votes, and etcd panics.
    """
    problem = _unreachable(cluster)
    if problem:
        return problem
    found = next((member for member in cluster.members if peer_url in member.peer_urls), None)
    if found and found.votes and written_by not in (None, found.id):
        log = (
            f"the write-ahead log on this host is of member {written_by}"
            if written_by
            else "this host has no write-ahead log of it"
        )
        return Verdict(
            member_id=found.id,
            reason=f"{peer_url} is the peer URL of {found.name or found.id} ({found.id}), which votes, but {log}; remove it first, with "
            f"'{REPLACE.format(names=name)}'",
        )
    if found:
        return Verdict(done=True, member_id=found.id)
    namesake = cluster.member(name)
    if namesake:
        return Verdict(
            reason=f"the cluster already has a member named {name} ({namesake.id}) at {', '.join(namesake.peer_urls)}, not at {peer_url}; "
            f"remove it first, with '{REPLACE.format(names=name)}'"
        )
    learners = [member.name or member.id for member in cluster.members if not member.votes]
    if learners:
        return Verdict(
            reason=f"{', '.join(learners)} is still a learner; etcd accepts one at a time: promote or remove it first"
        )
    return _others_problem(cluster, "", max_lag) or Verdict()


def promote_verdict(cluster: Cluster, name: str, peer_url: str, max_lag: int) -> Verdict:
    """Decide whether a learner may be promoted now.

    etcd promotes a learner whose log has nine tenths of the leader's *index*: at index 10 million it may lack a million entries. Here it may
    lack ``max_lag`` of them. Source: ``isLearnerReady`` in server/etcdserver/server.go, 3.5 to 3.7.
    """
    problem = _unreachable(cluster)
    if problem:
        return problem
    this = find_member(cluster, name, peer_url)
    if this is None:
        return Verdict(
            reason=f"the cluster has no member named {name} at {peer_url}; it was removed: run the playbook again"
        )
    if this.votes:
        return Verdict(done=True, member_id=this.id)
    if not cluster.leader:
        return _wait("the cluster has no leader", this.id)
    if this.lag is None:
        return _wait(f"{name} does not answer yet ({this.health_error})", this.id)
    if this.lag > max_lag:
        return _wait(f"{name} is {this.lag} raft entries behind, more than {max_lag}", this.id)
    if not this.healthy:
        return _wait(f"{name} is not healthy: {this.health_error}", this.id)
    return _others_problem(cluster, this.id, max_lag) or Verdict(member_id=this.id)


def move_verdict(cluster: Cluster, name: str, peer_url: str, max_lag: int) -> Verdict:
    """Decide whether the peer URL of a member may be changed now.

    From then on the others connect to the new URL, so the member must restart with it at once, and they must do without it.
    """
    problem = _unreachable(cluster)
    if problem:
        return problem
    this = cluster.member(name)
    if this is None:
        return Verdict(reason=f"the cluster has no member named {name}; it was removed: run the playbook again")
    if this.peer_urls == [peer_url]:
        return Verdict(done=True, member_id=this.id)
    if not this.votes:
        return Verdict(member_id=this.id, reason=f"{name} is a learner; promote or remove it first")
    owner = next((member for member in cluster.members if peer_url in member.peer_urls), this)
    if owner is not this:
        return Verdict(member_id=this.id, reason=f"{peer_url} is the peer URL of {owner.name or owner.id}")
    return _others_problem(cluster, this.id, max_lag) or Verdict(member_id=this.id)


def remove_verdict(cluster: Cluster, name: str, member_id: str, max_lag: int) -> Verdict:
    """Decide whether a member may be removed now: a majority is healthy, and if the member is healthy, all other voters are.

    A majority of those that remain is then healthy too. A learner may always be removed. The leader moves the leadership away first.
    """
    problem = _unreachable(cluster)
    if problem:
        return problem
    this = find_member(cluster, name, member_id=member_id)
    if this is None:
        return Verdict(done=True)
    if not this.votes:
        return Verdict(member_id=this.id)
    others = [member for member in cluster.members if member.votes and member is not this]
    if not others:
        return Verdict(member_id=this.id, reason=f"{name} is the only voting member; a cluster needs at least one")
    healthy = sum(member.healthy for member in others)
    if healthy + this.healthy < cluster.quorum.needed:
        return Verdict(
            member_id=this.id,
            transient=True,
            reason=f"{healthy + this.healthy} of {cluster.quorum.voters} voting members are healthy and quorum needs {cluster.quorum.needed}; "
            "without a quorum no member can be removed: start or repair the others first, and only if most members are lost for good, run "
            "the playbook etcdops.headroom.restore_lost_quorum",
        )
    if this.healthy:
        problem = _others_problem(cluster, this.id, max_lag)
        if problem:
            return problem
    if this.role != "leader":
        return Verdict(member_id=this.id)
    ready = [member for member in others if member.healthy and member.lag is not None and member.lag <= max_lag]
    if not ready:
        return Verdict(
            member_id=this.id,
            transient=True,
            reason=f"{name} leads, and no other healthy member is within {max_lag} raft entries of it",
        )
    return Verdict(member_id=this.id, move_to=min(ready, key=lambda member: (member.lag or 0, member.name)).name)


def initial_cluster(cluster: Cluster, name: str, peer_url: str) -> str:
    """Return initial-cluster for a member that joins: every member in the cluster's list, and itself.

    etcd compares the peer URLs with those of the running members, and the number of both. Source: ``ValidateClusterAndAssignIDs`` in
    server/etcdserver/api/membership/cluster.go, 3.5 to 3.7.
    """
    entries = [
        (name if peer_url in member.peer_urls else member.name or member.id, url)
        for member in cluster.members
        for url in member.peer_urls
    ]
    return ",".join(f"{member}={url}" for member, url in sorted(entries))


def voter_endpoints(cluster: Cluster) -> list[str]:
    """Return the client URLs of the healthy voting members, the leader first.

    A learner serves no requests, and through a follower a promotion fails with authentication before 3.5.28 and 3.6.6.
    """
    voters = [member for member in cluster.members if member.votes and member.healthy and member.endpoint]
    return [member.endpoint for member in sorted(voters, key=lambda member: (member.role != "leader", member.name))]


def orphaned_alarms(cluster: Cluster) -> bool:
    """Return whether all active alarms belong to removed members, so that all of them may be disarmed.

    CORRUPT makes every member refuse writes, also after the corrupt one was removed. An alarm of an unknown member may be that of a current one.
    """
    known = {UNKNOWN_MEMBER, *(text for member in cluster.members for text in (member.name, member.id))}
    return bool(cluster.alarms) and not any(alarm["member"] in known for alarm in cluster.alarms)


def _unreachable(cluster: Cluster) -> Verdict | None:
    return None if cluster.members else _wait(f"no member of the cluster answers ({cluster.error})", "")


def _others_problem(cluster: Cluster, member_id: str, max_lag: int) -> Verdict | None:
    """Return why the other voters do not accept a change of the members now."""
    full = cluster.with_alarm(NOSPACE)
    if full:
        return Verdict(
            member_id=member_id,
            reason=f"the alarm NOSPACE is set by {', '.join(full)}; run the playbook etcdops.headroom.nospace first",
        )
    others = [member for member in cluster.members if member.votes and member.id != member_id]
    broken = [f"{member.name or member.id} ({member.health_error})" for member in others if not member.healthy]
    if broken:
        return _wait(
            f"not healthy: {', '.join(broken)}; every other voting member has to be: repair or replace it first",
            member_id,
        )
    behind = [f"{member.name} is {member.lag} raft entries behind" for member in others if (member.lag or 0) > max_lag]
    if behind:
        return _wait(f"{', '.join(behind)}, more than {max_lag}", member_id)
    return None


def _wait(reason: str, member_id: str) -> Verdict:
    return Verdict(member_id=member_id, reason=reason, transient=True)
