#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Restore the newest backup of an etcd cluster for a moment and compare it with the cluster."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_restore_drill
short_description: Restore the newest backup of an etcd cluster for a moment and compare it with the cluster
version_added: 0.2.0
description:
  - A backup counts only after its drill. This verifies the newest snapshot that M(etcdops.headroom.etcd_snapshot) saved, restores it into a folder of
    its own, starts etcd on it, and compares it with the cluster at the snapshot's revision - the number of keys, and the hash that etcd itself compares
    its members by.
  - The restored member listens on unix sockets in that folder and nowhere else. Its memory, time and priority are bounded, and it is removed whatever
    happens.
  - If the cluster has compacted the snapshot's revision, that hash cannot be had any more. Then the cluster's keys that are as old as the snapshot have to
    be in it, unchanged if they are unchanged since. RV(compared) says which it was.
  - What passed is recorded beside the snapshot. Retention keeps the newest that passed.
  - It fails if the backup does. The cluster is only read, in which it reads the database of one member once.
extends_documentation_fragment:
  - etcdops.headroom.etcdctl
  - etcdops.headroom.etcdctl.tls
options:
  src:
    description: The directory with the snapshots. Either this or O(path) is required.
    type: path
  name:
    description: What the names of the snapshots in O(src) start with.
    type: str
    default: etcd
  path:
    description: The one snapshot to restore, instead of the newest.
    type: path
  live:
    description: Whether to compare with the cluster. Without it the snapshot is restored, started and counted only, which is not recorded.
    type: bool
    default: true
  identity_file:
    description: The secret key for a snapshot that is encrypted. For C(gpg) the user's keys are tried without it.
    type: path
  scratch_dir:
    description: Where the folder for the restored member is made. It takes twice the snapshot and 160 MB, and the snapshot once more if it is encrypted.
    type: path
    default: /var/tmp
  reserve:
    description: How much has to stay free in O(scratch_dir) beside that, in bytes or with a unit (1 KB = 1024 bytes).
    type: str
    default: 256MB
  memory_max:
    description: How much memory the restored member may use, without the pages of its database that the kernel can drop.
    type: str
    default: 1GB
  etcd_path:
    description: The etcd to start. Default is the one beside the etcdutl that O(etcdutl_path) leads to.
    type: path
  etcdutl_path:
    description: The etcdutl to restore with, of the members' minor version.
    type: path
    default: /usr/local/bin/etcdutl
  timeout:
    description: Seconds that the drill may take.
    type: int
    default: 1800
attributes:
  check_mode:
    description: Says which snapshot it would restore and beside which member it would hold it, and fails if there is none, or no room.
    support: full
  diff_mode:
    description: There is nothing to show.
    support: none
  platform:
    description: Linux.
    support: full
    platforms: linux
seealso:
  - module: etcdops.headroom.etcd_snapshot
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Try the newest backup
  etcdops.headroom.etcd_restore_drill:
    src: /var/backups/etcd
  run_once: true
  register: drill

- name: Say what it was worth
  ansible.builtin.debug:
    msg: "{{ drill.msg }}"

- name: See what a backup holds while the cluster is lost
  etcdops.headroom.etcd_restore_drill:
    path: /var/backups/etcd/etcd-20261121T101500Z.db
    live: false
"""

RETURN = r"""
msg:
  description: What was found, as a sentence.
  type: str
  returned: always
  sample: >-
    /var/backups/etcd/etcd-20261121T101500Z.db (revision 8123, 20.0 MiB) restored and served after 2.1 s; 2000 keys and hash 5ab1c2d3 are those of etcd-2 at
    revision 8123.
path:
  description: The snapshot.
  type: str
  returned: success
  sample: /var/backups/etcd/etcd-20261121T101500Z.db
metadata:
  description: What is recorded beside the snapshot, as M(etcdops.headroom.etcd_snapshot) returns it.
  type: dict
  returned: success
