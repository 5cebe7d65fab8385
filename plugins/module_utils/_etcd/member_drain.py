# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait until a member may be stopped: the cluster's lock, the leadership, and a plan that still holds. Private to the collection."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, assume_healthy
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import observe_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.drain import DrainVerdict, drain_verdict
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    Connection,
    EtcdctlError,
    move_leader,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.lock import POLL_SECONDS
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_error import MemberError
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.play_lock import PlayLock
from ansible_collections.etcdops.headroom.plugins.module_utils._host import systemd
from ansible_collections.etcdops.headroom.plugins.module_utils._host.facts import process_environment
from ansible_collections.etcdops.headroom.plugins.module_utils._host.process import DIGEST_VARIABLE

PAUSE = 0.3
# The planned digest of a member whose unit was not active.
DOWN = "down"


@dataclass
class Drain:
    """A member that is to be stopped, and the lock of the play that stops it.

    unit: systemd's name of it. prefer: members that the play has changed before, preferred as the next leader. max_lag: raft
    entries that the next leader may be behind. timeout: seconds to wait. restart: whether the member is restarted, not only
    its files changed. digest, planned_digest: of the wanted configuration and of the one that the plan is for; empty if
    unknown. check: change nothing, and do not wait. assume_healthy: names of members that the play would have repaired by
    now if it did not only check.
    """

    link: Connection
    endpoints: list[str]
    name: str
    unit: str
    lock: PlayLock
    prefer: list[str]
    max_lag: int
    timeout: int
    restart: bool
    digest: str
    planned_digest: str
    check: bool
    assume_healthy: list[str] = field(default_factory=list)
    moved_to: str = ""
    transfer_error: str = ""
    began: float = field(default_factory=time.monotonic)

    def run(self) -> dict[str, Any]:
        """Wait until the member may be stopped; transfer the leadership if it is the leader. Returns the module's result. Raises MemberError."""
        if self.needs_none():
            started = self.runs_as_wanted()
            if not started:
                self.refuse_stale_plan()
            return self.result(started=started)
        self.began = time.monotonic()
        self.lock = replace(self.lock, busy="", held=None, wait=0, acquired=0)
        deadline = self.began + self.timeout
        wants_lock = self.wants_lock
        while True:
            if wants_lock and self.lock.acquire():
                wants_lock = False
                # The wait for another play may have taken all the time. The lease must not expire during the drain.
                deadline = max(deadline, time.monotonic() + min(self.timeout, self.lock.seconds))
            deadline = self.until_lock_expires(deadline)
            if not self.lock.busy or self.lock.is_held_by_this_play():
                if self.runs_as_wanted():
                    return self.result(started=True)
                self.refuse_stale_plan()
            if self.lock.is_held_by_this_play() and not self.lock.release_for(self.prefer):
                raise MemberError(
                    f"{self.name} was started since this run was planned, and so was another member: they are changed one at a time. Nothing was "
                    "changed on this member: run the playbook again, to plan from its current state"
                )
            cluster, _answered_by = observe_cluster(self.link, self.endpoints)
            verdict = self.verdict(cluster)
            if verdict.allowed and self.lock.busy:
                verdict = DrainVerdict(allowed=False, reason=self.lock.busy, transient=True)
            if verdict.allowed and (self.check or not verdict.move_to):
                self.moved_to = self.moved_to or verdict.move_to
                return {**self.result(interrupts=verdict.interrupts), "cluster": cluster.as_dict()}
            late = time.monotonic() >= deadline or self.check
            if verdict.allowed and not late:
                self.hand_over(cluster, verdict.move_to)
            elif late or not verdict.transient:
                waited = (
                    f" (waited {round(deadline - self.began)} s{self.lock.outlook()})"
                    if late and not self.check
                    else ""
                )
                reason = verdict.reason or f"{self.name} still leads: {self.why_it_leads()}"
                raise MemberError(f"{reason}{waited}", cluster=cluster.as_dict())
            time.sleep(POLL_SECONDS if self.lock.busy else PAUSE)

    def verdict(self, cluster: Cluster) -> DrainVerdict:
        """Return whether the member may be stopped now; in check mode, whether it might be after the play's changes before."""
        if self.check and cluster.unreachable and self.name in self.assume_healthy:
            return DrainVerdict(allowed=True)
        given = assume_healthy(cluster, self.assume_healthy) if self.check else cluster
        return drain_verdict(given, self.name, self.prefer, self.max_lag)

    def result(self, *, started: bool = False, interrupts: bool = False) -> dict[str, Any]:
        """Return the module's result."""
        return {
            "changed": bool(self.moved_to),
            "moved_to": self.moved_to,
            "interrupts": interrupts,
            "started": started,
        }

    @property
    def wants_lock(self) -> bool:
        """Return whether the play takes the lock at all."""
        return self.lock.seconds > 0 and not self.check

    def until_lock_expires(self, deadline: float) -> float:
        """Return the deadline, later if the lease of another play lasts longer. Raises MemberError if the caller must judge that play first."""
        if self.lock.unjudged_play():
            raise MemberError(self.lock.busy, unjudged_play=self.lock.unjudged_play())
        return max(deadline, self.began + self.lock.longest_wait(time.monotonic() - self.began))

    def needs_none(self) -> bool:
        """Return whether the member needs no drain: it is down, or only its files change. Waits first for another play that is changing it."""
        deadline = self.began + self.timeout
        while not self.restart or is_down(systemd.show(self.unit, self.link.timeout), self.planned_digest == DOWN):
            # A cluster without quorum grants no lock. Starting this member may restore the quorum, so it goes on without one.
            with contextlib.suppress(EtcdctlError):
                if self.wants_lock:
                    self.lock.acquire()
            # A member that keeps running needs no repair at once, and the next member of the other play may be this one.
            if not self.lock.is_held_for_another_change(any_member=not self.restart):
                return True
            deadline = self.until_lock_expires(deadline)
            if time.monotonic() >= deadline:
                state, may = ("is down, and", "be changing") if self.restart else ("cannot be changed now:", "change")
                raise MemberError(
                    f"{self.name} {state} {self.lock.busy}: that play may {may} it. Wait until that play has ended, and run this one again "
                    f"(waited {round(deadline - self.began)} s{self.lock.outlook()})"
                )
            time.sleep(POLL_SECONDS)
        return False

    def runs_as_wanted(self) -> bool:
        """Return whether the member runs or starts with the wanted configuration, so that a restart would only cost time."""
        if not self.digest:
            return False
        unit = systemd.show(self.unit, self.link.timeout)
        return unit.pid is not None and process_environment(unit.pid, DIGEST_VARIABLE) == self.digest

    def refuse_stale_plan(self) -> None:
        """Raise MemberError if the member was started, or started with another configuration, since the change was planned."""
        if not self.planned_digest:
            return
        unit = systemd.show(self.unit, self.link.timeout)
        if self.planned_digest == DOWN:
            stale = unit.active_state == "active"
            change = f"{self.name} was started since this run was planned: another play may have changed it"
        else:
            digest = process_environment(unit.pid, DIGEST_VARIABLE) if unit.pid else None
            stale = bool(digest) and digest != self.planned_digest
            change = (
                f"another play has changed {self.name} since this run was planned: it runs with configuration {digest} "
                f"instead of {self.planned_digest}"
            )
        if stale:
            raise MemberError(
                f"{change}. Nothing was changed on this member: run the playbook again, to plan from its current state"
            )

    def why_it_leads(self) -> str:
        """Return why the member leads at the end of the wait."""
        moved = f"its leadership was moved to {self.moved_to}, and came back"
        return self.transfer_error or (moved if self.moved_to else "its leadership could not be moved in time")

    def hand_over(self, cluster: Cluster, target: str) -> None:
        """Transfer the leadership to another member. Sets moved_to, or the reason for a failure."""
        leader, successor = cluster.member(self.name), cluster.member(target)
        if leader is None or successor is None:
            self.transfer_error = f"{target} is not a member"
            return
        refused = move_leader(self.link, leader.endpoint, successor.id)
        self.transfer_error = f"moving leadership to {target}: {refused}" if refused else ""
        if not refused:
            self.moved_to = target


def is_down(unit: systemd.Unit, planned_down: bool) -> bool:
    """Return whether systemd reports the member as not serving; etcd notifies systemd when it serves.

    planned_down: whether the unit was not active when the change was planned. If it was, and systemd cannot load it, etcd may run outside of it.
    """
    if unit.load_state == "loaded":
        return unit.active_state in ("inactive", "failed", "activating")
    # A host that was reinstalled and kept the data has no unit. The load state is empty if systemctl did not answer.
    return planned_down and bool(unit.load_state) and unit.active_state in ("inactive", "failed")
