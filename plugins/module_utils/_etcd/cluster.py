# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster and its members, assembled from the answers of etcdctl. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    CORRUPT,
    Alarm,
    Health,
    MemberList,
    Status,
    parse_alarms,
)

# The member id of an alarm for the whole cluster.
_NO_MEMBER = "0"
# The member of an alarm that only the health check reported, because no member's status could be read.
UNKNOWN_MEMBER = "an unknown member"
REMEDY_OF_CORRUPTION = (
    "replace the member that differs (`headroom integrity` on the leader's host names it) with the playbook etcdops.headroom.replace, "
    "or restore a backup"
)


@dataclass(frozen=True)
class Member:
    """One member, from the member list, its own status and a linearizable read through it. Sizes are bytes.

    lag: raft entries that it has not applied yet. downgrade_to: as in Status. Every figure is None if the member returned no status; then
    status_error says why, also for a healthy member whose status this user may not read.
    """

    name: str
    id: str
    role: str
    healthy: bool
    health_error: str
    endpoint: str
    peer_urls: list[str]
    client_urls: list[str]
    version: str | None = None
    db_size: int | None = None
    db_size_in_use: int | None = None
    db_quota: int | None = None
    raft_index: int | None = None
    raft_applied_index: int | None = None
    raft_term: int | None = None
    revision: int | None = None
    lag: int | None = None
    downgrade_to: str | None = None
    status_error: str = ""
    errors: list[str] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)

    @property
    def votes(self) -> bool:
        """Return whether the member counts towards quorum."""
        return self.role != "learner"


@dataclass(frozen=True)
class Quorum:
    """Voting members, how many are needed and how many are healthy. ``ok``: some linearizable read succeeded."""

    voters: int
    needed: int
    healthy: int
    ok: bool


@dataclass(frozen=True)
class Cluster:
    """The whole cluster. If no member answered, ``members`` is empty and ``error`` says why."""

    id: str
    leader: str
    members: list[Member]
    quorum: Quorum
    alarms: list[dict[str, str]]
    error: str = ""

    def member(self, name: str) -> Member | None:
        """Return the member of this name, or None."""
        return next((member for member in self.members if member.name == name), None)

    def absence(self, name: str) -> str:
        """Return the error of a name that no member has. A member that never started has no name, and its id is listed."""
        names = ", ".join(member.name or member.id for member in self.members)
        return f"the cluster has no member named {name!r}; its members are {names}"

    def has_alarm(self, kind: str) -> bool:
        """Return whether an alarm (NOSPACE, CORRUPT) is set for any member."""
        return any(alarm["type"] == kind for alarm in self.alarms)

    def with_alarm(self, kind: str) -> list[str]:
        """Return the members with an alarm; ``the cluster`` if etcd does not know which member differs."""
        return [
            "the cluster" if one["member"] == _NO_MEMBER else one["member"]
            for one in self.alarms
            if one["type"] == kind
        ]

    @property
    def corruption(self) -> str:
        """Return the error of a cluster for which the alarm CORRUPT is set; empty if it is not."""
        corrupt = self.with_alarm(CORRUPT)
        if not corrupt:
            return ""
        return f"the alarm CORRUPT is set for {', '.join(corrupt)}; {REMEDY_OF_CORRUPTION}"

    @property
    def unreachable(self) -> str:
        """Return the error of a cluster without an answering member; empty if one answers."""
        return "" if self.members else f"no member of the cluster answers ({self.error}); start etcd, or set endpoints"

    def as_dict(self) -> dict[str, Any]:
        """Return the cluster as a module's result."""
        return asdict(self)


def choose_url(client_urls: list[str], endpoints: list[str]) -> str:
    """Return the URL for querying a member: one among ``endpoints``, or else its first; empty if it never started."""
    return next((url for url in client_urls if url in endpoints), client_urls[0] if client_urls else "")


