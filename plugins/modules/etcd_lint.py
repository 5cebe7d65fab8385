#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of the action plugin etcd_lint, which runs on the controller without a module."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_lint
short_description: Lint the inventory of this run with Headroom's policies
version_added: 0.1.0
description:
  - Checks every etcd cluster of the inventory against Headroom's policies with L(conftest,https://www.conftest.dev), before anything is deployed.
  - Checks the inventory as Ansible resolved it for this run, from any source including INI and dynamic inventories, with the
    variables of C(-e), with the vaults that this run can open, and with templates that need no facts. Reports values that are unknown.
  - Prints one line for each finding, warnings first, then a table of the rules with findings. Fails if a policy denies.
  - Runs on the controller and connects to no host. Run it once for all hosts.
extends_documentation_fragment:
  - etcdops.headroom.conftest
options:
  files:
    description:
      - Further files and folders that configure etcd, to lint together with the inventory, for example systemd units, environment files and manifests.
      - C(docs/formats.md) lists the formats. A named file that cannot be read is an error.
    type: list
    elements: path
    default: []
    version_added: 0.3.0
  gate:
    description:
      - Lint at the start of a playbook that deploys.
      - If conftest or the policies are missing, print a message and continue instead of failing.
      - With C(--limit), a denial that names only hosts outside the run is printed, and does not fail.
    type: bool
    default: false
  suggest:
    description:
      - Also print a unified diff with the values that fix findings, such as an C(etcd_version) without known defects. No file is edited.
      - The diff covers YAML files of the inventory, and C(group_vars) and C(host_vars) next to them. If it is not certain which of these files sets a
        value, the value is printed without a diff.
    type: bool
    default: false
    version_added: 0.3.0
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
    - name: Check all clusters
      etcdops.headroom.etcd_lint:

    - name: Check with your own thresholds
      etcdops.headroom.etcd_lint:
        conftest: /opt/tools/conftest
        data: [thresholds.yml]
"""

RETURN = r"""
linted:
  description: Whether the policies were checked; false if conftest is missing and O(gate) is set.
  returned: success
  type: bool
  sample: true
denied:
  description: The denials, one line each.
  returned: on failure by a policy
  type: list
  elements: str
  sample:
    - "compaction/off: etcd-1: auto-compaction-retention is not set, and by default etcd keeps every revision ever written"
warned:
  description: The warnings, one line each.
  returned: when linted
  type: list
  elements: str
  sample:
    - "topology/even_members: etcd-1, etcd-2: cluster \"main\" has 2 members, which tolerate only as many failures as 1. Add or remove a member"
suggested:
  description: The unified diff as C(git apply) takes it, empty if no finding can be fixed by a value.
  returned: when linted with O(suggest)
  type: str
msg:
  description: The number of denials and warnings, or why nothing was linted.
  returned: always
  type: str
  sample: 0 denials, 1 warning
"""
