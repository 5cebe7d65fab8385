#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin etcd_plan_report; it runs on the controller, and there is no module."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_plan_report
short_description: Print and draw a plan of etcd's memory
version_added: 0.2.0
description:
  - Plans as M(etcdops.headroom.etcd_memory_plan) does, and prints the plan for people. It shows the workload with what was assumed,
    each flag with its reason, the memory with etcd's default flags and with the planned ones, and what to copy into a unit.
  - With O(report) it also writes a picture of it, or a page with the picture and the tables.
  - Whatever is not given is assumed, and marked so.
  - Runs on the controller and connects to no host.
options:
  version:
    description: The release of etcd, for example V(3.6.16). Default is the newest known one.
    type: str
    required: false
  members:
    description: How many members the cluster has. Default is 3.
    type: int
  budget:
    description:
      - The memory that a member may take, page cache included, in bytes or with a unit, as in V(2GB).
      - Default is the least with which nothing is given up, that is, with catch-up entries for 30 s of writes and without GOMEMLIMIT
        holding the heap down. The report says so, and what the least is that any flags fit.
    type: raw
  settings:
    description: Settings that the plan must keep, by the names that M(etcdops.headroom.etcd_memory_estimate) takes.
    type: dict
    default: {}
  volume_size:
    description: Size of the volume that holds the data directory, in bytes or with a unit. The quota then is at most nine tenths of it.
    type: raw
  report:
    description:
      - File to write on the controller, relative to the folder in which Ansible was started. It ends in V(.html), V(.svg) or V(.png).
      - Needs matplotlib for the Python of Ansible.
      - The same plan gives the same bytes, and a file that holds them already is left alone.
    type: str
extends_documentation_fragment:
  - etcdops.headroom.memory
attributes:
  check_mode:
    description: Plans and prints, and writes nothing.
    support: full
  diff_mode:
    description: A picture has no lines to compare.
    support: none
seealso:
  - module: etcdops.headroom.etcd_memory_plan
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
# The same without a task: ansible-playbook etcdops.headroom.plan -e '{"etcd_workload": {"value_size": "100KB"}}' -e report=plan.html
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
  description: Path of the file, if one was asked for.
  returned: success
  type: str
"""
