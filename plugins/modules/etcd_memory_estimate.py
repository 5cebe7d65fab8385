#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Estimate how much memory a member of etcd will need."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_memory_estimate
short_description: Estimate how much memory a member of etcd will need
version_added: 0.1.0
description:
  - Computes the peak memory of an etcd member, by component, from the workload, the version and the settings.
  - Needs no host with etcd; run it on the controller.
  - The formulas differ between series. On 3.5 the raft log in memory grows with C(snapshot_count). On 3.6 and 3.7 it does not, but a start replays the log
    since the last disk snapshot into memory.
options:
  settings:
    description:
      - Settings that differ from the version's defaults.
      - C(snapshot_count), C(snapshot_catchup_entries), C(quota_backend_bytes), C(auto_compaction_mode), C(auto_compaction_retention),
        C(max_request_bytes) and C(memory_mlock) as the flags of etcd, C(gogc) and C(gomemlimit) as Go's environment variables,
        C(memory_high) and C(memory_max) as systemd's properties.
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
  - module: etcdops.headroom.etcd_memory_plan
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
# ansible localhost -m etcdops.headroom.etcd_memory_estimate -a '{"version": "3.6.16", "workload": {"value_size": "100KB"}}'
- name: Estimate what a member with large values will need
  etcdops.headroom.etcd_memory_estimate:
    version: 3.6.16
    workload:
      value_size: 100KB
      keys: 20000
      puts_per_second: 200
    settings:
      snapshot_catchup_entries: 1000
  delegate_to: localhost
  register: estimate

- name: Print the estimate
  ansible.builtin.debug:
    msg: "{{ estimate.report.splitlines() }}"
"""

RETURN = r"""
report:
  description: The estimate as text for people.
  returned: success
  type: str
components:
  description: The components of the memory.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: The component.
      type: str
    kind:
      description:
        - V(heap) is always present, V(spike) only briefly, V(restart) at a start, V(defrag) during a defragmentation. V(file) is the mapped
          database.
      type: str
    low:
      description: Lower bound in bytes.
      type: int
    high:
      description: Upper bound in bytes.
      type: int
    why:
      description: The cause.
      type: str
heap_live:
  description: Bytes of the heap that are live at the peak.
  returned: success
  type: int
heap_peak:
  description: Bytes of the heap with garbage and short-lived objects.
  returned: success
  type: int
rss_anon_peak:
  description: The peak of the memory that the kernel cannot reclaim, in bytes.
  returned: success
  type: int
rss_file_peak:
  description: Bytes of the mapped database and program. The kernel can reclaim these pages and read them again.
  returned: success
  type: int
rss_peak:
  description: The sum of RV(rss_anon_peak) and RV(rss_file_peak).
  returned: success
  type: int
restart_heap_live:
  description: As RV(heap_live), right after a restart.
  returned: success
  type: int
restart_heap_peak:
  description: As RV(heap_peak), from the start of a member until it runs steadily again. Never less than RV(heap_peak).
  returned: success
  type: int
restart_rss_anon_peak:
  description:
    - As RV(rss_anon_peak), from the start of a member until it runs steadily again. Never less than RV(rss_anon_peak).
    - On 3.6 and later, up to snapshot-count entries of the write-ahead log are replayed into memory.
  returned: success
  type: int
raft_log_growth:
  description: Bytes by which the raft log of a leader grows while a follower receives a snapshot. 0 for a single member.
  returned: success
  type: int
  version_added: 0.3.0
follower_snapshot_rss_anon_peak:
  description:
    - As RV(rss_anon_peak), for the leader while a follower receives a snapshot and for 30 seconds after it, because etcd does not compact the
      raft log of the leader then.
    - A follower receives a snapshot when it was away for longer than the catch-up entries reach, and when it joins.
    - Not part of RV(memory_max_least).
  returned: success
  type: int
  version_added: 0.3.0
defrag_rss_anon_peak:
  description: As RV(rss_anon_peak), during a defragmentation. Not part of RV(memory_max_recommended).
  returned: success
  type: int
db_size:
  description: Bytes that the database file is expected to reach.
  returned: success
  type: int
db_in_use:
  description: Bytes of RV(db_size) that contain revisions.
  returned: success
  type: int
db_hot:
  description: Bytes of RV(db_size) that must stay in memory so that the member does not thrash.
  returned: success
  type: int
outside_go:
  description: Bytes needed outside Go's memory - RV(db_hot), the program, and the kernel's memory.
  returned: success
  type: int
memory_max_least:
  description: The smallest C(MemoryMax) with which the member runs, with room for RV(db_hot).
  returned: success
  type: int
memory_max_with_snapshot:
  description:
    - The smallest C(MemoryMax) of a leader while a follower receives a snapshot, with room for RV(db_hot).
    - May be below RV(memory_max_least), which has room for a restart.
  returned: success
  type: int
  version_added: 0.3.0
memory_max_recommended:
  description:
    - The recommended C(MemoryMax), with room for the whole RV(db_size) in the page cache, for a restart, and for a leader whose follower receives a
      snapshot.
    - Below it, etcd rereads evicted pages of the database from the disk, mostly during compaction and at a start.
  returned: success
  type: int
notes:
  description: Remarks on the estimate.
  returned: success
  type: list
  elements: str
assumed:
  description: The keys of the workload for which a default was used.
  returned: success
  type: list
  elements: str
workload:
  description: The workload with every default filled in.
  returned: success
  type: dict
settings:
  description: The settings with the version's defaults.
  returned: success
  type: dict
version:
  description: The release.
  returned: success
  type: str
series:
  description: The series whose rules were used.
  returned: success
  type: str
  sample: "3.6"
members:
  description: The number of members.
  returned: success
  type: int
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.for_release import CHOICES, estimate_for_release
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.texts import estimate_text


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "version": {"type": "str", "required": True},
            "workload": {"type": "dict", "default": {}},
            "settings": {"type": "dict", "default": {}},
            "members": {"type": "int", "default": 3},
            "unknown_version": {"type": "str", "default": "refuse", "choices": list(CHOICES)},
        },
        supports_check_mode=True,
    )
    given = module.params
    try:
        figures = estimate_for_release(
            given["version"], given["workload"], given["settings"], given["members"], given["unknown_version"]
        )
    except ValueError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, report=estimate_text(figures), **figures)


if __name__ == "__main__":
    main()
