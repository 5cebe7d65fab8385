#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin etcd_report, which runs on the controller without a module."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_report
short_description: Print the plan of each etcd cluster next to measured values
version_added: 0.1.0
description:
  - Prints for each cluster the health of its members, their planned and measured memory, the fsync latency of their volumes,
    the I/O classes of etcd's threads, and the computed flags with their reasons.
  - Prints problems first.
  - With more than four clusters, prints one line for each cluster and then all problems.
  - Runs on the controller and connects to no host. Run it once for all hosts.
options:
  members:
    description: Facts about each member. All keys except the host are optional.
    type: list
    elements: dict
    required: true
    suboptions:
      host:
        description: Name of the host.
        type: str
        required: true
      cluster:
        description: Name of the member's cluster.
        type: str
        default: etcd
      name:
        description: Name of the member. Defaults to the name that etcd reports, or to the host's name.
        type: str
      info:
        description: The result of M(etcdops.headroom.etcd_cluster_info).
        type: dict
      plan:
        description: The result of M(etcdops.headroom.etcd_memory_plan).
        type: dict
      fio:
        description:
          - The keys C(data) and C(wal), each a dictionary with C(p99_us) and C(limit_us), as
            M(etcdops.headroom.etcd_disk_check) returns them.
        type: dict
      live:
        description: The result of M(etcdops.headroom.etcd_disk_live_info). Shown next to the latencies of C(fio).
        type: dict
        version_added: 0.3.0
      maintenance:
        description:
          - The last record of each operation with a timer (C(snapshot), C(drill), C(defrag), C(integrity)), as
            M(etcdops.headroom.etcd_maintenance) returns it; empty if it has not run. If its last run failed, the report lists a problem.
          - If the newest backup of the cluster is older than two days, and than twice the C(interval) of these records in seconds, the report lists a
            problem. Without an interval, that is a week.
        type: dict
        version_added: 0.3.0
      certificates:
        description: The result of M(etcdops.headroom.etcd_tls_info).
        type: dict
        version_added: 0.3.0
      warnings:
        description: Warnings, as sentences. A warning that several members share is printed once.
        type: list
        elements: str
        version_added: 0.3.0
      notes:
        description: Explanations, as sentences, printed at the end.
        type: list
        elements: str
        version_added: 0.3.0
attributes:
  check_mode:
    description: Can run in check mode, with the same result.
    support: full
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Report on the deployment
  etcdops.headroom.etcd_report:
    members:
      - host: etcd-1
        cluster: demo
        info: "{{ hostvars['etcd-1'].info }}"
        plan: "{{ hostvars['etcd-1'].plan }}"
        fio:
          data: {p99_us: 1900, limit_us: 10000}
  run_once: true
  delegate_to: localhost
"""

RETURN = r"""
lines:
  description: The lines that were printed.
  returned: always
  type: list
  elements: str
"""
