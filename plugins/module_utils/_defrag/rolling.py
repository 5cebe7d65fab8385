# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose turn it is to be defragmented, within one host and between several. Private to the collection.

Each host's timer calls ``run_defrag`` for its own member: the cluster's lock lets one through, and the order of the turns
(followers by name, then the leader) is read from the cluster by each host alike. While the alarm NOSPACE is set there is
no lock, and that order alone keeps them apart.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from dataclasses import replace

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag import decision
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.decision import DefragError, Verdict
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.one_member import (
    Outcome,
    Request,
    database_sizes,
    defragment_member,
    has_no_space_alarm,
    member_verdict,
    required_limit,
    skipped_outcome,
    validate_request,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import lock
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import (
    ClusterView,
    observe_cluster,
    view_cluster,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection
from ansible_collections.etcdops.headroom.plugins.module_utils._host.memory_limit import restore

OPERATION = "defragmentation"
# How long a member waits for each of those whose turn is before its own, and between two looks.
PATIENCE_SECONDS = 300.0
POLL_SECONDS = 5.0
# What lasts no longer, such as an election, is waited for.
GRACE_SECONDS = 30.0


def local_name(link: Connection, endpoints: list[str]) -> str:
    """Return the name of the member behind the first endpoint. Raises DefragError if it does not say."""
    cluster, answered_by = observe_cluster(link, endpoints[:1])
    if not answered_by:
        raise DefragError(
            f"the member at {endpoints[0]} does not answer ({cluster.error}); start etcd, or give its name"
        )
    return answered_by


def run_defrag(request: Request, link: Connection, *, check: bool = False) -> list[Outcome]:
    """Defragment, or in check mode say what would be done. Raises DefragError, LockError or EtcdctlError."""
    validate_request(request)
    if not check:
        restore(request.unit)
    if request.everyone:
        return _everyone(request, link, check)
    return [_own(replace(request, member=request.member or local_name(link, request.endpoints)), link, check)]


def _own(request: Request, link: Connection, check: bool) -> Outcome:
    """Wait for this member's turn and take it."""
    began = time.monotonic()
    name = request.member
    while True:
        sight = view_cluster(link, request.endpoints)
        nothing = decision.skip_verdict(sight.cluster, name, request.thresholds)
        if nothing is not None:
            return skipped_outcome(sight, name, nothing)
        turns = [member.name for member in decision.defrag_order(sight.cluster, request.thresholds)]
        earlier = turns[: turns.index(name)] if request.in_turn else []
        busy = _holder(link, request.endpoints)
        waited = time.monotonic() - began
        if check:
            return _foretold(request, sight, name, earlier, busy)
        if busy:
            verdict = Verdict(False, busy, may_pass=True)
        elif earlier and waited < PATIENCE_SECONDS * len(earlier):
            verdict = Verdict(
                False, f"{', '.join(earlier)} {'go' if len(earlier) > 1 else 'goes'} first", may_pass=True
            )
        else:
            outcome, verdict = _attempt(request, link, sight, name, waited)
            if outcome is not None:
                return outcome
        if waited >= request.wait:
            return skipped_outcome(sight, name, replace(verdict, reason=f"{verdict.reason} (waited {request.wait} s)"))
        time.sleep(POLL_SECONDS)


def _attempt(
    request: Request, link: Connection, sight: ClusterView, name: str, waited: float
) -> tuple[Outcome | None, Verdict]:
    """Take the lock and the turn. Without an outcome, the verdict says what to wait for."""
    verdict = member_verdict(request, sight, name)
    if not verdict.go:
        # Another one may have begun since the lock was looked at, and its member looks ill meanwhile.
        passing = _holder(link, request.endpoints) or (
            verdict.may_pass and (waited < GRACE_SECONDS or has_no_space_alarm(sight.cluster))
        )
        return (None, verdict) if passing else (skipped_outcome(sight, name, verdict), verdict)
    try:
        with _locked(request, link, name) as guard:
            return defragment_member(request, link, name, guard), verdict
    except lock.LockBusyError as error:
        return None, Verdict(False, str(error), may_pass=True)


@contextlib.contextmanager
def _locked(request: Request, link: Connection, name: str, wait: float = 0) -> Iterator[lock.LeaseKeeper | None]:
    """Hold the cluster's lock; None where there can be none because of NOSPACE."""
    holder = lock.Holder(socket.gethostname(), name, OPERATION)
    # The member that is defragmented answers nothing: ask the others first to keep the lock.
    ways = [*request.endpoints[1:], *request.endpoints[:1]]
    with contextlib.ExitStack() as stack:
        try:
            guard = stack.enter_context(lock.hold_lock(link, ways, holder, wait=wait))
        except lock.NoSpaceError:
            guard = None
        yield guard


def _everyone(request: Request, link: Connection, check: bool) -> list[Outcome]:
    """Take all turns, one after the other, under one lock."""
    sight = view_cluster(link, request.endpoints)
    if not sight.cluster.members:
        raise DefragError(f"no member of the cluster answers ({sight.cluster.error}); start etcd, or set endpoints")
    outcomes = {}
    for member in sight.cluster.members:
        nothing = decision.skip_verdict(sight.cluster, member.name, request.thresholds)
        if nothing is not None:
            outcomes[member.name] = skipped_outcome(sight, member.name, nothing)
    turns = [member.name for member in decision.defrag_order(sight.cluster, request.thresholds)]
    if check:
        busy = _holder(link, request.endpoints)
        for name in turns:
            outcomes[name] = _foretold(request, sight, name, turns[: turns.index(name)], busy)
    elif turns:
        with _locked(request, link, "", wait=request.wait) as guard:
            outcomes.update(_turns(request, link, sight, guard))
    return [outcomes[member.name] for member in sight.cluster.members if member.name in outcomes]


def _turns(
    request: Request, link: Connection, sight: ClusterView, guard: lock.LeaseKeeper | None
) -> dict[str, Outcome]:
    outcomes: dict[str, Outcome] = {}
    stopped = ""
    while True:
        # Who leads may have changed: the order is that of now.
        turns = [
            member.name
            for member in decision.defrag_order(sight.cluster, request.thresholds)
            if member.name not in outcomes
        ]
        if not turns:
            return outcomes
        if stopped:
            outcomes[turns[0]] = skipped_outcome(sight, turns[0], Verdict(False, stopped))
            continue
        try:
            outcomes[turns[0]] = defragment_member(request, link, turns[0], guard)
        except lock.LockLostError as error:
            stopped = str(error)
            continue
        if outcomes[turns[0]].result == "failed":
            stopped = f"{turns[0]} failed: {outcomes[turns[0]].reason}"
        sight = view_cluster(link, request.endpoints)


def _foretold(request: Request, sight: ClusterView, name: str, earlier: list[str], busy: str) -> Outcome:
    """Say what would be done, and why not, without doing it."""
    verdict = member_verdict(request, sight, name)
    this = sight.cluster.member(name)
    if not verdict.go or this is None:
        return skipped_outcome(sight, name, verdict)
    after = f"after {', '.join(earlier)}" if earlier else ""
    lead = f"after {verdict.move_to} leads in its place" if verdict.move_to else ""
    wait = f"once the lock is free ({busy})" if busy else ""
    when = ", ".join(text for text in (wait, after, lead) if text)
    reason = f"{name} would be defragmented{' ' if when else ''}{when}: {decision.describe_database(this)}"
    limit = required_limit(request, sight, this)
    if limit:
        reason += f"; its memory limit would be {format_size(limit)} meanwhile"
    return Outcome(
        name, "skipped", reason, would=True, before=database_sizes(this), moved_to=verdict.move_to, raised_to=limit
    )


def _holder(link: Connection, endpoints: list[str]) -> str:
    """Say who holds the lock; nothing if nobody does, or if the cluster cannot tell."""
    try:
        held = lock.read_lock(link, endpoints)
    except lock.LockError:
        return ""
    return str(held) if held else ""
