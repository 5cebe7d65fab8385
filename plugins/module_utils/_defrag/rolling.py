# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Defragment members one at a time: those of all hosts, each from its own timer, or all from one host.

Each host's timer calls ``run_defrag`` for its own member. The cluster's lock admits one of them, and every host derives
the same order (followers by name, then the leader) from the cluster. While the alarm NOSPACE is set, etcd takes no
lock, and the order alone keeps the members apart. Two hosts may then see different orders, for example during an
election. Therefore a host pauses before it starts, each for another time, and looks at the cluster again.
"""

from __future__ import annotations

import contextlib
import itertools
import socket
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag import decision
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.decision import DefragError, Verdict
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.limit import restore_limit
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.one_member import (
    GRACE_SECONDS,
    Outcome,
    Request,
    database_sizes,
    defragment_member,
    member_verdict,
    raised_limit,
    skipped_outcome,
    validate_request,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import lock
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import (
    ClusterView,
    observe_cluster,
    view_cluster,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.database_space import DISARM_BELOW
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import CORRUPT, NOSPACE, Connection
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_metrics import MemberMetrics

OPERATION = "defragmentation"
# How long a member waits for each member that is earlier in the order.
PATIENCE_SECONDS = 300.0
POLL_SECONDS = 5.0
# Without a lock, the pause for each member that is earlier by name: longer than a poll and a look at the cluster, so that
# hosts that notice the same event do not start together.
RANK_SECONDS = 10.0


def local_member_name(connection: Connection, endpoints: list[str]) -> str:
    """Return the name of the member at the first endpoint. Raises DefragError if it does not answer."""
    cluster, answered_by = observe_cluster(connection, endpoints[:1])
    if not answered_by:
        raise DefragError(
            f"the member at {endpoints[0]} does not answer ({cluster.error}); start etcd, or set its name"
        )
    return answered_by


def run_defrag(request: Request, connection: Connection, *, check: bool = False) -> list[Outcome]:
    """Defragment, or in check mode report the planned actions. Returns an outcome for each member.

    Raises DefragError, LockError or EtcdctlError.
    """
    validate_request(request)
    if not check:
        restore_limit(request.unit, connection, request.endpoints[0])
    if request.all_members:
        return _defrag_all(request, connection, check)
    name = request.member or local_member_name(connection, request.endpoints)
    return [_defrag_local(replace(request, member=name), connection, check)]


def _defrag_local(request: Request, connection: Connection, check: bool) -> Outcome:
    """Wait for earlier members and for the lock, then defragment this host's member."""
    began = patient_since = trying_since = answered_at = time.monotonic()
    name, moved_to = request.member, ""
    earlier_before: list[str] | None = None
    while True:
        view = view_cluster(connection, request.endpoints)
        skip = decision.skip_verdict(view.cluster, name, request.thresholds)
        if skip is None:
            answered_at = time.monotonic()
        elif check or not skip.transient or time.monotonic() - answered_at >= GRACE_SECONDS:
            return replace(skipped_outcome(view, name, skip), moved_to=moved_to)
        earlier = _earlier_members(request, view)
        busy = _lock_holder(connection, request.endpoints)
        waited = time.monotonic() - began
        # Without a lock, only time in which the earlier members could have started counts.
        if view.cluster.has_alarm(NOSPACE) and (earlier != earlier_before or _is_any_defragmenting(view)):
            patient_since = time.monotonic()
        earlier_before = earlier
        if check:
            return _predict(request, view, name, earlier, busy)
        if skip is not None:
            outcome = skipped_outcome(view, name, skip)
        elif busy:
            outcome = skipped_outcome(view, name, Verdict(False, busy, transient=True))
            trying_since = time.monotonic()
        elif earlier and time.monotonic() - patient_since < PATIENCE_SECONDS * len(earlier):
            verb = "go" if len(earlier) > 1 else "goes"
            outcome = skipped_outcome(view, name, Verdict(False, f"{', '.join(earlier)} {verb} first", transient=True))
            trying_since = time.monotonic()
        else:
            outcome, final = _try_once(request, connection, view, earlier, time.monotonic() - trying_since)
            moved_to = outcome.moved_to or moved_to
            if final:
                return replace(outcome, moved_to=moved_to)
        if waited >= request.wait:
            return replace(outcome, reason=f"{outcome.reason} (waited {request.wait} s)", moved_to=moved_to)
        time.sleep(POLL_SECONDS)


