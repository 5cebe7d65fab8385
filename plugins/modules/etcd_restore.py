#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Restore the etcd member of this host from a snapshot."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_restore
short_description: Restore the etcd member of this host from a snapshot
version_added: 0.3.0
description:
  - Restores one member of a cluster, in steps. Complete each step on all members before the next one. The playbook
    C(etcdops.headroom.restore) does that, and starts and checks the cluster; use the playbook.
  - Creates the new data next to the old data and then renames both. Never removes the old data, which stays as C(*.before-ID).
  - Each step can be interrupted at any point and repeated.
options:
  state:
    description:
      - V(inspected) changes nothing. Returns the unfinished restore, the restore that the data came from, and with O(id) what this host has of
        that restore. Fails if the restore O(id) began with another O(data_dir) or O(wal_dir) on this host.
      - V(checked) changes nothing. Fails if a folder cannot be renamed, or if a volume has too little space for the new data next to the old and
        for the copies of the snapshot in O(copy_dirs), or if the snapshot reaches O(quota).
      - V(admitted) changes nothing. Fails if authentication is on in the snapshot O(path), and O(client_name) is none of its users with the role
        C(root), which all operations of this collection need. Also fails if the alarm C(CORRUPT) is set in the snapshot.
      - V(prepared) verifies the snapshot as M(etcdops.headroom.etcd_snapshot) does and creates the new data. etcd may still run.
      - V(blocked) marks the restore on this host, before etcd is stopped. With O(start_guard), etcd cannot start from then on, also after a reboot.
        As long as no member's data was replaced, a restore may start over, from another snapshot.
      - V(permitted) permits etcd to start until the next reboot, once all members have their new data.
      - V(activated) renames the old data and then the new. Fails while etcd runs on the old data, so stop every member of the cluster first.
      - V(finished) ends the restore, once the cluster works, and removes O(start_guard).
    type: str
    choices: [inspected, checked, admitted, prepared, blocked, activated, permitted, finished]
    required: true
  id:
    description: Id of the restore, the same on all members - the time at which it started, for example V(20261121T101500Z).
    type: str
  path:
    description: With O(state=prepared) and O(state=admitted), the snapshot on this host, required.
    type: path
  client_name:
    description: With O(state=admitted), the common name of the client certificate that will be used after the restore, required; empty for none.
    type: str
    version_added: 0.3.0
  snapshot_size:
    description: With O(state=checked), the size of the snapshot in bytes, required. The new database has about the same size.
    type: int
    version_added: 0.3.0
  quota:
    description:
      - With O(state=checked), the quota in bytes that the members will have. etcd refuses all writes of a database that reaches it.
      - V(0) means the default of etcd, and a negative one limits nothing.
    type: int
    version_added: 0.3.0
  copy_dirs:
    description: With O(state=checked), the directories that will each hold a copy of the snapshot during the restore. They may not exist yet.
    type: list
    elements: path
    default: []
    version_added: 0.3.0
  source:
    description: With O(state=prepared), where O(path) was copied from. RV(record) returns it, so that a resumed restore finds the snapshot again.
    type: dict
    version_added: 0.3.0
    suboptions:
      host:
        description: The host.
        type: str
      path:
        description: The path on that host.
        type: str
  generation:
    description:
      - With O(state=prepared), V(0) for the first data of the restore. For a member that is prepared again, one more than the highest generation of
        all members. RV(record) returns it.
      - A member with data of a later generation has none of the writes that the members made since the snapshot. Start the members of
        earlier generations first.
    type: int
    default: 0
    version_added: 0.3.0
  member:
    description: With O(state=prepared), the name of this member, required.
    type: str
  peer_url:
    description: With O(state=prepared), the peer URL of this member, required.
    type: str
  initial_cluster:
    description: With O(state=prepared), all members with their peer URLs, as etcd's C(initial-cluster), required.
    type: str
  token:
    description:
      - With O(state=prepared), etcd's C(initial-cluster-token), required. The ids of the cluster and its members depend on it.
      - Use a new token, so that no member of the old cluster can join the new one by mistake.
    type: str
  bump_revision:
    description:
      - The new data begins at a revision that is higher by this number than those of the snapshot and O(known_revision). All revisions up to it
        are marked as compacted, so that every watch must start over, and no revision is used twice. V(0) keeps the revision of the snapshot.
    type: int
    default: 1000000000
  known_revision:
    description:
      - With O(state=prepared), the highest revision that the cluster is known to have had. It may be higher than that of the snapshot by more than
        O(bump_revision), for example if the current data was restored from a newer snapshot.
      - Use the same value on all members - the highest RV(restored_revision) of all hosts, or that of a running member if it is higher.
    type: int
    default: 0
    version_added: 0.3.0
  data_dir:
    description: etcd's data dir.
    type: path
    default: /var/lib/etcd/data
  wal_dir:
    description:
      - etcd's WAL dir, if it is not C(member/wal) in the data dir. Its parent folder is replaced as a whole, unless that folder is a mount point or
        contains the data dir or anything else that is not of the WAL. Then the WAL dir is replaced alone.
    type: path
  owner:
    description: Owner of the new data.
    type: str
    default: etcd
  group:
    description: Group of the new data.
    type: str
    default: etcd
  marker:
    description: File that marks an unfinished restore on this host.
    type: path
    default: /etc/etcd/restoring
  start_guard:
    description:
      - Drop-in of etcd's unit that prevents etcd from starting while O(marker) exists, unless it is permitted, for example
        V(/etc/systemd/system/etcd.service.d/headroom-restore.conf). Reload systemd after V(state=blocked) and V(state=finished).
    type: path
    version_added: 0.3.0
  reserve:
    description: Space that must stay free in addition to the old and the new data, in bytes or with a unit (1 KB = 1024 bytes).
    type: str
    default: 64MB
  etcdutl_path:
    description: Path of etcdutl, of the release to run.
    type: path
    default: /usr/local/bin/etcdutl
  timeout:
    description: Time limit of each program, in seconds.
    type: int
    default: 1800
