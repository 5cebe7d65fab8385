# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster as its members describe it, and who may be stopped. Private to the collection.

``observe`` asks; everything else is pure. A cluster that does not answer is a result, not an error: only an etcdctl
that cannot be run is one.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import ProcessResult
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import https
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    Alarm,
    Connection,
    EtcdctlError,
    Health,
    MemberList,
    Status,
    failure,
    parse_alarms,
    parse_health,
    parse_members,
    parse_status,
    run,
)


@dataclass(frozen=True)
class Member:
    """One member: what the list, its own status and a linearizable read through it say. Sizes are bytes.

    ``lag`` is how many raft entries it has yet to apply; None, like every other figure, if it gave no status.
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
    lag: int | None = None
    errors: list[str] = field(default_factory=list)
    alarms: list[str] = field(default_factory=list)

    @property
    def votes(self) -> bool:
        """Whether the member counts for quorum."""
        return self.role != "learner"


@dataclass(frozen=True)
class Quorum:
    """``ok`` is what counts: a linearizable read succeeded, so a majority works, even if not all were reached."""

    voters: int
    needed: int
    healthy: int
    ok: bool


@dataclass(frozen=True)
class Cluster:
    """The whole cluster. Without an answer from any member, ``members`` is empty and ``error`` says why."""

    id: str
    leader: str
    members: list[Member]
    quorum: Quorum
    alarms: list[dict[str, str]]
    error: str = ""

    def member(self, name: str) -> Member | None:
        """Return the member of this name, or None."""
        return next((member for member in self.members if member.name == name), None)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for a module's result."""
        return asdict(self)


@dataclass(frozen=True)
class DrainVerdict:
    """Whether a member may be stopped, and if not, why, and whether waiting may help.

    ``move_to`` names the member that has to lead first (empty: none); ``interrupts`` says that the cluster has no
    quorum while this member is away.
    """

    allowed: bool
    move_to: str = ""
    interrupts: bool = False
    reason: str = ""
    may_pass: bool = False


def observe(connection: Connection, endpoints: list[str]) -> tuple[Cluster, str]:
    """Ask a cluster for its members, their status and their health.

    Reached through any of ``endpoints``; afterwards each member is asked at its own client URL. One process for the
    list, one for the health of all, one for each status, the latter all at once: etcdctl asks for several statuses
    one after the other, and each silent member would cost a whole timeout.
    Returns the cluster and the name of the member that gave the list: the local one, if only its endpoint was asked.
    Raises EtcdctlError if etcdctl cannot be run.
    """
    with ThreadPoolExecutor(max_workers=16) as pool:
        refused = _probe_all(pool, connection, endpoints)
        open_endpoints = [url for url in endpoints if not refused[url]]
        if not open_endpoints:
            return unreachable("; ".join(f"{url}: {refused[url]}" for url in endpoints)), ""
        try:
            listed = _member_list(connection, open_endpoints)
        except NoAnswerError as error:
            return unreachable(str(error)), ""
        targets = {member.id: choose_url(member.client_urls, endpoints) for member in listed.members}
        urls = [url for url in targets.values() if url]
        refused = _probe_all(pool, connection, urls)
        open_urls = [url for url in urls if not refused[url]]
        status_jobs = [pool.submit(run, connection, [url], "endpoint", "status") for url in open_urls]
        # A learner serves no reads: etcdctl 3.5 would ask it until its time is up.
        learners = {targets[member.id] for member in listed.members if member.learner}
        readable = [url for url in open_urls if url not in learners]
        healths = parse_health(_output(run(connection, readable, "endpoint", "health"))) if readable else {}
        statuses: dict[str, Status] = {}
        for url, job in zip(open_urls, status_jobs):
            answer = job.result()
            statuses.update(parse_status(_output(answer)))
            if url not in statuses:
                refused[url] = failure(answer)
    cluster = assemble(listed, targets, statuses, healths, refused)
    return cluster, next((member.name for member in listed.members if member.id == listed.answered_by), "")


class NoAnswerError(ValueError):
    """No member gave its list of members."""


def _member_list(connection: Connection, endpoints: list[str]) -> MemberList:
    """Read the list without asking for a majority, so that a cluster without quorum can be described too.

    etcdctl can do that from 3.6 on; with 3.5 the gateway is asked, and etcdctl only where that is switched off.
    """
    answer = run(connection, endpoints, "member", "list", "--consistency=s")
    if answer.returncode not in (0, None) and "unknown flag" in answer.stderr:
        for url in endpoints:
            try:
                return https.member_list(connection, url)
            except EtcdctlError:
                continue
        answer = run(connection, endpoints, "member", "list")
    elif "not supported for learner" in answer.stderr:
        # etcdctl took the one endpoint that cannot tell.
        answers = (run(connection, [url], "member", "list", "--consistency=s") for url in endpoints)
        answer = next((other for other in answers if other.returncode == 0), answer)
    if answer.returncode != 0:
        raise NoAnswerError(f"{', '.join(endpoints)}: {failure(answer)}")
    return parse_members(answer.stdout)


def _probe_all(pool: ThreadPoolExecutor, connection: Connection, urls: list[str]) -> dict[str, str]:
    return dict(zip(urls, pool.map(lambda url: https.probe(url, connection.timeout), urls)))


def _output(answer: ProcessResult) -> str:
    """Return standard output, which holds what did answer even when the exit status is not 0."""
    return answer.stdout or "null"


def choose_url(client_urls: list[str], endpoints: list[str]) -> str:
    """Choose where to ask a member: a URL that the user named, else its first; empty if it never started."""
    return next((url for url in client_urls if url in endpoints), client_urls[0] if client_urls else "")