def assemble_cluster(
    listed: MemberList,
    targets: dict[str, str],
    statuses: dict[str, Status],
    healths: dict[str, Health],
    refused: dict[str, str],
) -> Cluster:
    """Assemble the cluster from the answers of its members.

    targets: the URL of each member, by id. statuses, healths, refused (why the member did not answer): by URL.
    """
    newest = max(statuses.values(), key=lambda status: (bool(status.leader), status.raft_term), default=None)
    leader_id = newest.leader if newest else ""
    highest = max((status.raft_index for status in statuses.values()), default=0)
    alarms: set[Alarm] = set()
    for status in statuses.values():
        alarms.update(parse_alarms(status.errors))
    members = []
    for entry in listed.members:
        url = targets.get(entry.id, "")
        found = statuses.get(url)
        if found is None or found.member_id == entry.id:
            health = _health(url, entry.learner, found, healths.get(url), refused.get(url, ""))
        else:
            text = f"another member ({found.member_id}) answers at {url}: correct its advertise-client-urls"
            found, health = None, Health(healthy=False, error=text)
        role = _role(entry.id, entry.learner, leader_id, known=found is not None)
        member = Member(
            name=entry.name,
            id=entry.id,
            role=role,
            healthy=health.healthy,
            health_error=health.error,
            endpoint=url,
            peer_urls=entry.peer_urls,
            client_urls=entry.client_urls,
            alarms=sorted(alarm.type for alarm in alarms if alarm.member_id == entry.id),
        )
        missing = replace(member, status_error=health.error or _readable_error(refused.get(url, "")))
        members.append(_with_status(member, found, highest) if found else missing)
    names = {member.id: member.name for member in members}
    return Cluster(
        id=listed.cluster_id,
        leader=names.get(leader_id, ""),
        members=members,
        quorum=_quorum(members),
        alarms=[
            {"member": names.get(alarm.member_id, alarm.member_id), "type": alarm.type}
            for alarm in sorted(alarms, key=lambda alarm: (alarm.type, alarm.member_id))
        ]
        + _alarms_of_health({alarm.type for alarm in alarms}, statuses, healths),
    )


def _alarms_of_health(known: set[str], statuses: dict[str, Status], healths: dict[str, Health]) -> list[dict[str, str]]:
    """Return the alarms that only members without a status report, by their health. known: the types that statuses report."""
    reported = {kind for url, health in healths.items() if url not in statuses for kind in health.alarms}
    return [{"member": UNKNOWN_MEMBER, "type": kind} for kind in sorted(reported - known)]


def _with_status(member: Member, status: Status, highest: int) -> Member:
    """Return a member with the figures of its status. highest: the highest raft index of all members."""
    return replace(
        member,
        version=status.version,
        db_size=status.db_size,
        db_size_in_use=status.db_size_in_use,
        db_quota=status.db_quota,
        raft_index=status.raft_index,
        raft_applied_index=status.raft_applied_index,
        raft_term=status.raft_term,
        revision=status.revision,
        lag=highest - status.raft_applied_index,
        downgrade_to=status.downgrade_to,
        errors=status.errors,
    )


def _health(url: str, learner: bool, status: Status | None, read: Health | None, refused: str) -> Health:
    """Return whether a member is healthy, and if not, the most useful cause."""
    if not url:
        return Health(healthy=False, error="it was added but never started")
    if read is not None and read.healthy:
        return read
    if status is None:
        return Health(healthy=False, error=_readable_error(refused or (read.error if read else "")))
    if not status.leader:
        return Health(healthy=False, error="it knows no leader")
    if learner:
        return Health(healthy=True, error="")
    return Health(healthy=False, error=_readable_error(read.error if read else ""))


def _readable_error(error: str) -> str:
    return "no answer in time" if not error or error.startswith("context deadline exceeded") else error


def _role(member_id: str, learner: bool, leader_id: str, *, known: bool) -> str:
    if learner:
        return "learner"
    if leader_id and member_id == leader_id:
        return "leader"
    return "follower" if known else "unknown"


def _quorum(members: list[Member]) -> Quorum:
    voters = [member for member in members if member.votes]
    healthy = sum(member.healthy for member in voters)
    return Quorum(voters=len(voters), needed=len(voters) // 2 + 1, healthy=healthy, ok=healthy > 0)


def assume_healthy(cluster: Cluster, names: Sequence[str]) -> Cluster:
    """Return the cluster as it is once the members with these names serve and have caught up, for a forecast in check mode."""
    members = [
        replace(member, healthy=True, health_error="", lag=0) if member.name in names else member
        for member in cluster.members
    ]
    return replace(cluster, members=members, quorum=_quorum(members))


def unreachable_cluster(error: str) -> Cluster:
    """Return an unreachable cluster, carrying only the error."""
    return Cluster(
        id="", leader="", members=[], quorum=Quorum(voters=0, needed=0, healthy=0, ok=False), alarms=[], error=error
    )
