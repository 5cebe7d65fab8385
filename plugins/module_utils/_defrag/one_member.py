# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One member's defragmentation: look, move the leadership away, defragment, see that it serves. Private to the collection.

What may be done: decision.py. Whose turn it is: _defrag/order.py.
"""

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
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import lock
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, Member
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import ClusterView, view_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    Connection,
    command_line,
    failure_reason,
    move_leader,
    run_etcd_tool,
    run_etcdctl,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_metrics import (
    MemberMetrics,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._host.memory_limit import LimitError, Raised, raised

# For a new leader, and for a member to answer again after it was defragmented.
SETTLE_SECONDS = 60.0
# Below this share of the quota the alarm NOSPACE is disarmed, in percent.
DISARM_BELOW = 90
_LONGEST = 86400


@dataclass(frozen=True)
class Request:
    """What to defragment, and when.

    member: name of the member on this host. everyone: all members of the cluster, not only that one. in_turn: whether to
    let those go first whose turn is earlier. pause, wait, timeout: seconds between two members, for the lock and the own
    turn, and for one defragmentation. max_lag: raft entries.
    """

    endpoints: list[str]
    member: str
    everyone: bool
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
    """What came of one member. Sizes are bytes, ``defrag_seconds`` is how long it answered nothing."""

    member: str
    result: str
    reason: str
    settled: bool = False
    would: bool = False
    before: dict[str, int] = field(default_factory=dict)
    after: dict[str, int] = field(default_factory=dict)
    defrag_seconds: float | None = None
    moved_to: str = ""
    raised_to: int | None = None
    limit_problem: str = ""
    disarmed: bool = False


def validate_request(request: Request) -> None:
    """Raise DefragError for a request that cannot be meant."""
    decision.validate_thresholds(request.thresholds)
    for name, least in (("pause", 0), ("wait", 0), ("timeout", 1)):
        value = getattr(request, name)
        if not least <= value <= _LONGEST:
            raise DefragError(f"{name} is {value}, but must be {least} to {_LONGEST} seconds")


def defragment_member(request: Request, link: Connection, name: str, guard: lock.LeaseKeeper | None) -> Outcome:
    """Look again under the lock, move the leadership away if need be, and defragment."""
    moved_to, deadline = "", time.monotonic() + SETTLE_SECONDS
    while True:
        sight = view_cluster(link, request.endpoints)
        verdict = decision.skip_verdict(sight.cluster, name, request.thresholds) or member_verdict(request, sight, name)
        this = sight.cluster.member(name)
        if this is not None and verdict.go and not verdict.move_to:
            break
        if this is None or not (verdict.go or (moved_to and verdict.may_pass)) or time.monotonic() >= deadline:
            return replace(skipped_outcome(sight, name, verdict), moved_to=moved_to)
        target = sight.cluster.member(verdict.move_to)
        if target is not None and not move_leader(link, this.endpoint, target.id):
            moved_to = target.name
        time.sleep(0.3)
    if guard is not None:
        guard.check()
    outcome = _defragment(request, link, this, required_limit(request, sight, this))
    outcome.moved_to = moved_to
    after = _settle(request, link, name, outcome)
    if outcome.result == "done":
        outcome.disarmed = _disarm(link, request, after)
        more = [member for member in decision.defrag_order(after.cluster, request.thresholds) if member.name != name]
        if more and guard is not None:
            time.sleep(request.pause)
    return outcome


def _defragment(request: Request, link: Connection, this: Member, limit: int | None) -> Outcome:
    outcome = Outcome(this.name, "failed", "", before=database_sizes(this), raised_to=limit)
    slow = replace(link, timeout=float(request.timeout))
    began = time.monotonic()
    try:
        with raised(request.unit, limit) if limit else contextlib.nullcontext(Raised()) as raising:
            answer = run_etcd_tool([*command_line(slow, [this.endpoint]), "defrag"], request.timeout + 1.0, "etcdctl")
            outcome.defrag_seconds = round(time.monotonic() - began, 3)
    except LimitError as error:
        outcome.reason = f"the memory limit could not be raised: {error}"
        return outcome
    outcome.limit_problem = raising.problem
    if answer.returncode == 0:
        outcome.result = "done"
    elif answer.returncode is None or "deadline exceeded" in answer.stderr:
        outcome.reason = (
            f"{this.name} was not defragmented within {request.timeout} s (it goes on in etcd): raise timeout"
        )
    else:
        outcome.reason = f"{this.name} was not defragmented: {failure_reason(answer)}"
    return outcome


def _settle(request: Request, link: Connection, name: str, outcome: Outcome) -> ClusterView:
    """Wait until the member answers and has caught up, and note what it has now."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        sight = view_cluster(link, request.endpoints)
        this = sight.cluster.member(name)
        ready = this is not None and this.healthy and (this.lag or 0) <= request.max_lag and bool(sight.cluster.leader)
        if ready or time.monotonic() >= deadline:
            break
        time.sleep(0.3)
    if this is not None and this.db_size is not None:
        outcome.after = database_sizes(this)
    if outcome.result == "done" and not ready:
        outcome.result = "failed"
        outcome.reason = f"{name} was defragmented, but does not serve after {SETTLE_SECONDS:g} s"
    elif outcome.result == "done":
        freed = outcome.before["size"] - outcome.after["size"]
        outcome.settled = True
        outcome.reason = (
            f"{name}: {format_size(outcome.before['size'])} became {format_size(outcome.after['size'])} in "
            f"{outcome.defrag_seconds} s, {format_size(max(0, freed))} given back"
        )
    return sight


