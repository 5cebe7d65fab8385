#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Restore the newest backup of an etcd cluster into a temporary member and compare it with the cluster."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_restore_drill
short_description: Restore a backup of an etcd cluster into a temporary member and compare it with the cluster
version_added: 0.3.0
description:
  - Verifies the newest snapshot that M(etcdops.headroom.etcd_snapshot) saved, restores it into a temporary folder, starts etcd on it, and compares it
    with the cluster at the snapshot's revision - the number of keys, and the hash with which etcd itself compares its members.
  - The restored member listens only on unix sockets in that folder. Its memory, time and priority are limited, and it is always removed.
  - If the cluster has compacted the snapshot's revision, that hash is no longer available. The module then checks that keys which the cluster had at the
    time of the snapshot are in it, and equal if they have not changed since. RV(compared) is the kind of comparison.
  - Records a passed drill next to the snapshot. Retention keeps the newest snapshot that passed.
  - Fails if the backup does not pass. Only reads from the cluster; it reads the database of one member once.
extends_documentation_fragment:
  - etcdops.headroom.etcdctl
  - etcdops.headroom.etcdctl.tls
options:
  src:
    description: Directory of the snapshots. Either this or O(path) is required.
    type: path
  name:
    description: Prefix of the names of the snapshots in O(src).
    type: str
    default: etcd
  path:
    description: Snapshot to restore instead of the newest.
    type: path
  live:
    description: Whether to compare with the cluster. If false, restores and starts the snapshot and counts its keys, and records nothing.
    type: bool
    default: true
  identity_file:
    description: Secret key for an encrypted snapshot. Defaults to the user's keyring for C(gpg).
    type: path
  scratch_dir:
    description: Directory for the temporary folder. Requires twice the snapshot's size and 160 MB, or three times for an encrypted snapshot.
    type: path
    default: /var/tmp
  reserve:
    description: Space that must stay free in O(scratch_dir) in addition, in bytes or with a unit (1 KB = 1024 bytes).
    type: str
    default: 256MB
  memory_max:
    description: Memory limit of the restored member, without reclaimable pages of its database.
    type: str
    default: 1GB
  etcd_path:
    description: Path of the etcd to start. Defaults to the etcd in the same folder as O(etcdutl_path), with links resolved.
    type: path
  etcdutl_path:
    description: Path of etcdutl, of the members' minor version.
    type: path
    default: /usr/local/bin/etcdutl
  timeout:
    description: Time limit of the drill, in seconds.
    type: int
    default: 1800
attributes:
  check_mode:
    description:
      - Returns the snapshot that would be restored and the member to compare with. Fails without a snapshot or enough space.
      - RV(msg) names the temporary folders of killed runs that would be removed.
    support: full
  diff_mode:
    description: There is no content to compare.
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
- name: Test the newest backup
  etcdops.headroom.etcd_restore_drill:
    src: /var/backups/etcd
  run_once: true
  register: drill

- name: Print the result
  ansible.builtin.debug:
    msg: "{{ drill.msg }}"

- name: Count the keys of a backup while the cluster is down
  etcdops.headroom.etcd_restore_drill:
    path: /var/backups/etcd/etcd-20261121T101500Z.db
    live: false
"""

RETURN = r"""
msg:
  description: The result, as a sentence.
  type: str
  returned: always
  sample: >-
    /var/backups/etcd/etcd-20261121T101500Z.db (revision 8123, 20.0 MiB) restored and served after 2.1 s; 2000 keys and hash 5ab1c2d3 are equal to
    those of etcd-2 at revision 8123.
path:
  description: The snapshot.
  type: str
  returned: success
  sample: /var/backups/etcd/etcd-20261121T101500Z.db
metadata:
  description: The snapshot's record, as M(etcdops.headroom.etcd_snapshot) returns it.
  type: dict
  returned: success
revision:
  description: Revision of the comparison.
  type: int
  returned: success, not in check mode
  sample: 8123
keys:
  description:
    - Number of keys at that revision, also of a snapshot with authentication, which the drill disables in the restored copy.
    - Null if that is not possible, because the database cannot be parsed.
  type: int
  returned: success, not in check mode
  sample: 2000
hash:
  description: The hash of the keys, as C(etcdctl endpoint hashkv) prints it, in hexadecimal.
  type: str
  returned: success, not in check mode
  sample: 5ab1c2d3
compact_revision:
  description: Compact revision of both when the hash was computed.
  type: int
  returned: success, not in check mode
  sample: 7000
compared:
  description:
    - V(hash) if everything was compared, V(keys) if the cluster has compacted the snapshot's revision and its keys of that age were compared.
    - V(nothing) if all keys are newer than the snapshot, and with O(live=false).
  type: str
  returned: success, not in check mode
  sample: hash
keys_compared:
  description: Number of compared keys.
  type: int
  returned: success, not in check mode
  sample: 2000
member:
  description: Member that the snapshot was compared with; empty with O(live=false).
  type: str
  returned: success
  sample: etcd-2
seconds:
  description: Seconds until the restored member served.
  type: float
  returned: success, not in check mode
  sample: 2.1
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import drill as backup_drill
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import scratch_folder
from ansible_collections.etcdops.headroom.plugins.module_utils._base.signals import exit_on_signals
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size, parse_size
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import (
    CONNECTION_ARGUMENTS,
    connection_from_params,
)


def drill(module: AnsibleModule) -> None:
    """Run the drill, or report what it would do."""
    params = module.params
    request = backup_drill.Request(
        directory=params["src"] or "",
        prefix=params["name"],
        path=params["path"] or "",
        scratch_dir=params["scratch_dir"],
        memory_max=parse_size(params["memory_max"], "memory_max"),
        reserve=parse_size(params["reserve"], "reserve"),
        timeout=params["timeout"],
        live=params["live"],
        identity_file=params["identity_file"] or "",
    )
    etcd_path = params["etcd_path"] or backup_drill.etcd_next_to(params["etcdutl_path"])
    tools = backup_drill.Tools(connection_from_params(params), etcd_path, params["etcdutl_path"])
    if module.check_mode:
        planned = backup_drill.plan_drill(request, tools, params["endpoints"])
        comparison = f" and compare it with {planned.member.name}" if planned.member else ""
        module.exit_json(
            changed=False,
            msg=f"Would restore {planned.path} in {request.scratch_dir}, which needs {format_size(planned.needed)}{comparison}."
            f"{scratch_folder.removal_notice(planned.abandoned)}",
            path=planned.path,
            metadata=planned.metadata.as_dict(),
            member=planned.member.name if planned.member else "",
        )
    report = backup_drill.run_drill(request, tools, params["endpoints"])
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
