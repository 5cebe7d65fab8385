#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Add a member as a learner, promote it once it has caught up, move it to another peer URL, or remove it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_membership
short_description: Add, promote, move or remove a member of an etcd cluster
version_added: 0.3.0
description:
  - With O(state=learner), adds a member as a learner, which does not vote, and returns the C(initial-cluster) for its configuration.
  - With O(state=promoted), waits until the learner is at most O(max_lag) raft entries behind, and makes it a voting member. etcd alone would promote a
    learner that has nine tenths of the leader's raft index, regardless of the number of missing entries.
  - With O(state=moved), changes the peer URL of a member in the cluster.
  - With O(state=absent), removes a member. If it is the leader, the module first transfers the leadership.
  - With O(state=locked), acquires the cluster's lock for a change of several steps, and fails if another play has changed the member on this host
    since the change was planned.
  - Before each request, all other voting members must be healthy and at most O(max_lag) entries behind, and the alarm C(NOSPACE) must not
    be set. A member that is down may be removed while the others have a majority.
  - Disarms the alarm C(CORRUPT) of a removed member if the other members have the same hash of all keys.
  - Derives the next step from the state of the cluster, so a run after an interruption continues the work.
extends_documentation_fragment:
  - etcdops.headroom.etcdctl
  - etcdops.headroom.etcdctl.tls
  - etcdops.headroom.etcdctl.unit
  - etcdops.headroom.etcdctl.play
