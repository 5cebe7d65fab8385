#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin etcd_lint; it runs on the controller, and there is no module."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_lint
short_description: Lint the inventory of this run with Headroom's policies
version_added: 0.1.0
description:
  - Judges every etcd cluster of the inventory by Headroom's policies, before anything is deployed, with L(conftest,https://www.conftest.dev).
  - The inventory is taken as Ansible has resolved it for this run, from any source, INI and dynamic ones among them, with the
    variables of C(-e), with vaults that this run can open, and with templates that need no facts. What stays unknown is said to be so.
  - Prints one line for each finding, warnings first, then a table of the rules that spoke, and fails if a policy denies.
  - Runs on the controller and connects to no host. Use it once for all hosts.
options:
  conftest:
    description: Name or path of conftest on the controller.
    type: str
    default: conftest
  policies:
    description: Folder of the policies. Default is the one that comes with this collection.
    type: path
  data:
    description: Files or folders with data of your own, for example other thresholds.
    type: list
    elements: path
    default: []
  gate:
    description: Say so and go on, instead of failing, where conftest or the policies are missing.
    type: bool
    default: false
  timeout:
    description: Seconds that conftest may take.
    type: int
    default: 120
attributes:
  check_mode:
    description: Can run in check mode, with the same result.
    support: full
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Lint the inventory
  hosts: localhost
  gather_facts: false
  tasks:
    - name: Lint
      etcdops.headroom.etcd_lint:

    - name: Lint with limits of your own
      etcdops.headroom.etcd_lint:
        conftest: /opt/tools/conftest
        data: [thresholds.yml]
"""

RETURN = r"""
linted:
  description: Whether the policies were asked; not where conftest is missing and O(gate) is set.
  returned: success
  type: bool
  sample: true
denied:
  description: The denials, each a line.
  returned: on failure by a policy
  type: list
  elements: str
  sample:
    - "compaction/off: etcd-1: auto-compaction-retention is not set, and etcd's default keeps every revision ever written"
warned:
  description: The warnings, each a line.
  returned: when linted
  type: list
  elements: str
  sample:
    - "topology/even_members: etcd-1, etcd-2: cluster \"main\" has 2 members, which tolerate no more failures than 1. Add or remove a member"
msg:
  description: How many denials and warnings there are, or why nothing was linted.
  returned: always
  type: str
  sample: 0 denials, 1 warning
"""