attributes:
  check_mode:
    description: Verifies the snapshot and the free space, and reports what would be done.
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
  - name: Disaster recovery of etcd
    description: How a cluster is restored from a snapshot.
    link: https://etcd.io/docs/latest/op-guide/recovery/
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Create the new data
  etcdops.headroom.etcd_restore:
    state: prepared
    id: 20261121T101500Z
    path: /var/backups/etcd/etcd-20261121T090000Z.db
    member: etcd-1
    peer_url: https://10.0.0.1:2380
    initial_cluster: etcd-1=https://10.0.0.1:2380,etcd-2=https://10.0.0.2:2380,etcd-3=https://10.0.0.3:2380
    token: example-20261121T101500Z

- name: Keep etcd from starting until the restore is finished
  etcdops.headroom.etcd_restore:
    state: blocked
    id: 20261121T101500Z
    start_guard: /etc/systemd/system/etcd.service.d/headroom-restore.conf

- name: Stop etcd
  ansible.builtin.systemd_service:
    name: etcd.service
    state: stopped
    daemon_reload: true

- name: Activate the new data
  etcdops.headroom.etcd_restore:
    state: activated
    id: 20261121T101500Z

- name: Permit etcd to start until the next reboot
  etcdops.headroom.etcd_restore:
    state: permitted
"""

RETURN = r"""
msg:
  description: What was done, or would be done, as a sentence.
  type: str
  returned: always
pending:
  description: Id of the unfinished restore of this host that has begun to replace data; empty if there is none.
  type: str
  returned: success
  sample: 20261121T101500Z
activated:
  description: Whether etcd's data dir contains the data of the restore O(id).
  type: bool
  returned: success
ready:
  description:
    - Whether the new data of the restore O(id) is complete on this host, prepared or activated. It is not on a host that was replaced during the
      restore, or that lost a volume - prepare such a host again.
  type: bool
  returned: success
  version_added: 0.3.0
record:
  description: Id, snapshot metadata, bump (the number added to the snapshot's revision), source, generation and initial_cluster of the restore
    O(id), from what this host has of its new data; empty without any.
  type: dict
  returned: success
  version_added: 0.3.0
restored:
  description: The same of the restore that created the current data; empty if it was not restored.
  type: dict
  returned: success
restored_revision:
  description: Revision that the current data began with when it was restored; 0 if it was not.
  type: int
  returned: success
  version_added: 0.3.0
metadata:
  description: The snapshot's record, as M(etcdops.headroom.etcd_snapshot) returns it.
  type: dict
  returned: success with O(state=prepared)
aside:
  description: New paths of the old data, also in check mode; empty without old data, or if it was renamed before.
  type: list
  elements: str
  returned: success with O(state=activated)
  sample: [/var/lib/etcd/data.before-20261121T101500Z]
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import (
    restore,
    restore_folders,
    restore_revisions,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.restore_states import REQUIRED, STATES
from ansible_collections.etcdops.headroom.plugins.module_utils._base.signals import exit_on_signals


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": list(STATES), "required": True},
            "id": {"type": "str"},
            "path": {"type": "path"},
            "client_name": {"type": "str"},
            "snapshot_size": {"type": "int"},
            "quota": {"type": "int"},
            "copy_dirs": {"type": "list", "elements": "path", "default": []},
            "source": {"type": "dict", "options": {"host": {"type": "str"}, "path": {"type": "str"}}},
            "generation": {"type": "int", "default": 0},
            "member": {"type": "str"},
            "peer_url": {"type": "str"},
            "initial_cluster": {"type": "str"},
            "token": {"type": "str", "no_log": False},
            "bump_revision": {"type": "int", "default": restore_revisions.DEFAULT_BUMP},
            "known_revision": {"type": "int", "default": 0},
            "data_dir": {"type": "path", "default": "/var/lib/etcd/data"},
            "wal_dir": {"type": "path"},
            "owner": {"type": "str", "default": "etcd"},
            "group": {"type": "str", "default": "etcd"},
            "marker": {"type": "path", "default": "/etc/etcd/restoring"},
            "start_guard": {"type": "path"},
            "reserve": {"type": "str", "default": "64MB"},
            "etcdutl_path": {"type": "path", "default": "/usr/local/bin/etcdutl"},
            "timeout": {"type": "int", "default": 1800},
        },
        required_if=[
            ("state", "checked", ["id", "snapshot_size"]),
            ("state", "admitted", ["path", "client_name"]),
            ("state", "prepared", ["id", *REQUIRED]),
            ("state", "blocked", ["id"]),
            ("state", "activated", ["id"]),
        ],
        supports_check_mode=True,
    )
    exit_on_signals()
    params = module.params
    try:
        target = restore_folders.resolve_restore(params["id"] or "", params["data_dir"], params["wal_dir"] or "")
        result = STATES[params["state"]](target, params, module.check_mode)
        to_resume = restore.pending_id(params["marker"])
    except (ValueError, OSError) as error:
        module.fail_json(msg=str(error))
    restored = restore_folders.read_record(target.data_dir) or {}
    module.exit_json(
        pending=to_resume,
        activated=bool(target.id) and target.is_activated,
        ready=bool(target.id) and target.is_ready,
        record=target.record if target.id else {},
        restored=restored,
        restored_revision=restore_revisions.first_revision(restored),
        **result,
    )


if __name__ == "__main__":
    main()
