#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Defragment etcd members one at a time, where it is worthwhile and safe."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_defrag
short_description: Defragment etcd members one at a time, where it is worthwhile and safe
version_added: 0.3.0
description:
  - Until a member is defragmented, pages that compaction freed stay in its database file and count towards the quota. A member answers no requests
    during its defragmentation. So this module defragments one member of the cluster at a time, followers first and the leader last, and transfers
    the leadership before it defragments the leader.
  - It proceeds only while every voting member is healthy and has caught up, no alarm except C(NOSPACE) is set, no snapshot is being sent or
    received, and it holds the cluster's lock, C(/headroom/lock) in etcd. The lock is attached to a lease, so that it is released within a minute if
    its holder dies.
  - It first checks that the disk has room for the copy, and that the copy does not make etcd exceed its memory limit.
  - Learners are not defragmented. Deferring a member is not a failure - see RV(deferred), and RV(members) for the reasons.
  - The program that the role P(etcdops.headroom.etcd_maintenance#role) installs does the same from a timer, with the same code.
extends_documentation_fragment:
  - etcdops.headroom.etcdctl
  - etcdops.headroom.etcdctl.tls
  - etcdops.headroom.etcdctl.unit
options:
  members:
    description:
      - V(local) defragments the member on this host, the first of O(endpoints). Run on all hosts, each one waits for the members before it.
      - V(all) defragments every member from this host, one after the other. Disk and memory are then checked for the member O(name) only.
    type: str
    choices: [local, all]
    default: local
  name:
    description: Name of the member on this host. By default the member at the first of O(endpoints).
    type: str
    default: ""
  free_share:
    description: Percentage of the database file that must be free, at least.
    type: int
    default: 45
  free_size:
    description: Size that must be free, at least, in bytes or with a unit (KB = 1024). O(free_share) and O(free_size) must both be met.
    type: str
    default: 100MB
  in_turn:
    description:
      - With O(members=local), whether to wait for the members that are earlier in the order, followers before the leader.
      - Disable it if something else determines the order.
    type: bool
    default: true
  pause:
    description: Seconds between two members.
    type: int
    default: 30
  wait:
    description: Seconds to wait for earlier members and for the lock.
    type: int
    default: 600
  timeout:
    description: Seconds that the defragmentation of one member may take.
    type: int
    default: 1800
  max_lag:
    description: Raft entries that a member may be behind and still counts as caught up.
    type: int
    default: 500
  raise_memory:
    description:
      - Whether to raise the memory limit of O(unit) during the defragmentation, if the copies need it and the host has the memory.
      - The limit is restored as soon as etcd is below it again.
    type: bool
    default: true
  data_dir:
    description: Data directory of the member on this host. Default is the one that the running etcd uses.
    type: path
attributes:
  check_mode:
    description: Reports what would be done, in which order, or what prevents it. Acquires no lock and does not wait.
    support: full
  platform:
    description: Linux.
    support: full
    platforms: linux
notes:
  - With authentication enabled, the client needs the role C(root), as for any maintenance of etcd.
  - While C(NOSPACE) is set, etcd accepts no writes, so the lock is unavailable. Only the fixed order then ensures that members are defragmented one at
    a time.
  - The alarm C(NOSPACE) is disarmed after the last member, if every database is then below 90 % of its quota.
seealso:
  - module: etcdops.headroom.etcd_cluster_info
  - name: Maintenance of etcd
    description: Compaction, defragmentation and the space quota.
    link: https://etcd.io/docs/latest/op-guide/maintenance/
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Defragment the members of all hosts of the play, one after the other
  etcdops.headroom.etcd_defrag:

- name: Show which members would be defragmented with lower thresholds
  etcdops.headroom.etcd_defrag:
    members: all
    free_share: 20
    free_size: 10MB
  check_mode: true
  run_once: true
"""

RETURN = r"""
msg:
  description: The result for each member, as sentences; in check mode, what would be done.
  type: str
  returned: always
  sample: "etcd-2: 1.2 GiB became 420.1 MiB in 3.412 s, 808.9 MiB freed."
deferred:
  description: Whether a defragmentation was worthwhile but could not be done.
  type: bool
  returned: success
members:
  description: The result for each member; in check mode, what would be done.
  type: list
  elements: dict
  returned: success
  contains:
    member:
      description: Name of the member.
      type: str
    result:
      description: C(done), C(skipped) or C(failed).
      type: str
    reason:
      description: The reason, or what was freed, as a sentence.
      type: str
    settled:
      description: Whether there is no work left.
      type: bool
    transient:
      description: Whether waiting may help a member that was skipped.
      type: bool
    would:
      description: In check mode, whether the member would be defragmented.
      type: bool
    before:
      description: Bytes of the database file, and of the data in it.
      type: dict
      sample: {size: 1288490188, in_use: 440401920}
    after:
      description: The same after the defragmentation.
      type: dict
    defrag_seconds:
      description: Seconds for which the member answered no requests.
      type: float
    moved_to:
      description: The member that took over as leader; empty if the leadership was not moved.
      type: str
    raised_to:
      description: The memory limit in bytes during the defragmentation; null if it was not raised.
      type: int
    limit_problem:
      description: Why the memory limit was not restored; empty if it was.
      type: str
    disarmed:
      description: Whether the alarm C(NOSPACE) was disarmed.
      type: bool
"""

from dataclasses import asdict

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import parse_size
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.decision import Thresholds
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.one_member import Request
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.rolling import run_defrag
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import (
    CONNECTION_ARGUMENTS,
    connection_from_params,
)


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            **CONNECTION_ARGUMENTS,
            "members": {"type": "str", "choices": ["local", "all"], "default": "local"},
            "name": {"type": "str", "default": ""},
            "free_share": {"type": "int", "default": 45},
            "free_size": {"type": "str", "default": "100MB"},
            "in_turn": {"type": "bool", "default": True},
            "pause": {"type": "int", "default": 30},
            "wait": {"type": "int", "default": 600},
            "timeout": {"type": "int", "default": 1800},
            "max_lag": {"type": "int", "default": 500},
            "raise_memory": {"type": "bool", "default": True},
            "data_dir": {"type": "path"},
        },
        supports_check_mode=True,
    )
    params = module.params
    try:
        request = Request(
            endpoints=params["endpoints"],
            member=params["name"],
            all_members=params["members"] == "all",
            thresholds=Thresholds(params["free_share"], parse_size(params["free_size"], "free_size")),
            unit=params["unit"],
            data_dir=params["data_dir"] or "",
            **{name: params[name] for name in ("in_turn", "pause", "wait", "timeout", "max_lag", "raise_memory")},
        )
        outcomes = run_defrag(request, connection_from_params(params), check=module.check_mode)
    except ValueError as error:
        module.fail_json(msg=str(error))
    result = {
        "msg": ". ".join(outcome.reason for outcome in outcomes) + ".",
        "members": [asdict(outcome) for outcome in outcomes],
        "changed": any(outcome.result == "done" or outcome.moved_to or outcome.would for outcome in outcomes),
        "deferred": any(not outcome.settled and not outcome.would for outcome in outcomes),
    }
    if any(outcome.result == "failed" for outcome in outcomes):
        module.fail_json(**result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
