#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin etcd_plan_report, which runs on the controller without a module."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_plan_report
short_description: Print and draw a plan of etcd's memory
version_added: 0.3.0
description:
  - Computes the plan of M(etcdops.headroom.etcd_memory_plan) and prints it. Shows the workload and which values are assumed,
    each flag with its reason, the memory with etcd's default flags and with the planned flags, and lines to copy into a systemd unit.
  - With O(report), also writes a picture of the plan, or a page with the picture and the tables.
  - Assumes a default for each missing value, and marks it.
  - Runs on the controller and connects to no host.
options:
  version:
    description: The release of etcd, for example V(3.6.16). Defaults to the newest known release.
    type: str
    required: false
  members:
    description: Number of members in the cluster. Defaults to 3.
    type: int
  budget:
    description:
      - Memory that a member may use, page cache included, in bytes or with a unit, for example V(2GB).
      - Defaults to the smallest budget without any of the trade-offs that M(etcdops.headroom.etcd_memory_plan) lists, except catch-up entries beyond
        30 s of writes. The report then also states the smallest budget that fits at all. If O(settings) has C(gomemlimit) or
        C(memory_high), 95 % of the default is at least as large; if it has C(memory_max), that is the default.
    type: raw
  settings:
    description: Settings that the plan must keep, with the names of O(etcdops.headroom.etcd_memory_estimate#module:settings).
    type: dict
    default: {}
  volume_size:
    description: Size of the volume of the data directory, in bytes or with a unit. Limits the quota to nine tenths of it.
    type: raw
  report:
    description:
      - File to write on the controller, relative to the folder in which Ansible was started. Its extension is V(.html), V(.svg) or V(.png).
      - Requires matplotlib for Ansible's Python.
      - The file of an unchanged plan is identical, and is not rewritten.
    type: str
extends_documentation_fragment:
  - etcdops.headroom.memory
attributes:
  check_mode:
    description: Computes and prints the plan, and writes nothing.
    support: full
  diff_mode:
    description: A picture cannot be compared line by line.
    support: none
seealso:
  - module: etcdops.headroom.etcd_memory_plan
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
# Without a task: ansible-playbook etcdops.headroom.plan -e '{"etcd_workload": {"value_size": "100KB"}}' -e report=plan.html
- name: Print the plan and draw it
  etcdops.headroom.etcd_plan_report:
    version: 3.7.3
    workload:
      value_size: 100KB
      keys: 20000
      puts_per_second: 200
    budget: 2GB
    report: plan.html
  delegate_to: localhost
"""

RETURN = r"""
lines:
  description: The lines that were printed.
  returned: success
  type: list
  elements: str
plan:
  description: The plan, as M(etcdops.headroom.etcd_memory_plan) returns it.
  returned: success
  type: dict
report:
  description: Path of the written file, if O(report) is set and there is a plan.
  returned: success
  type: str
"""