options:
  name:
    description: Name of the member.
    type: str
    required: true
  state:
    description: The change to make.
    type: str
    choices: [learner, promoted, moved, absent, locked]
    required: true
  peer_url:
    description:
      - Peer URL of the member. Required with O(state=learner) and O(state=promoted), because a learner that has not started has no name.
      - With O(state=moved), the new URL of the member. Restart the member with this URL at once.
    type: str
  member_id:
    description: With O(state=absent), the id of the member in hexadecimal. Without it, the module removes the member with the name O(name).
    type: str
  timeout:
    description: Seconds to wait for other members to become healthy, or for the learner to catch up.
    type: int
    default: 120
  max_lag:
    description: Raft entries that a member may be behind and still count as caught up.
    type: int
    default: 500
  lock_seconds:
    description:
      - Lifetime of the cluster's lock, which O(state=locked), O(state=learner) and O(state=moved) acquire or renew. O(state=promoted) renews it while it
        waits, and M(etcdops.headroom.etcd_member) with C(state=serving) releases it. 0 takes no lock.
      - With O(state=absent), the lock is held only during the removal, unless O(keep_lock) is set.
    type: int
    default: 0
  keep_lock:
    description:
      - With O(state=absent), keep the lock after the removal, for the task that adds the new member. Otherwise a backup or a defragmentation could start in
        between, and the new member would have to wait for it.
      - Without effect if the removal fails, which releases the lock.
    type: bool
    default: false
    version_added: 0.3.0
  planned_member_id:
    description:
      - With O(state=locked), the id of the member that wrote the write-ahead log in O(data_dir) or O(wal_dir) when the change was planned, in hexadecimal
        (RV(etcdops.headroom.etcd_host_info#module:member) has it); empty if there was no log.
      - Once the lock is held, the module fails if another member has written a log there since. Another play has then made this change, and this one
        would stop the new member and move its data aside.
    type: str
    default: ""
    version_added: 0.3.0
  data_dir:
    description: With O(state=locked), the data directory of the member on this host.
    type: path
    version_added: 0.3.0
  wal_dir:
    description: With O(state=locked), the WAL directory of the member on this host, if it is not in O(data_dir).
    type: path
    version_added: 0.3.0
  journal_lines:
    description: Number of lines of the unit's journal to show if the learner does not start.
    type: int
    default: 30
attributes:
  check_mode:
    description: Reports whether it would change anything, or why it would fail. Does not wait.
    support: full
seealso:
  - module: etcdops.headroom.etcd_member
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Add this host as a learner
  etcdops.headroom.etcd_membership:
    name: "{{ inventory_hostname }}"
    state: learner
    peer_url: https://10.0.0.14:2380
  register: added

- name: Promote the learner once it has caught up
  etcdops.headroom.etcd_membership:
    name: "{{ inventory_hostname }}"
    state: promoted
    peer_url: https://10.0.0.14:2380
    timeout: 1800

- name: Remove a member
  etcdops.headroom.etcd_membership:
    name: etcd-5
    state: absent
"""

RETURN = r"""
member_id:
  description: Id of the member in hexadecimal; empty if there is none.
  returned: success
  type: str
  sample: 8e9e05c52164694d
initial_cluster:
  description: The C(initial-cluster) for the new member, with C(initial-cluster-state) C(existing).
  returned: with O(state=learner)
  type: str
  sample: etcd-1=https://10.0.0.11:2380,etcd-4=https://10.0.0.14:2380
moved_to:
  description: The new leader (in check mode, the planned one); empty if the leadership was not transferred.
  returned: with O(state=absent)
  type: str
  sample: etcd-2
cluster:
  description: The last known state of the cluster, in the format of M(etcdops.headroom.etcd_cluster_info).
  returned: always
  type: dict
journal:
  description: Last lines of the unit's journal.
  returned: if the learner does not start
  type: list
  elements: str
"""

import os
import time
from dataclasses import dataclass, field
from typing import Any, NoReturn

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._base.signals import exit_on_signals
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import hashes
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.alarms import disarm_alarms
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, unreachable_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import observe_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import (
    CONNECTION_ARGUMENTS,
    connection_from_params,
)
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
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_identity import read_identity
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.play_lock import PLAY_ARGUMENTS, PlayLock
from ansible_collections.etcdops.headroom.plugins.module_utils._host import systemd
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import change as membership_change
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.change import Verdict

PAUSE = 0.5


@dataclass
class Change:
    """One change of the members: the request, and its progress."""

    module: AnsibleModule
    link: Connection
    lock: PlayLock
    cluster: Cluster = field(default_factory=lambda: unreachable_cluster("it was not asked"))
    changed: bool = False
    moved_to: str = ""
    trouble: str = ""
    keeps_lock: bool = False

    @property
    def params(self) -> dict[str, Any]:
        """The module's parameters."""
        return dict(self.module.params)

    def run_or_release(self) -> NoReturn:
        """Run, and release the lock unless the play's next task needs it."""
        try:
            self.run()
        except ValueError as error:
            self.fail(str(error))
        finally:
            if not self.keeps_lock:
                self.lock.release()

    def run(self) -> NoReturn:
        """Observe the cluster and make the next request, until nothing is left to do or time is up."""
        params = self.params
        began = time.monotonic()
        deadline = began + params["timeout"]
        while True:
            self.cluster, _answered_by = observe_cluster(self.link, params["endpoints"])
            verdict = self.verdict()
            if (not verdict.done or params["state"] == "locked") and not self.module.check_mode:
                verdict = self.locked(verdict)
                deadline = max(deadline, began + self.lock.longest_wait(time.monotonic() - began))
            if verdict.done or (self.module.check_mode and verdict.allowed):
                self.refuse_stale_plan()
                self.finish(verdict)
            late = time.monotonic() >= deadline or self.module.check_mode
            if verdict.allowed and not late:
                self.trouble = self.request(verdict)
            elif late or not verdict.transient:
                waited = (
                    ""
                    if self.module.check_mode or not late
                    else f" (waited {round(deadline - began)} s{self.lock.outlook()})"
                )
                reason = verdict.reason or self.trouble or "the cluster does not show the change"
                self.fail(f"{reason}{waited}")
            self.check_unit()
            time.sleep(PAUSE)

    def verdict(self) -> Verdict:
        """Return the verdict on the request of this state."""
        params = self.params
        name, url, lag = params["name"], params["peer_url"], params["max_lag"]
        if params["state"] == "learner":
            return membership_change.add_verdict(self.cluster, name, url, lag)
        if params["state"] == "promoted":
            return membership_change.promote_verdict(self.cluster, name, url, lag)
        if params["state"] == "moved":
            return membership_change.move_verdict(self.cluster, name, url, lag)
        if params["state"] == "locked":
            return Verdict(done=True)
        return membership_change.remove_verdict(self.cluster, name, params["member_id"] or "", lag)

    def locked(self, verdict: Verdict) -> Verdict:
        """Acquire or renew the lock through the voting members. Returns the verdict, or a transient one while the lock is unavailable."""
        if self.params["lock_seconds"] <= 0 or not self.cluster.members:
            return verdict
        self.lock.endpoints = membership_change.voter_endpoints(self.cluster) or self.params["endpoints"]
        if self.lock.is_fresh() or self.lock.acquire():
            return verdict
        if self.lock.unjudged_play():
            self.module.fail_json(msg=self.lock.busy, unjudged_play=self.lock.unjudged_play())
        # A cluster without quorum grants no lock. What follows needs a quorum too, or starts a member that may restore it.
        if verdict.done and self.lock.held is None:
            return verdict
        return Verdict(member_id=verdict.member_id, reason=self.lock.busy, transient=True)

    def refuse_stale_plan(self) -> None:
        """Fail if another member has written a log on this host since the change was planned."""
        params = self.params
        if params["state"] != "locked" or not params["data_dir"]:
            return
        folders = [
            os.path.join(params["data_dir"], "member", "wal"),
            *([params["wal_dir"]] if params["wal_dir"] else []),
        ]
        found = read_identity(folders)
        if found and found["member_id"] != params["planned_member_id"]:
            self.fail(
                f"another play has changed {params['name']} since this run was planned: the data on this host is of member {found['member_id']} "
                "now. Nothing was changed on this member: run the playbook again, to plan from its current state"
            )

    def request(self, verdict: Verdict) -> str:
        """Make the request. Returns the error, empty if etcd accepted it. The next answer of the cluster shows its effect."""
        params = self.params
        endpoints = membership_change.voter_endpoints(self.cluster) or params["endpoints"]
        if verdict.move_to:
            return self.move_leadership(verdict)
        if params["state"] == "learner":
            words = ["add", params["name"], "--learner", f"--peer-urls={params['peer_url']}"]
        elif params["state"] == "moved":
            words = ["update", verdict.member_id, f"--peer-urls={params['peer_url']}"]
        else:
            words = ["promote" if params["state"] == "promoted" else "remove", verdict.member_id]
        # One endpoint: etcdctl would repeat a request whose answer was lost at the next one.
        answer = run_etcdctl(self.link, endpoints[:1], "member", *words)
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
        trouble = move_leader(self.link, leader.endpoint, target.id)
        if not trouble:
            self.changed, self.moved_to = True, target.name
        return f"moving the leadership to {target.name}: {trouble}" if trouble else ""

    def check_unit(self) -> None:
        """Fail at once if the learner on this host does not start."""
        if self.params["state"] != "promoted":
            return
        unit = systemd.show(self.params["unit"], self.link.timeout)
        problem, hopeless = unit_problem(unit)
        if hopeless and unit.load_state != "not-found":
            journal = systemd.tail(unit.name, self.params["journal_lines"], self.link.timeout)
            why = systemd.cause(journal)
            self.fail(f"{problem}{': ' if why else ''}{why}", journal=journal)

    def finish(self, verdict: Verdict) -> NoReturn:
        """Return the result."""
        params = self.params
        result: dict[str, Any] = {"member_id": verdict.member_id, "cluster": self.cluster.as_dict()}
        if params["state"] == "learner":
            result["initial_cluster"] = membership_change.initial_cluster(
                self.cluster, params["name"], params["peer_url"]
            )
        if params["state"] == "absent":
            result["moved_to"] = self.moved_to or verdict.move_to
            if not params["keep_lock"]:
                self.lock.release()
        try:
            self.disarm()
        except ValueError as error:  # the members were changed, which a failure would hide
            self.module.warn(f"An alarm of a removed member stays set: {error}.")
        self.keeps_lock = params["state"] != "absent" or params["keep_lock"]
        self.module.exit_json(changed=self.changed or not verdict.done, **result)

    def disarm(self) -> None:
        """Disarm the alarms of members that were removed; CORRUPT only if the others have the same hash."""
        if not membership_change.orphaned_alarms(self.cluster) or self.module.check_mode:
            return
        endpoints = membership_change.voter_endpoints(self.cluster)
        if self.cluster.has_alarm(CORRUPT):
            found = compare_members(self.link, endpoints, self.params["timeout"])
            if found.verdict != hashes.AGREE:
                self.module.warn(f"The alarm CORRUPT stays set, and etcd refuses writes: {found.sentence()}.")
                return
        orphans = [Alarm(alarm["member"], alarm["type"]) for alarm in self.cluster.alarms]
        disarm_alarms(self.link, endpoints, orphans)

    def fail(self, text: str, **more: Any) -> NoReturn:
        """Fail, which releases the lock."""
        self.module.fail_json(msg=text, cluster=self.cluster.as_dict(), changed=self.changed, **more)


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            **CONNECTION_ARGUMENTS,
            **PLAY_ARGUMENTS,
            "name": {"type": "str", "required": True},
            "state": {"type": "str", "choices": ["learner", "promoted", "moved", "absent", "locked"], "required": True},
            "peer_url": {"type": "str"},
            "member_id": {"type": "str"},
            "timeout": {"type": "int", "default": 120},
            "max_lag": {"type": "int", "default": 500},
            "keep_lock": {"type": "bool", "default": False},
            "planned_member_id": {"type": "str", "default": ""},
            "data_dir": {"type": "path"},
            "wal_dir": {"type": "path"},
            "journal_lines": {"type": "int", "default": 30},
        },
        required_if=[("state", state, ["peer_url"]) for state in ("learner", "promoted", "moved")],
        supports_check_mode=True,
    )
    try:
        link = connection_from_params(module.params)
    except ValueError as error:
        module.fail_json(msg=str(error))
    exit_on_signals()
    Change(module, link, PlayLock.from_params(link, module.params)).run_or_release()


if __name__ == "__main__":
    main()
