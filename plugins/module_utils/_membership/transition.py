# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make one change of a cluster's members, and wait until the cluster shows it. Private to the collection."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import hashes
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.alarms import disarm_alarms
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import (
    Cluster,
    assume_healthy,
    unreachable_cluster,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import observe_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    CORRUPT,
    Alarm,
    Connection,
    failure_reason,
    move_leader,
    run_etcdctl,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.hash_requests import compare_members
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.local_member import unit_problem
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.lock import RELEASE_SECONDS
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_error import MemberError
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_identity import read_identity
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.play_lock import PlayLock
from ansible_collections.etcdops.headroom.plugins.module_utils._host import systemd
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import change as membership_change
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.change import Verdict

PAUSE = 0.5


@dataclass(frozen=True)
class Goal:
    """What is asked of a member.

    state: learner, promoted, moved, absent, or locked, which changes no member. unit: systemd's name of the member on this host.
    peer_url: of the member, for the first three states. member_id: of the member to remove; None means the one with this name.
    cluster_id: of the cluster that is changed; empty accepts any.
    timeout: seconds to wait. max_lag: raft entries that a member may be behind. keep_lock: for state absent.
    planned_member_id: of the data on this host when the change was planned; data_dir, wal_dir: where they are, None to skip
    the checks of the data. journal_lines: how many lines an error returns. check: change nothing. assume_healthy: names of
    members that the play would have repaired by now if it did not only check.
    """

    state: str
    name: str
    unit: str
    peer_url: str
    member_id: str | None
    cluster_id: str
    timeout: int
    max_lag: int
    keep_lock: bool
    planned_member_id: str
    data_dir: str | None
    wal_dir: str | None
    journal_lines: int
    check: bool
    assume_healthy: list[str] = field(default_factory=list)


@dataclass
class Transition:
    """One change of the members: the goal, and its progress. warnings: what the operator must know of a change that succeeded."""

    goal: Goal
    link: Connection
    endpoints: list[str]
    lock: PlayLock
    cluster: Cluster = field(default_factory=lambda: unreachable_cluster("it was not asked"))
    changed: bool = False
    moved_to: str = ""
    request_error: str = ""
    warnings: list[str] = field(default_factory=list)

    def run(self) -> dict[str, Any]:
        """Make the change, and release the lock. Returns the module's result. Raises ValueError.

        Keeps the lock only if the change succeeds and the play's next task needs it.
        """
        keeps_lock, patience = False, 0.0
        try:
            result = self.change()
            patience = RELEASE_SECONDS
            keeps_lock = self.goal.state != "absent" or self.goal.keep_lock
        except MemberError as error:
            raise self.failure(str(error), **error.results) from error
        except ValueError as error:
            raise self.failure(str(error)) from error
        finally:
            if not keeps_lock:
                self.lock.release(patience)
        return result

    def change(self) -> dict[str, Any]:
        """Observe the cluster and make the next request, until nothing is left to do. The caller releases the lock.

        Raises MemberError if the change is not possible, or does not succeed in time.
        """
        began = time.monotonic()
        deadline = began + self.goal.timeout
        while True:
            self.cluster = self.observe()
            verdict = self.verdict()
            if (not verdict.done or self.goal.state == "locked") and not self.goal.check:
                verdict = self.with_lock(verdict)
                deadline = max(deadline, began + self.lock.longest_wait(time.monotonic() - began))
            if verdict.done or (self.goal.check and verdict.allowed):
                self.refuse_stale_plan()
                return self.finish(verdict)
            late = time.monotonic() >= deadline or self.goal.check
            if verdict.allowed and not late:
                self.request_error = self.request(verdict)
            elif late or not verdict.transient:
                waited = (
                    "" if self.goal.check or not late else f" (waited {round(deadline - began)} s{self.lock.outlook()})"
                )
                reason = verdict.reason or self.request_error or "the cluster does not show the change"
                raise MemberError(f"{reason}{waited}")
            self.check_unit()
            time.sleep(PAUSE)

    def observe(self) -> Cluster:
        """Query the cluster. If the etcd of another cluster answers, as on a host that was taken over, query one endpoint after the other."""
        wanted, errors = self.goal.cluster_id, []
        cluster, _answered_by = observe_cluster(self.link, self.endpoints)
        if not wanted or cluster.id in ("", wanted):
            return cluster
        for url in self.endpoints:
            cluster, _answered_by = observe_cluster(self.link, [url])
            if cluster.id == wanted:
                return cluster
            other = f"{url}: the etcd of cluster {cluster.id} answers, not of {wanted}: stop it, or correct its address"
            errors.append(other if cluster.id else cluster.error)
        return unreachable_cluster("; ".join(errors))

    def failure(self, text: str, **results: Any) -> MemberError:
        """Return the error with the last state of the cluster."""
        return MemberError(text, **{"cluster": self.cluster.as_dict(), "changed": self.changed, **results})

    def verdict(self) -> Verdict:
        """Return the verdict on the request of this state."""
        goal = self.goal
        if goal.state == "learner":
            found = self.written_by()
            return membership_change.add_verdict(self.cluster, goal.name, goal.peer_url, goal.max_lag, found)
        if goal.state == "promoted":
            return membership_change.promote_verdict(self.cluster, goal.name, goal.peer_url, goal.max_lag)
        if goal.state == "moved":
            given = assume_healthy(self.cluster, goal.assume_healthy) if goal.check else self.cluster
            return membership_change.move_verdict(given, goal.name, goal.peer_url, goal.max_lag)
        if goal.state == "locked":
            return Verdict(done=True)
        return membership_change.remove_verdict(self.cluster, goal.name, goal.member_id or "", goal.max_lag)

    def with_lock(self, verdict: Verdict) -> Verdict:
        """Acquire or renew the lock through the voting members. Returns the verdict, or a transient one while the lock is unavailable."""
        if self.lock.seconds <= 0 or not self.cluster.members:
            return verdict
        self.lock.endpoints = self.voters()
        if self.lock.is_fresh() or self.lock.acquire():
            return verdict
        if self.lock.unjudged_play():
            raise MemberError(self.lock.busy, unjudged_play=self.lock.unjudged_play())
        # A cluster without quorum grants no lock. What follows needs a quorum too, or starts a member that may restore it.
        if verdict.done and self.lock.held is None:
            return verdict
        return Verdict(member_id=verdict.member_id, reason=self.lock.busy, transient=True)

    def voters(self) -> list[str]:
        """Return the endpoints of the voting members, or the given ones if the cluster has named none."""
        return membership_change.voter_endpoints(self.cluster) or self.endpoints

    def written_by(self) -> str | None:
        """Return the id of the member that wrote the log on this host, empty without a log; None if it is unknown where the log is."""
        goal = self.goal
        if not goal.data_dir:
            return None
        folders = [os.path.join(goal.data_dir, "member", "wal"), *([goal.wal_dir] if goal.wal_dir else [])]
        return (read_identity(folders) or {}).get("member_id", "")

    def refuse_stale_plan(self) -> None:
        """Raise MemberError if another member has written a log on this host since the change was planned."""
        goal = self.goal
        found = self.written_by() if goal.state == "locked" else None
        if found and found != goal.planned_member_id:
            raise MemberError(
                f"another play has changed {goal.name} since this run was planned: the data on this host is of member {found} "
                "now. Nothing was changed on this member: run the playbook again, to plan from its current state"
            )

    def request(self, verdict: Verdict) -> str:
        """Make the request. Returns the error, empty if etcd accepted it. The next answer of the cluster shows its effect."""
        goal = self.goal
        if verdict.move_to:
            return self.move_leadership(verdict)
        if goal.state == "learner":
            words = ["add", goal.name, "--learner", f"--peer-urls={goal.peer_url}"]
        elif goal.state == "moved":
            words = ["update", verdict.member_id, f"--peer-urls={goal.peer_url}"]
        else:
            words = ["promote" if goal.state == "promoted" else "remove", verdict.member_id]
        # One endpoint: etcdctl would repeat a request whose answer was lost at the next one.
        answer = run_etcdctl(self.link, self.voters()[:1], "member", *words)
        if answer.returncode != 0:
            return f"etcdctl member {words[0]}: {failure_reason(answer)}"
        self.changed = True
        return ""

    def move_leadership(self, verdict: Verdict) -> str:
        """Move the leadership away from the member that is to be removed."""
        target = self.cluster.member(verdict.move_to)
        leader = self.cluster.member(self.cluster.leader)
        if target is None or leader is None:
            return "the cluster has no leader"
        error = move_leader(self.link, leader.endpoint, target.id)
        if not error:
            self.changed, self.moved_to = True, target.name
        return f"moving the leadership to {target.name}: {error}" if error else ""

    def check_unit(self) -> None:
        """Raise MemberError at once if the learner on this host does not start."""
        if self.goal.state != "promoted":
            return
        unit = systemd.show(self.goal.unit, self.link.timeout)
        problem, hopeless = unit_problem(unit)
        if hopeless and unit.load_state != "not-found":
            journal = systemd.tail(unit.name, self.goal.journal_lines, self.link.timeout)
            why = systemd.cause(journal)
            raise MemberError(f"{problem}{': ' if why else ''}{why}", journal=journal)

    def finish(self, verdict: Verdict) -> dict[str, Any]:
        """Return the result."""
        goal = self.goal
        result: dict[str, Any] = {"member_id": verdict.member_id, "cluster": self.cluster.as_dict()}
        if goal.state == "learner":
            result["initial_cluster"] = membership_change.initial_cluster(self.cluster, goal.name, goal.peer_url)
        if goal.state == "absent":
            result["moved_to"] = self.moved_to or verdict.move_to
        try:
            self.disarm()
        except ValueError as error:  # the members were changed, which a failure would hide
            self.warnings.append(f"An alarm of a removed member stays set: {error}.")
        return {"changed": self.changed or not verdict.done, **result}

    def disarm(self) -> None:
        """Disarm the alarms of members that were removed; CORRUPT only if the others have the same hash."""
        if not membership_change.orphaned_alarms(self.cluster) or self.goal.check:
            return
        endpoints = membership_change.voter_endpoints(self.cluster)
        if self.cluster.has_alarm(CORRUPT):
            found = compare_members(self.link, endpoints, self.goal.timeout)
            if found.verdict != hashes.AGREE:
                self.warnings.append(f"The alarm CORRUPT stays set, and etcd refuses writes: {found.sentence()}.")
                return
        orphans = [Alarm(alarm["member"], alarm["type"]) for alarm in self.cluster.alarms]
        disarm_alarms(self.link, endpoints, orphans)