def _disarm(link: Connection, request: Request, sight: ClusterView) -> bool:
    """Let etcd take writes again once nobody is near the quota and nobody has anything left to give back."""
    if not has_no_space_alarm(sight.cluster) or decision.defrag_order(sight.cluster, request.thresholds):
        return False
    for member in (member for member in sight.cluster.members if member.votes):
        seen = sight.activities.get(member.name)
        quota = member.db_quota or (seen.quota if isinstance(seen, MemberMetrics) else None)
        if not quota or (member.db_size or 0) * 100 >= quota * DISARM_BELOW:
            return False
    return run_etcdctl(link, request.endpoints, "alarm", "disarm").returncode == 0


def member_verdict(request: Request, sight: ClusterView, name: str) -> Verdict:
    """Return the verdict on the cluster and, where it is known, on the member's host."""
    done = [
        member.name
        for member in sight.cluster.members
        if member.votes and not decision.is_worthwhile(member, request.thresholds)
    ]
    verdict = decision.cluster_verdict(sight.cluster, name, sight.activities, request.max_lag, done)
    this, activity = sight.cluster.member(name), sight.activities.get(name)
    if not verdict.go or this is None or not isinstance(activity, MemberMetrics):
        return verdict
    facts = _facts(request, name)
    problem = decision.disk_problem(this, facts) or decision.memory_problem(this, activity, facts, request.raise_memory)
    return Verdict(False, problem) if problem else verdict


def _facts(request: Request, name: str) -> HostCapacity:
    return (
        read_host_capacity(request.unit, request.data_dir) if name == request.member else HostCapacity(request.data_dir)
    )


def required_limit(request: Request, sight: ClusterView, this: Member) -> int | None:
    """Return the memory limit in bytes that this member needs meanwhile, None if its present one is enough."""
    activity = sight.activities.get(this.name)
    if not isinstance(activity, MemberMetrics):
        return None
    return decision.required_memory_limit(this, activity, _facts(request, this.name))


def skipped_outcome(sight: ClusterView, name: str, verdict: Verdict) -> Outcome:
    """Return the outcome of a member that is left as it is."""
    this = sight.cluster.member(name)
    found = database_sizes(this) if this is not None and this.db_size is not None else {}
    return Outcome(name, "skipped", verdict.reason, settled=verdict.settled, before=found, after=found)


def database_sizes(member: Member) -> dict[str, int]:
    """Return the bytes of a member's database file, and of the data in it."""
    return {"size": member.db_size or 0, "in_use": member.db_size_in_use or 0}


def has_no_space_alarm(cluster: Cluster) -> bool:
    """Say whether the alarm NOSPACE is set."""
    return any(alarm["type"] == "NOSPACE" for alarm in cluster.alarms)