def assemble(
    listed: MemberList,
    targets: dict[str, str],
    statuses: dict[str, Status],
    healths: dict[str, Health],
    refused: dict[str, str],
) -> Cluster:
    """Put the answers together.

    ``targets`` maps member id to URL; ``statuses``, ``healths`` and ``refused`` (why nothing answered) are by URL.
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
        health = _health(url, entry.learner, found, healths.get(url), refused.get(url, ""))
        members.append(
            Member(
                name=entry.name,
                id=entry.id,
                role=_role(entry.id, entry.learner, leader_id, known=found is not None),
                healthy=health.healthy,
                health_error=health.error,
                endpoint=url,
                peer_urls=entry.peer_urls,
                client_urls=entry.client_urls,
                version=found.version if found else None,
                db_size=found.db_size if found else None,
                db_size_in_use=found.db_size_in_use if found else None,
                db_quota=found.db_quota if found else None,
                raft_index=found.raft_index if found else None,
                raft_applied_index=found.raft_applied_index if found else None,
                raft_term=found.raft_term if found else None,
                lag=highest - found.raft_applied_index if found else None,
                errors=found.errors if found else [],
                alarms=sorted(alarm.type for alarm in alarms if alarm.member_id == entry.id),
            )
        )
    names = {member.id: member.name for member in members}
    return Cluster(
        id=listed.cluster_id,
        leader=names.get(leader_id, ""),
        members=members,
        quorum=_quorum(members),
        alarms=[
            {"member": names.get(alarm.member_id, alarm.member_id), "type": alarm.type}
            for alarm in sorted(alarms, key=lambda alarm: (alarm.type, alarm.member_id))
        ],
    )


def _health(url: str, learner: bool, status: Status | None, read: Health | None, refused: str) -> Health:
    """Say whether a member is healthy, and if not, the cause that helps most."""
    if not url:
        return Health(healthy=False, error="it was added but never started")
    if read is not None and read.healthy:
        return read
    if status is None:
        return Health(healthy=False, error=_in_words(refused or (read.error if read else "")))
    if not status.leader:
        return Health(healthy=False, error="it knows no leader")
    if learner:
        return Health(healthy=True, error="")
    return Health(healthy=False, error=_in_words(read.error if read else ""))


def _in_words(error: str) -> str:
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


def unreachable(error: str) -> Cluster:
    """Return the cluster of which nothing is known but why."""
    return Cluster(
        id="", leader="", members=[], quorum=Quorum(voters=0, needed=0, healthy=0, ok=False), alarms=[], error=error
    )


def drain_verdict(cluster: Cluster, name: str, prefer: list[str], max_lag: int) -> DrainVerdict:
    """Decide whether the member ``name`` may be stopped now.

    All other voters have to be healthy and not corrupt, so that stopping this one leaves the cluster one failure
    away from what it was, never two. One or two voters cannot be without one: then stopping interrupts the service,
    which is allowed, and said. NOSPACE is no reason to refuse: a restart with a larger quota is its cure.
    ``prefer`` names the members that should lead afterwards, ``max_lag`` is in raft entries.
    """
    if not cluster.members:
        return _refuse(f"no member of the cluster answers ({cluster.error}); start etcd, or set endpoints", True)
    this = cluster.member(name)
    if this is None:
        names = ", ".join(member.name or member.id for member in cluster.members)
        return _refuse(f"the cluster has no member named {name!r}; its members are {names}")
    corrupt = [alarm["member"] for alarm in cluster.alarms if alarm["type"] == "CORRUPT"]
    if corrupt:
        return _refuse(f"the alarm CORRUPT is set for {', '.join(corrupt)}; restore or replace that member first")
    others = [member for member in cluster.members if member.votes and member is not this]
    broken = [f"{member.name or member.id} ({member.health_error})" for member in others if not member.healthy]
    if broken:
        rest = sum(member.healthy for member in others)
        needed, voters = cluster.quorum.needed, cluster.quorum.voters
        effect = "would break quorum" if rest < needed else "would leave no spare member"
        return _refuse(
            f"stopping {name} {effect}: not healthy: {', '.join(broken)}; {rest} of the {len(others)} other "
            f"voting members are healthy and quorum needs {needed} of {voters}; repair the unhealthy members first",
            True,
        )
    interrupts = this.votes and len(others) < cluster.quorum.needed
    if this.role != "leader" or not others:
        return DrainVerdict(allowed=True, interrupts=interrupts)
    behind = [member for member in others if (member.lag or 0) > max_lag]
    ready = [member for member in others if member not in behind]
    if not ready:
        lags = ", ".join(f"{member.name} is {member.lag} entries behind" for member in behind)
        return _refuse(f"{name} leads and no other member has caught up to within {max_lag} entries: {lags}", True)
    chosen = min(ready, key=lambda member: (member.name not in prefer, member.lag or 0, member.name))
    return DrainVerdict(allowed=True, move_to=chosen.name, interrupts=interrupts)


def serving_problem(cluster: Cluster, name: str, max_lag: int) -> str:
    """Say why the member ``name`` does not serve yet, or return an empty string.

    It serves when it answers a linearizable read (a learner: knows a leader), has a leader and is at most
    ``max_lag`` raft entries behind.
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
    if this.lag is None or this.lag > max_lag:
        return f"{name} is {this.lag} raft entries behind, more than {max_lag}"
    return ""


def _refuse(reason: str, may_pass: bool = False) -> DrainVerdict:
    return DrainVerdict(allowed=False, reason=reason, may_pass=may_pass)
