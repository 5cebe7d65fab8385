#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Defragment etcd members, one at a time, where it pays and where it is safe."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_defrag
short_description: Defragment etcd, one member at a time, where it pays and where it is safe
version_added: 0.2.0
description:
  - A database of etcd keeps the pages that compaction freed until it is defragmented, and they count for the quota. Meanwhile
    the member answers nothing. So this module takes one member at a time in the whole cluster, followers first and the leader
    last, and moves the leadership away from it first.
  - It goes on only while every voting member is healthy and has caught up, no alarm but C(NOSPACE) is set, no snapshot is sent or
    received, and nobody else takes a member out of service. A lock in etcd itself, C(/headroom/lock), sees to the last; it is held by a lease,
    so that a holder that dies lets go within a minute.
  - It checks first that the disk has room for the copy, and that the copy does not bring etcd above its memory limit.
  - Learners are left alone. What is put off is no failure - RV(deferred) says so, and RV(members) why.
  - The program that the role P(etcdops.headroom.etcd_maintenance#role) installs does the same from a timer, with the same code.
extends_documentation_fragment:
  - etcdops.headroom.etcdctl
  - etcdops.headroom.etcdctl.tls
  - etcdops.headroom.etcdctl.unit
options:
  members:
    description:
      - V(local) takes the member on this host, the first of O(endpoints), whose disk and memory can be looked at. Run on all hosts, each waits for its turn.
      - V(all) takes every member, one after the other, from this host. What its disk and memory have is then known of O(name) only.
    type: str
    choices: [local, all]
    default: local
  name:
    description: Name of the member on this host. By default the one that answers at the first of O(endpoints).
    type: str
    default: ""
  free_share:
    description: Least percentage of the database file that has to be free.
    type: int
    default: 45
  free_size:
    description: Least size that has to be free, in bytes or with a unit (KB = 1024). Both have to be met.
    type: str
    default: 100MB
  in_turn:
    description:
      - With V(local), whether to let other members go first, followers before the leader. Turn it off where something else sees to the order.
    type: bool
    default: true
  pause:
    description: Seconds between two members.
    type: int
    default: 30
  wait:
    description: Seconds to wait for the own turn and for the lock.
    type: int
    default: 600
  timeout:
    description: Seconds that the defragmentation of one member may take.
    type: int
    default: 1800
  max_lag:
    description: Raft entries that a member may be behind and still count as caught up.
    type: int
    default: 500
  raise_memory:
    description:
      - Whether the memory limit of O(unit) may be raised while the member is defragmented, if its copies need that and the host has the memory.
      - The limit is put back as soon as etcd is below it again.
    type: bool
    default: true
  data_dir:
    description: Data directory of the member on this host. Default is the one that the running etcd uses.
    type: path
attributes:
  check_mode:
    description: Says what would be done, in which order, and what stands in the way. Takes no lock and waits for nothing.
    support: full
  platform:
    description: Linux.
    support: full
    platforms: linux
notes:
  - With authentication the client needs the role C(root), as for any maintenance of etcd.
  - While C(NOSPACE) is set etcd takes no writes, so there can be no lock. Members then keep to the order of their turns alone.
  - The alarm C(NOSPACE) is disarmed after the last member, if all databases are then below nine tenths of the quota.
seealso:
  - module: etcdops.headroom.etcd_cluster_info
  - name: Maintenance of etcd
    description: Compaction, defragmentation and the space quota.
    link: https://etcd.io/docs/latest/op-guide/maintenance/
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Defragment the members of all hosts of the play, each in its turn
  etcdops.headroom.etcd_defrag:

- name: Say what would be done with a fifth free, and why not
  etcdops.headroom.etcd_defrag:
    members: all
    free_share: 20
    free_size: 10MB
  check_mode: true
  run_once: true
"""

RETURN = r"""
msg:
  description: What became of each member, or would, as sentences.
  type: str
  returned: always
  sample: "etcd-2: 1.2 GiB became 420.1 MiB in 3.412 s, 808.9 MiB given back."
deferred:
  description: Whether a member that needs it was put off.
  type: bool
  returned: success
members:
  description: What became of each member, or, in check mode, would.
  type: list
  elements: dict
  returned: success
  contains:
    member:
      description: Its name.
      type: str
    result:
      description: C(done), C(skipped) or C(failed).
      type: str
    reason:
      description: Why, or what was gained, as a sentence.
      type: str
    settled:
      description: Whether nothing is left to be done.
      type: bool
    would:
      description: In check mode, whether it would be defragmented.
      type: bool
    before:
      description: Bytes of its database file, and of the data in it.
      type: dict
      sample: {size: 1288490188, in_use: 440401920}
    after:
      description: The same afterwards.
      type: dict
    defrag_seconds:
      description: How long it answered nothing.
      type: float
    moved_to:
      description: Who leads in its place; empty if nothing was moved.
      type: str
    raised_to:
      description: The memory limit in bytes that it had meanwhile; null for its own.
      type: int
    limit_problem:
      description: Why its own limit was not put back, else empty.
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
    asked = module.params
    try:
        request = Request(
            endpoints=asked["endpoints"],
            member=asked["name"],
            all_members=asked["members"] == "all",
            thresholds=Thresholds(asked["free_share"], parse_size(asked["free_size"], "free_size")),
            unit=asked["unit"],
            data_dir=asked["data_dir"] or "",
            **{name: asked[name] for name in ("in_turn", "pause", "wait", "timeout", "max_lag", "raise_memory")},
        )
        outcomes = run_defrag(request, connection_from_params(asked), check=module.check_mode)
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
