#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make a snapshot of a stopped etcd member's data."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_rescue
short_description: Make a snapshot of a stopped etcd member's data
version_added: 0.2.0
description:
  - For a cluster that has lost its quorum for good and has no newer backup. What a surviving member holds becomes a snapshot that can be verified and
    restored like any other. The playbook C(etcdops.headroom.restore_lost_quorum) does all of it; use that.
  - The data is copied, and etcd is started on the copy with C(--force-new-cluster), so that what the member had written to its WAL and not yet to its database
    is not lost. That etcd listens on unix sockets in the folder of the copy and nowhere else. The member's own data is only read.
  - Of two members, the one whose snapshot has the higher revision knows more. What the lost members alone knew cannot be rescued.
options:
  dest:
    description: The directory for the snapshot, called C(rescued-DATE.db). It has to hold a copy of data and WAL for a while.
    type: path
    required: true
  member:
    description: The member's name.
    type: str
    required: true
  data_dir:
    description: The member's data dir.
    type: path
    default: /var/lib/etcd/data
  wal_dir:
    description: The member's WAL dir, if it is not in the data dir.
    type: path
  memory_max:
    description: How much memory the etcd on the copy may use, without the pages of its database that the kernel can drop.
    type: str
    default: 4GB
  etcd_path:
    description: The etcd to start, of the member's release. Default is the one beside the etcdutl that O(etcdutl_path) leads to.
    type: path
  etcdctl_path:
    description: The etcdctl to ask it with.
    type: path
    default: /usr/local/bin/etcdctl
  etcdutl_path:
    description: The etcdutl to verify with, of the member's minor version.
    type: path
    default: /usr/local/bin/etcdutl
  timeout:
    description: Seconds that all of it may take.
    type: int
    default: 1800
attributes:
  check_mode:
    description: Looks whether there is data that no etcd runs on, and room; makes nothing.
    support: full
  diff_mode:
    description: There is nothing to show.
    support: none
  platform:
    description: Linux.
    support: full
    platforms: linux
seealso:
  - module: etcdops.headroom.etcd_restore
  - module: etcdops.headroom.etcd_snapshot
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Make a snapshot of what is left
  etcdops.headroom.etcd_rescue:
    dest: /var/backups/etcd
    member: etcd-3
  register: rescued
"""

RETURN = r"""
msg:
  description: What was done, or would be, as a sentence.
  type: str
  returned: always
path:
  description: The snapshot; empty in check mode.
  type: str
  returned: success
  sample: /var/backups/etcd/rescued-20261121T101500Z.db
revision:
  description: The revision of the newest change in it; 0 in check mode.
  type: int
  returned: success
  sample: 8123
metadata:
  description: What is recorded beside it, as M(etcdops.headroom.etcd_snapshot) returns it.
  type: dict
  returned: success, not in check mode
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import drill, scratch_member
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import rescue as backup_rescue
from ansible_collections.etcdops.headroom.plugins.module_utils._base.signals import exit_on_signals
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size, parse_size


def rescue(module: AnsibleModule) -> None:
    """Make the snapshot, or see whether it could be made."""
    asked = module.params
    request = backup_rescue.Request(
        member=asked["member"],
        data_dir=asked["data_dir"],
        wal_dir=asked["wal_dir"] or "",
        directory=asked["dest"],
        memory_max=parse_size(asked["memory_max"], "memory_max"),
        timeout=asked["timeout"],
    )
    if module.check_mode:
        source = backup_rescue.look(request)
        scratch_member.check_parent(request.directory, backup_rescue.needed(source))
        said = f"Would make a snapshot of the {format_size(source.size)} in {request.data_dir}."
        module.exit_json(changed=True, msg=said, path="", revision=0)
    etcd_path = asked["etcd_path"] or drill.etcd_beside(asked["etcdutl_path"])
    tools = backup_rescue.Tools(etcd_path, asked["etcdctl_path"], asked["etcdutl_path"])
    path, metadata = backup_rescue.rescue(request, tools)
    said = f"Rescued {format_size(metadata.size)} of {metadata.member} at revision {metadata.revision} as {path}."
    module.exit_json(changed=True, msg=said, path=path, revision=metadata.revision, metadata=metadata.as_dict())


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "dest": {"type": "path", "required": True},
            "member": {"type": "str", "required": True},
            "data_dir": {"type": "path", "default": "/var/lib/etcd/data"},
            "wal_dir": {"type": "path"},
            "memory_max": {"type": "str", "default": "4GB"},
            "etcd_path": {"type": "path"},
            "etcdctl_path": {"type": "path", "default": "/usr/local/bin/etcdctl"},
            "etcdutl_path": {"type": "path", "default": "/usr/local/bin/etcdutl"},
            "timeout": {"type": "int", "default": 1800},
        },
        supports_check_mode=True,
    )
    exit_on_signals()
    try:
        rescue(module)
    except ValueError as error:
        module.fail_json(msg=str(error))


if __name__ == "__main__":
    main()