revision:
  description: The revision at which both were read.
  type: int
  returned: success, not in check mode
  sample: 8123
keys:
  description: Number of keys at that revision; null if the snapshot has auth enabled, as it cannot be read without a password then.
  type: int
  returned: success, not in check mode
  sample: 2000
hash:
  description: The hash of the keys, as C(etcdctl endpoint hashkv) prints it, in hexadecimal.
  type: str
  returned: success, not in check mode
  sample: 5ab1c2d3
compact_revision:
  description: The revision up to which both were compacted when that hash was taken.
  type: int
  returned: success, not in check mode
  sample: 7000
compared:
  description:
    - V(hash) if everything was compared, V(keys) if the cluster has compacted the snapshot's revision and those of its keys that are as old were.
    - V(nothing) if no key is as old, and with O(live=false).
  type: str
  returned: success, not in check mode
  sample: hash
keys_compared:
  description: Number of keys that were compared.
  type: int
  returned: success, not in check mode
  sample: 2000
member:
  description: The member that it was compared with; empty with O(live=false).
  type: str
  returned: success
  sample: etcd-2
seconds:
  description: What it took until the restored member served.
  type: float
  returned: success, not in check mode
  sample: 2.1
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import drill as backup_drill
from ansible_collections.etcdops.headroom.plugins.module_utils._base.signals import exit_on_signals
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size, parse_size
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import (
    CONNECTION_ARGUMENTS,
    connection_from_params,
)


def drill(module: AnsibleModule) -> None:
    """Hold the drill, or say what it would be."""
    asked = module.params
    request = backup_drill.Request(
        directory=asked["src"] or "",
        prefix=asked["name"],
        path=asked["path"] or "",
        scratch_dir=asked["scratch_dir"],
        memory_max=parse_size(asked["memory_max"], "memory_max"),
        reserve=parse_size(asked["reserve"], "reserve"),
        timeout=asked["timeout"],
        live=asked["live"],
        identity_file=asked["identity_file"] or "",
    )
    etcd_path = asked["etcd_path"] or backup_drill.etcd_beside(asked["etcdutl_path"])
    tools = backup_drill.Tools(connection_from_params(asked), etcd_path, asked["etcdutl_path"])
    if module.check_mode:
        planned = backup_drill.plan(request, tools, asked["endpoints"])
        beside = f" and compare it with {planned.member.name}" if planned.member else ""
        module.exit_json(
            changed=False,
            msg=f"Would restore {planned.path} in {request.scratch_dir}, which takes {format_size(planned.needed)}{beside}.",
            path=planned.path,
            metadata=planned.metadata.as_dict(),
            member=planned.member.name if planned.member else "",
        )
    report = backup_drill.hold(request, tools, asked["endpoints"])
    finding = report.finding.as_dict()
    finding.pop("sentence")
    module.exit_json(
        changed=False,
        msg=report.reason,
        path=report.plan.path,
        metadata=report.plan.metadata.as_dict(),
        seconds=round(report.seconds, 3),
        **finding,
    )


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            **{name: spec for name, spec in CONNECTION_ARGUMENTS.items() if name != "unit"},
            "src": {"type": "path"},
            "name": {"type": "str", "default": "etcd"},
            "path": {"type": "path"},
            "live": {"type": "bool", "default": True},
            "identity_file": {"type": "path"},
            "scratch_dir": {"type": "path", "default": "/var/tmp"},
            "reserve": {"type": "str", "default": "256MB"},
            "memory_max": {"type": "str", "default": "1GB"},
            "etcd_path": {"type": "path"},
            "etcdutl_path": {"type": "path", "default": "/usr/local/bin/etcdutl"},
            "timeout": {"type": "int", "default": 1800},
        },
        required_one_of=[("src", "path")],
        mutually_exclusive=[("src", "path")],
        supports_check_mode=True,
    )
    exit_on_signals()
    try:
        drill(module)
    except ValueError as error:
        module.fail_json(msg=str(error))


if __name__ == "__main__":
    main()