def _earlier_members(request: Request, view: ClusterView) -> list[str]:
    """Return the members that go before this host's. Without a lock, a voter without a status is one: its size is unknown."""
    if not request.in_turn:
        return []
    order = [member.name for member in decision.defrag_order(view.cluster, request.thresholds)]
    earlier = list(itertools.takewhile(lambda name: name != request.member, order))
    if view.cluster.has_alarm(NOSPACE):
        earlier += [member.name for member in view.cluster.members if member.votes and member.db_size is None]
    return earlier


def _is_any_defragmenting(view: ClusterView) -> bool:
    return any(isinstance(found, MemberMetrics) and found.defragmenting for found in view.metrics.values())


def _try_once(
    request: Request, connection: Connection, view: ClusterView, earlier: list[str], tried: float
) -> tuple[Outcome, bool]:
    """Acquire the lock and defragment. Returns the outcome, and whether it is final: otherwise its reason is what to wait for.

    tried: seconds since this host's member last waited for others.
    """
    name = request.member
    verdict = member_verdict(request, view, name)
    if not verdict.go:
        # Another host may have started since the lock was read; its member looks unhealthy during that time.
        worth_waiting = _lock_holder(connection, request.endpoints) or (
            verdict.transient and (tried < GRACE_SECONDS or view.cluster.has_alarm(NOSPACE))
        )
        return skipped_outcome(view, name, verdict), not worth_waiting
    try:
        with _hold_lock(request, connection, name) as lease_keeper:
            if lease_keeper is None and not _is_still_next(request, connection, view, earlier):
                changed = Verdict(False, "the order of the members changed", transient=True)
                return skipped_outcome(view, name, changed), False
            outcome = defragment_member(request, connection, name, lease_keeper)
            # Without a lock, another member may have started since the last look.
            return outcome, lease_keeper is not None or not outcome.transient
    except lock.TransientLockError as error:
        return skipped_outcome(view, name, Verdict(False, str(error), transient=True)), False


def _is_still_next(request: Request, connection: Connection, view: ClusterView, earlier: list[str]) -> bool:
    """Pause according to the rank of this host's member by name, and return whether the same members are earlier after that."""
    rank = sorted(member.name for member in view.cluster.members if member.votes).index(request.member)
    if not request.in_turn or rank == 0:
        return True
    time.sleep(rank * RANK_SECONDS)
    return _earlier_members(request, view_cluster(connection, request.endpoints)) == earlier


@contextlib.contextmanager
def _hold_lock(
    request: Request, connection: Connection, name: str, wait: float = 0
) -> Iterator[lock.LeaseKeeper | None]:
    """Hold the cluster's lock; yield None if NOSPACE makes the lock unavailable."""
    holder = lock.Holder(socket.gethostname(), name, OPERATION)
    # A member answers no requests during its defragmentation: first renew the lease through the others.
    others_first = [*request.endpoints[1:], *request.endpoints[:1]]
    with contextlib.ExitStack() as stack:
        try:
            lease_keeper = stack.enter_context(lock.hold_lock(connection, others_first, holder, wait=wait))
        except lock.NoSpaceError:
            lease_keeper = None
        yield lease_keeper


