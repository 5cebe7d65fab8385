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
  cluster_id:
    description:
      - Id of the cluster to change, in hexadecimal (RV(etcdops.headroom.etcd_cluster_info#module:cluster) has it).
      - If the etcd of another cluster answers at one of the O(endpoints), as on a host that was taken over, the module asks the other endpoints. Without
        the id, it accepts the answer of any cluster.
    type: str
    default: ""
    version_added: 0.3.0
  timeout:
    description: Seconds to wait for other members to become healthy, or for the learner to catch up.
    type: int
    default: 120
  assume_healthy:
    description:
      - With O(state=moved) in check mode, names of members that count as healthy, because the play would have started them or renewed their certificates
        before this task.
    type: list
    elements: str
    default: []
    version_added: 0.3.0
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
    description:
      - The data directory of the member on this host.
      - With O(state=locked), the module compares O(planned_member_id) with the log there.
      - With O(state=learner), the module fails if the cluster lists a voting member with O(peer_url) whose log is not there, because a member that has
        voted must not start without its log.
    type: path
    version_added: 0.3.0
  wal_dir:
    description: The WAL directory of the member on this host, if it is not in O(data_dir).
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

from dataclasses import fields

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._base.signals import exit_on_signals
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import (
    CONNECTION_ARGUMENTS,
    connection_from_params,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_error import MemberError
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.play_lock import PLAY_ARGUMENTS, PlayLock
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.transition import Goal, Transition

# The fields of Goal that are parameters of the same name.
FIELDS = [field.name for field in fields(Goal) if field.name != "check"]


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
            "cluster_id": {"type": "str", "default": ""},
            "timeout": {"type": "int", "default": 120},
            "assume_healthy": {"type": "list", "elements": "str", "default": []},
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
    params = dict(module.params)
    goal = Goal(check=module.check_mode, **{name: params[name] for name in FIELDS})
    change = Transition(goal, link, params["endpoints"], PlayLock.from_params(link, params))
    try:
        result = change.run()
    except MemberError as error:
        module.fail_json(msg=str(error), **error.results)
    for warning in change.warnings:
        module.warn(warning)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
