#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin etcd_audit, which runs on the controller without a module."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_audit
short_description: Check a running etcd cluster against Headroom's policies
version_added: 0.3.0
description:
  - Plans the memory of the members for the measured workload, and prints the plan as M(etcdops.headroom.etcd_plan_report) does. Members of different series
    get a plan for each series, in the spelling of that series. Members whose release is unknown get none.
  - The planned quota is above the largest database file, and below nine tenths of the smallest volume of the data in O(processes).
  - Checks the results of M(etcdops.headroom.etcd_workload_info) against the policies of M(etcdops.headroom.etcd_lint), with
    L(conftest,https://www.conftest.dev). Prints the members and one line for each finding. Fails if a policy denies.
  - Rules C(live/*) check alarms, health, quota usage, free pages, lag, disk latencies, leader changes, the certificate of the client port and
    hashes. Other rules check releases, names, URLs and sizes.
  - A running member does not report its other settings, so rules that need them find nothing without O(processes).
  - Runs on the controller and connects to no host.
extends_documentation_fragment:
  - etcdops.headroom.conftest
options:
  measured:
    description: The result of M(etcdops.headroom.etcd_workload_info).
    type: dict
    required: true
  comparison:
    description:
      - RV(etcdops.headroom.etcd_cluster_info#module:comparison) of M(etcdops.headroom.etcd_cluster_info), to also check hashes.
      - If it was made in another cluster than O(measured), it is left out, and RV(unchecked) says so. It also lists members that were not compared.
      - Without a comparison, C(problem) may be the reason, for RV(unchecked).
    type: dict
    default: {}
  processes:
    description: The results of M(etcdops.headroom.etcd_process_info) on the members' hosts, to also check all settings, limits, disks and certificates.
    type: list
    elements: dict
    default: []
  backups:
    description: RV(etcdops.headroom.etcd_process_info#module:backups) of all hosts, to also check the age of the newest backup.
    type: list
    elements: dict
    default: []
  backup_dirs:
    description: The directories in which M(etcdops.headroom.etcd_process_info) was to look for backups. If it did so on no host, RV(unchecked) says so.
    type: list
    elements: str
    default: []
  unread_hosts:
    description:
      - Why M(etcdops.headroom.etcd_process_info) returned no process on a host, by the host's name in the inventory.
      - RV(unchecked) lists them.
    type: dict
    default: {}
  budget:
    description: Memory that a member may use, for the plan. Defaults to the smallest budget without trade-offs.
    type: raw
  report:
    description:
      - File to draw the plan to, as O(etcdops.headroom.etcd_plan_report#module:report) - of the newest series for which there is a plan.
    type: str
  output:
    description:
      - File to write. Its extension determines the format - C(.json), C(.sarif) or C(.html). Check mode writes neither this file nor O(report).
      - HTML has the plan's picture if matplotlib is installed on the controller.
    type: path
attributes:
  check_mode:
    description: Can run in check mode, with the same result, but writes no file.
    support: full
seealso:
  - module: etcdops.headroom.etcd_workload_info
  - module: etcdops.headroom.etcd_plan_report
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
# Without a task: ansible-playbook etcdops.headroom.audit -e endpoints=https://10.0.0.11:2379
- name: Measure the cluster
  etcdops.headroom.etcd_workload_info:
    endpoints: ["https://10.0.0.11:2379"]
  register: measured

- name: Check the cluster against the policies
  etcdops.headroom.etcd_audit:
    measured: "{{ measured }}"

- name: Compare the data of the members
  etcdops.headroom.etcd_cluster_info:
    endpoints: ["https://10.0.0.11:2379"]
    compare_hashes: true
  register: compared

- name: Check the cluster and its data against the policies
  etcdops.headroom.etcd_audit:
    measured: "{{ measured }}"
    comparison: "{{ compared.comparison }}"
"""

RETURN = r"""
denied:
  description: The denials, one line each.
  returned: always
  type: list
  elements: str
  sample: ["live/alarm: https://10.0.0.11:2379: etcd-1: the alarm NOSPACE is set"]
warned:
  description: The warnings, one line each.
  returned: always
  type: list
  elements: str
  sample: ["version/known_defects: https://10.0.0.11:2379: etcd-1: etcd 3.7.0 has a known defect"]
unchecked:
  description:
    - What could not be checked and why, one line each - hosts and processes that could not be read, processes that match no member, certificates,
      statuses, metrics and directories of backups.
    - O(output) has them too, in SARIF as notifications of the run.
  returned: always
  type: list
  elements: str
  sample: ["etcd with PID 1201 on master-1: its /proc/PID/environ and /proc/PID/root may not be read: run as root (become)"]
msg:
  description: The number of denials and warnings.
  returned: always
  type: str
  sample: 0 denials, 1 warning
"""
