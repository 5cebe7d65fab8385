#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the flags that keep etcd within a memory budget."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_memory_plan
short_description: Find the flags that keep etcd within a memory budget
version_added: 0.1.0
description:
  - Finds flags that keep the peak memory of a member within a budget, in steady state and after a restart, with the smallest trade-offs.
  - Until the workload fits, the plan trades these away, in this order. Catch-up entries beyond 30 s of writes; headroom of Go's garbage
    collector, by GOMEMLIMIT (GOGC before etcd 3.5.8); time between two disk snapshots; catch-up entries down to 1000; page cache for the whole
    database; more of the collector's headroom, and a snapshot-count that is efficient for CPU and fsync; room for the leader's raft log while a
    follower receives a snapshot; a history of five minutes; catch-up entries down to 100, or 1 with a single member.
  - The history is longer than five minutes only if the whole database fits the budget and the index a quarter of it. The quota leaves
    room for free pages, and is at most 8 GiB.
  - Keeps the settings in O(settings), and shows their cost.
  - If no flags fit, the module fails, and reports the missing memory and small changes with which the workload would fit.
  - Needs no host with etcd; run it on the controller.
options:
  budget:
    description: The memory that a member may use, page cache included, in bytes or with a unit, for example V(2GB).
    type: raw
    required: true
  volume_size:
    description:
      - Size of the volume of the data directory, in bytes or with a unit. Limits the quota to nine tenths of it.
    type: raw
    version_added: 0.3.0
  settings:
    description:
      - Settings that the plan must keep, with the names of O(etcdops.headroom.etcd_memory_estimate#module:settings).
    type: dict
    default: {}
extends_documentation_fragment:
  - etcdops.headroom.memory
attributes:
  check_mode:
    description: Changes nothing.
    support: full
  diff_mode:
    description: There is nothing to compare.
    support: none
seealso:
  - module: etcdops.headroom.etcd_memory_estimate
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
# ansible localhost -m etcdops.headroom.etcd_memory_plan -a '{"version": "3.7.3", "workload": {"value_size": "100KB"}, "budget": "2GB"}'
- name: Plan for large values
  etcdops.headroom.etcd_memory_plan:
    version: 3.7.3
    members: 3
    budget: 2GB
    workload:
      value_size: 100KB
      keys: 20000
      puts_per_second: 200
  delegate_to: localhost
  register: plan

- name: Print the plan
  ansible.builtin.debug:
    msg: "{{ plan.report.splitlines() }}"
"""

RETURN = r"""
report:
  description: The plan as text for people.
  returned: success
  type: str
settings:
  description: Settings of etcd, for its config file, by the names of etcd 3.7's flags with underscores.
  returned: success
  type: dict
  sample:
    auto_compaction_mode: periodic
    auto_compaction_retention: 30s
    quota_backend_bytes: 6442450944
    snapshot_catchup_entries: 6000
    snapshot_count: 5000
environment:
  description: Environment variables for the unit.
  returned: success
  type: dict
  sample:
    GOMEMLIMIT: 1659MiB
memory_high:
  description: C(MemoryHigh) for the unit, in bytes.
  returned: success
  type: int
memory_max:
  description: C(MemoryMax) for the unit, in bytes.
  returned: success
  type: int
snapshot_puts_per_second:
  description: >-
    The puts a second, at most those of the workload, up to which C(MemoryMax) has room for the growth of the leader's raft log while a follower
    receives a snapshot.
  returned: success
  type: int
budget:
  description: The budget, in bytes.
  returned: success
  type: int
flags:
  description: All settings with their values and reasons.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The setting.
      type: str
    value:
      description: Its value.
      type: raw
    text:
      description: Its value for people.
      type: str
    reason:
      description: The reason, or the cost of a pinned setting.
      type: str
    source:
      description: V(computed), V(pinned) for a setting in O(settings), or V(default) if the value is the version's default.
      type: str
estimate:
  description: The estimate with these flags, as M(etcdops.headroom.etcd_memory_estimate) returns it.
  returned: success
  type: dict
notes:
  description: Remarks on the plan.
  returned: success
  type: list
  elements: str
version:
  description: The release.
  returned: success
  type: str
members:
  description: The number of members.
  returned: success
  type: int
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.for_release import CHOICES, plan_for_release
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.texts import plan_text


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "version": {"type": "str", "required": True},
            "workload": {"type": "dict", "default": {}},
            "settings": {"type": "dict", "default": {}},
            "members": {"type": "int", "default": 3},
            "budget": {"type": "raw", "required": True},
            "volume_size": {"type": "raw"},
            "unknown_version": {"type": "str", "default": "refuse", "choices": list(CHOICES)},
        },
        supports_check_mode=True,
    )
    given = module.params
    try:
        found = plan_for_release(
            given["version"],
            given["workload"],
            given["members"],
            given["budget"],
            given["settings"],
            given["volume_size"],
            given["unknown_version"],
        )
    except ValueError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, report=plan_text(found), **found)


if __name__ == "__main__":
    main()
