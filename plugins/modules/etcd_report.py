#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin etcd_report; it runs on the controller, and there is no module."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_report
short_description: Print what was planned for etcd and what was measured
version_added: 0.1.0
description:
  - Prints, for each cluster, its members with their health and their memory as planned and as measured, the volumes
    with their fsync latency, the I/O class of all threads, and the flags that were computed, each with its reason.
  - What is wrong is said first.
  - With more than four clusters it prints one line for each, and what is wrong.
  - Runs on the controller and connects to no host. Use it once for all hosts.
options:
  members:
    description: What is known of each member. All but the host may be missing.
    type: list
    elements: dict
    required: true
    suboptions:
      host:
        description: Name of the host.
        type: str
        required: true
      cluster:
        description: Name of its cluster.
        type: str
        default: etcd
      name:
        description: Name of the member. Default is the one that etcd says, or the host's.
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
        description: The result of M(etcdops.headroom.etcd_disk_live_info). It is shown beside the figures of C(fio).
        type: dict
        version_added: 0.2.0
      warnings:
        description: What one should look at, in sentences. Those of several members are printed once.
        type: list
        elements: str
        version_added: 0.2.0
      notes:
        description: Why things are as they are, in sentences, printed at the end.
        type: list
        elements: str
        version_added: 0.2.0
attributes:
  check_mode:
    description: Can run in check mode, with the same result.
    support: full
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Report
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
