# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Defragment one member: move the leadership away, defragment, and wait until the member serves again."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field, replace

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag import decision
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.decision import (
    DefragError,
    HostCapacity,
    Thresholds,
    Verdict,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.host_capacity import read_host_capacity
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.limit import is_defragmenting
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import lock
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.alarms import disarm_nospace
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Member
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import ClusterView, view_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.database_space import is_below_quota
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    CORRUPT,
    NOSPACE,
    Connection,
    command_line,
    failure_reason,
    move_leader,
    run_etcd_tool,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_metrics import MemberMetrics
from ansible_collections.etcdops.headroom.plugins.module_utils._host.memory_limit import LimitError, Raised, raised

# For an election, and for a member to serve again after it was defragmented.
SETTLE_SECONDS = 60.0
# Shorter problems, such as an election or a status that times out, are waited for.
GRACE_SECONDS = 30.0
_POLL_SECONDS = 0.3
_MAX_SECONDS = 86400


@dataclass(frozen=True)
class Request:
    """What to defragment, and when.

    member: name of the member on this host. all_members: every member of the cluster, not only that one. in_turn: let
    members that come earlier in the order go first. pause, wait, timeout: seconds between two members, for the lock and
    earlier members, and for one defragmentation. max_lag: raft entries that a member may be behind.
    """

    endpoints: list[str]
    member: str
    all_members: bool
    thresholds: Thresholds
    pause: int = 30
    wait: int = 3600
    timeout: int = 1800
    max_lag: int = 500
    raise_memory: bool = True
    in_turn: bool = True
    unit: str = "etcd.service"
    data_dir: str = ""


@dataclass
class Outcome:
    """The result for one member. Sizes are bytes; the member answered no request for ``defrag_seconds``.

    transient: it was skipped, and waiting may help.
    """

    member: str
    result: str
    reason: str
    settled: bool = False
    transient: bool = False
    would: bool = False
    before: dict[str, int] = field(default_factory=dict)
    after: dict[str, int] = field(default_factory=dict)
    defrag_seconds: float | None = None
    moved_to: str = ""
    raised_to: int | None = None
    limit_problem: str = ""
    disarmed: bool = False


def validate_request(request: Request) -> None:
    """Raise DefragError for thresholds or times out of range."""
    decision.validate_thresholds(request.thresholds)
    for name, least in (("pause", 0), ("wait", 0), ("timeout", 1)):
        value = getattr(request, name)
        if not least <= value <= _MAX_SECONDS:
            raise DefragError(f"{name} is {value}, but must be {least} to {_MAX_SECONDS} seconds")


def defragment_member(
    request: Request, connection: Connection, name: str, lease_keeper: lock.LeaseKeeper | None
) -> Outcome:
    """Defragment a member after a second check under the lock; move the leadership away first.

    lease_keeper: of the cluster's lock; None while NOSPACE rules out a lock.
    Raises LockLostError if the lock is gone before the defragmentation starts.
    """
    moved_to, problem, began = "", "", time.monotonic()
    # Without a lock the caller waits, because it has to look at the order of the members again.
    grace = GRACE_SECONDS if lease_keeper is not None else 0.0
    while True:
        view = view_cluster(connection, request.endpoints)
        verdict = decision.skip_verdict(view.cluster, name, request.thresholds) or member_verdict(request, view, name)
        this = view.cluster.member(name)
        if this is not None and verdict.go and not verdict.move_to:
            break
        waited = time.monotonic() - began
        worth_waiting = verdict.go or (verdict.transient and (bool(moved_to) or waited < grace))
        if not worth_waiting or waited >= SETTLE_SECONDS:
            if verdict.go:
                verdict = Verdict(
                    False,
                    f"{name} still leads after {SETTLE_SECONDS:g} s of moving the leadership to {verdict.move_to}"
                    f"{': ' if problem else ''}{problem}; check the network between both, and run this again",
                )
            return replace(skipped_outcome(view, name, verdict), moved_to=moved_to)
        target = view.cluster.member(verdict.move_to) if verdict.move_to else None
        if this is not None and target is not None:
            problem = move_leader(connection, this.endpoint, target.id)
            moved_to = moved_to if problem else target.name
        time.sleep(_POLL_SECONDS)
    if lease_keeper is not None:
        lease_keeper.check()
    outcome = _defragment(request, connection, this, raised_limit(request, view, this))
    outcome.moved_to = moved_to
    after = _wait_until_it_serves(request, connection, name, outcome)
    if outcome.result == "done":
        try:
            outcome.disarmed = _disarm(request, connection, after)
            outcome.reason += "; disarmed the alarm NOSPACE" if outcome.disarmed else ""
        except ValueError as error:
            outcome.reason += f"; {error}"
        more = [member for member in decision.defrag_order(after.cluster, request.thresholds) if member.name != name]
        if more and lease_keeper is not None:
            time.sleep(request.pause)
    return outcome


def _defragment(request: Request, connection: Connection, this: Member, limit: int | None) -> Outcome:
    """Run etcdctl defrag, under a raised memory limit if ``limit`` says so."""
    outcome = Outcome(this.name, "failed", "", before=database_sizes(this), raised_to=limit)
    patient = replace(connection, timeout=float(request.timeout))
    argv = [*command_line(patient, [this.endpoint]), "defrag"]
    began = time.monotonic()
    try:
        with _raised_limit(request, connection, this, limit) as raising:
            answer = run_etcd_tool(argv, request.timeout + 1.0, "etcdctl")
            outcome.defrag_seconds = round(time.monotonic() - began, 3)
    except LimitError as error:
        outcome.reason = f"the memory limit could not be raised: {error}"
        return outcome
    outcome.limit_problem = raising.problem
    if answer.returncode == 0:
        outcome.result = "done"
    elif answer.returncode is None or "deadline exceeded" in answer.stderr:
        outcome.reason = (
            f"{this.name} was not defragmented within {request.timeout} s (etcd continues with it): raise timeout"
        )
    else:
        outcome.reason = f"{this.name} was not defragmented: {failure_reason(answer)}"
    return outcome


def _raised_limit(
    request: Request, connection: Connection, this: Member, limit: int | None
) -> contextlib.AbstractContextManager[Raised]:
    if limit is None:
        return contextlib.nullcontext(Raised())
    return raised(request.unit, limit, lambda: is_defragmenting(connection, this.endpoint))


def _wait_until_it_serves(request: Request, connection: Connection, name: str, outcome: Outcome) -> ClusterView:
    """Wait until the member serves and has caught up; complete its outcome."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        view = view_cluster(connection, request.endpoints)
        this = view.cluster.member(name)
        ready = this is not None and bool(view.cluster.leader) and _serves(this, request.max_lag)
        if ready or time.monotonic() >= deadline:
            break
        time.sleep(_POLL_SECONDS)
    if this is not None and this.db_size is not None:
        outcome.after = database_sizes(this)
    if outcome.result == "done" and not ready:
        outcome.result = "failed"
        outcome.reason = f"{name} was defragmented, but does not serve {SETTLE_SECONDS:g} s later"
    elif outcome.result == "done":
        freed = outcome.before["size"] - outcome.after["size"]
        outcome.settled = True
        outcome.reason = (
            f"{name}: {format_size(outcome.before['size'])} became {format_size(outcome.after['size'])} in "
            f"{outcome.defrag_seconds} s, {format_size(max(0, freed))} freed"
        )
    return view


def _serves(this: Member, max_lag: int) -> bool:
    """Return whether the member is healthy, returns its status and has caught up."""
    # Health and status are two requests: a healthy member's status may time out.
    return this.healthy and this.db_size is not None and (this.lag or 0) <= max_lag


def _disarm(request: Request, connection: Connection, view: ClusterView) -> bool:
    """Disarm NOSPACE once every database is well below its quota and none is worth defragmenting any more.

    Raises AlarmError or EtcdctlError.
    """
    cluster = view.cluster
    if not cluster.has_alarm(NOSPACE) or cluster.has_alarm(CORRUPT):
        return False
    if decision.defrag_order(cluster, request.thresholds):
        return False
    for member in (member for member in cluster.members if member.votes):
        metrics = view.metrics.get(member.name)
        quota = member.db_quota or (metrics.quota if isinstance(metrics, MemberMetrics) else None)
        if not quota or member.db_size is None or not is_below_quota(member.db_size, quota):
            return False
    return bool(disarm_nospace(connection, request.endpoints))


def member_verdict(request: Request, view: ClusterView, name: str) -> Verdict:
    """Return the verdict on the cluster and, for the member on this host, on its disk and memory."""
    done = [
        member.name
        for member in view.cluster.members
        if member.votes and not decision.is_worthwhile(member, request.thresholds)
    ]
    verdict = decision.cluster_verdict(view.cluster, name, view.metrics, request.max_lag, done)
    this, metrics = view.cluster.member(name), view.metrics.get(name)
    if not verdict.go or this is None or not isinstance(metrics, MemberMetrics):
        return verdict
    host = _host_capacity(request, name)
    problem = decision.disk_problem(this, host) or decision.memory_problem(this, metrics, host, request.raise_memory)
    return Verdict(False, problem) if problem else verdict


def _host_capacity(request: Request, name: str) -> HostCapacity:
    if name == request.member:
        return read_host_capacity(request.unit, request.data_dir)
    return HostCapacity(request.data_dir)


def raised_limit(request: Request, view: ClusterView, this: Member) -> int | None:
    """Return the memory limit in bytes to set during the defragmentation, None to keep the present one."""
    metrics = view.metrics.get(this.name)
    if not isinstance(metrics, MemberMetrics):
        return None
    return decision.required_memory_limit(this, metrics, _host_capacity(request, this.name))


def skipped_outcome(view: ClusterView, name: str, verdict: Verdict) -> Outcome:
    """Return the outcome of a member that is not defragmented."""
    this = view.cluster.member(name)
    found = database_sizes(this) if this is not None and this.db_size is not None else {}
    return Outcome(
        name,
        "skipped",
        verdict.reason,
        settled=verdict.settled,
        transient=verdict.transient,
        before=found,
        after=found,
    )


def database_sizes(member: Member) -> dict[str, int]:
    """Return the bytes of a member's database file (``size``) and of the data in it (``in_use``)."""
    return {"size": member.db_size or 0, "in_use": member.db_size_in_use or 0}