def _defrag_all(request: Request, connection: Connection, check: bool) -> list[Outcome]:
    """Defragment all members with enough free space, one after the other, under one lock."""
    view = view_cluster(connection, request.endpoints)
    if view.cluster.unreachable:
        raise DefragError(view.cluster.unreachable)
    outcomes = {}
    for member in view.cluster.members:
        skip = decision.skip_verdict(view.cluster, member.name, request.thresholds)
        if skip is not None:
            outcomes[member.name] = skipped_outcome(view, member.name, skip)
    order = [member.name for member in decision.defrag_order(view.cluster, request.thresholds)]
    if check:
        busy = _lock_holder(connection, request.endpoints)
        for name in order:
            outcomes[name] = _predict(request, view, name, order[: order.index(name)], busy)
    elif order:
        with _hold_lock(request, connection, "", wait=request.wait) as lease_keeper:
            outcomes.update(_defrag_in_order(request, connection, view, lease_keeper))
    return [outcomes[member.name] for member in view.cluster.members if member.name in outcomes]


def _defrag_in_order(
    request: Request, connection: Connection, view: ClusterView, lease_keeper: lock.LeaseKeeper | None
) -> dict[str, Outcome]:
    """Defragment one member after the other; after a failure or a lost lock the rest is skipped. Each member that was ever in the order has an outcome."""
    outcomes: dict[str, Outcome] = {}
    expected: set[str] = set()
    stopped, worked_at = "", time.monotonic()
    while True:
        # The leader may have changed: derive the order again.
        order = [
            member.name
            for member in decision.defrag_order(view.cluster, request.thresholds)
            if member.name not in outcomes
        ]
        expected.update(order)
        if stopped or not order:
            # A member whose status timed out is in no order.
            skips = _skip_verdicts(request, view, expected - outcomes.keys(), stopped)
            late = time.monotonic() - worked_at >= GRACE_SECONDS
            if late or not any(verdict.transient for verdict in skips.values()):
                return outcomes | {name: skipped_outcome(view, name, verdict) for name, verdict in skips.items()}
            time.sleep(POLL_SECONDS)
            view = view_cluster(connection, request.endpoints)
            continue
        name = order[0]
        try:
            outcomes[name] = defragment_member(request, connection, name, lease_keeper)
        except lock.LockLostError as error:
            stopped = str(error)
            continue
        if outcomes[name].result == "failed":
            stopped = f"{name} failed: {outcomes[name].reason}"
        view, worked_at = view_cluster(connection, request.endpoints), time.monotonic()


def _skip_verdicts(request: Request, view: ClusterView, names: Iterable[str], stopped: str) -> dict[str, Verdict]:
    """Return why these members are not defragmented. stopped: why no other one may be; empty if none of these should be."""
    if stopped:
        return {name: Verdict(False, f"{name} was not defragmented: {stopped}") for name in names}
    skips = {name: decision.skip_verdict(view.cluster, name, request.thresholds) for name in names}
    return {name: verdict for name, verdict in skips.items() if verdict is not None}


def _predict(request: Request, view: ClusterView, name: str, earlier: list[str], busy: str) -> Outcome:
    """Return the planned action, or why nothing would be done."""
    verdict = member_verdict(request, view, name)
    this = view.cluster.member(name)
    if not verdict.go or this is None:
        return skipped_outcome(view, name, verdict)
    after = f"after {', '.join(earlier)}" if earlier else ""
    lead = f"after {verdict.move_to} takes over as leader" if verdict.move_to else ""
    wait = f"once the lock is free ({busy})" if busy else ""
    when = ", ".join(text for text in (wait, after, lead) if text)
    reason = f"{name} would be defragmented{' ' if when else ''}{when}: {decision.describe_database(this)}"
    limit = raised_limit(request, view, this)
    if limit:
        reason += f"; its memory limit would be {format_size(limit)} during that time"
    if view.cluster.has_alarm(NOSPACE) and not view.cluster.has_alarm(CORRUPT):
        reason += (
            "; the alarm NOSPACE would be disarmed after the last member, "
            f"if each database is then below {DISARM_BELOW} % of its quota"
        )
    return Outcome(
        name, "skipped", reason, would=True, before=database_sizes(this), moved_to=verdict.move_to, raised_to=limit
    )


def _lock_holder(connection: Connection, endpoints: list[str]) -> str:
    """Return who holds the cluster's lock; empty if nobody does, or if the cluster does not answer."""
    try:
        held = lock.read_lock(connection, endpoints)
    except lock.LockError:
        return ""
    return str(held) if held else ""
