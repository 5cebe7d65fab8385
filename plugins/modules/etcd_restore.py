#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Give the etcd member of this host the data of a snapshot."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_restore
short_description: Give the etcd member of this host the data of a snapshot
version_added: 0.2.0
description:
  - One member's part in restoring a whole cluster, in steps that are taken on all members before the next one is. The playbook
    C(etcdops.headroom.restore) does that, and starts and checks the cluster; use that.
  - The new data is made beside the old, and then both are renamed. The old data is never removed - it lies beside the new as C(*.before-ID).
  - Each step may be interrupted anywhere and is simply taken again.
options:
  state:
    description:
      - V(seen) changes nothing and returns what is under way and what the data was restored from.
      - V(prepared) verifies the snapshot as M(etcdops.headroom.etcd_snapshot) does and makes the new data, while etcd may still run.
      - V(placed) moves the old data aside and the new in. It fails while etcd runs on the old, so stop every member of the cluster first.
      - V(finished) says that the cluster was seen to work.
    type: str
    choices: [seen, prepared, placed, finished]
    required: true
  id:
    description: What this restore is called, the same on all members - the time at which it began, such as V(20261121T101500Z).
    type: str
  path:
    description: With O(state=prepared), the snapshot on this host, required.
    type: path
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
      - With O(state=prepared), what the ids of the cluster and its members are made from, besides their URLs; required.
      - With one that was never used before, nothing of the old cluster can join the new one by mistake.
    type: str
  bump_revision:
    description:
      - By how much revisions rise in the new data. All up to there are marked as compacted, so that every watcher is told to read anew,
        and no revision that clients have seen since the snapshot is given out twice. V(0) leaves revisions as they were.
    type: int
    default: 1000000000
  data_dir:
    description: etcd's data dir.
    type: path
    default: /var/lib/etcd/data
  wal_dir:
    description: etcd's WAL dir, if it is not in the data dir. The folder around it is swapped as a whole.
    type: path
  owner:
    description: User that the new data belongs to.
    type: str
    default: etcd
  group:
    description: Group that the new data belongs to.
    type: str
    default: etcd
  marker:
    description: The file that says that a restore is under way on this host.
    type: path
    default: /etc/etcd/restoring
  reserve:
    description: How much has to stay free beside old and new data, in bytes or with a unit (1 KB = 1024 bytes).
    type: str
    default: 64MB
  etcdutl_path:
    description: The etcdutl to restore with, of the release that shall run.
    type: path
    default: /usr/local/bin/etcdutl
  timeout:
    description: Seconds that each program may take.
    type: int
    default: 1800
attributes:
  check_mode:
    description: Verifies the snapshot and says what would be done and whether there is room; changes nothing.
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
  - name: Disaster recovery of etcd
    description: How a cluster is restored from a snapshot.
    link: https://etcd.io/docs/latest/op-guide/recovery/
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Make the new data
  etcdops.headroom.etcd_restore:
    state: prepared
    id: 20261121T101500Z
    path: /var/backups/etcd/etcd-20261121T090000Z.db
    member: etcd-1
    peer_url: https://10.0.0.1:2380
    initial_cluster: etcd-1=https://10.0.0.1:2380,etcd-2=https://10.0.0.2:2380,etcd-3=https://10.0.0.3:2380
    token: example-20261121T101500Z

- name: Stop etcd
  ansible.builtin.systemd_service:
    name: etcd.service
    state: stopped

- name: Put it in place
  etcdops.headroom.etcd_restore:
    state: placed
    id: 20261121T101500Z
"""

RETURN = r"""
msg:
  description: What was done, or would be, as a sentence.
  type: str
  returned: always
pending:
  description: The id of the restore that is under way on this host; empty if none is.
  type: str
  returned: success
  sample: 20261121T101500Z
placed:
  description: Whether the data of the restore with this O(id) is where etcd looks.
  type: bool
  returned: success
restored:
  description: Which restore the data is of, and the metadata of its snapshot; empty if it is not of any.
  type: dict
  returned: success
metadata:
  description: What is recorded beside the snapshot, as M(etcdops.headroom.etcd_snapshot) returns it.
  type: dict
  returned: success with O(state=prepared)
aside:
  description: Where the old data lies now, or would; empty if there was none, or it had been moved before.
  type: list
  elements: str
  returned: success with O(state=placed)
  sample: [/var/lib/etcd/data.before-20261121T101500Z]
"""

import grp
import os
import pwd
import time
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import check
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import restore as backup_restore
from ansible_collections.etcdops.headroom.plugins.module_utils._base.signals import exit_on_signals
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import parse_size

# What a member's new data is made of.
DESCRIBED = ("path", "member", "peer_url", "initial_cluster", "token")


def requested(asked: dict[str, Any]) -> backup_restore.Request:
    """Read the arguments. Raises ValueError."""
    empty = [name for name in DESCRIBED if not asked[name]]  # given, but null or ""
    if empty:
        raise backup_restore.RestoreError(f"{' and '.join(empty)} must not be empty with state=prepared")
    try:
        owner, group = pwd.getpwnam(asked["owner"]).pw_uid, grp.getgrnam(asked["group"]).gr_gid
    except KeyError as error:
        raise backup_restore.RestoreError(
            f"user {asked['owner']} or group {asked['group']} does not exist here: make them first, or set owner and group"
        ) from error
    if asked["bump_revision"] < 0:
        raise backup_restore.RestoreError(
            f"bump_revision is {asked['bump_revision']}, but revisions cannot fall: write 0 or more"
        )
    return backup_restore.Request(
        path=asked["path"],
        name=asked["member"],
        peer_url=asked["peer_url"],
        initial_cluster=asked["initial_cluster"],
        token=asked["token"],
        owner=owner,
        group=group,
        bump_revision=asked["bump_revision"],
        reserve=parse_size(asked["reserve"], "reserve"),
        etcdutl_path=asked["etcdutl_path"],
        timeout=asked["timeout"],
    )


def prepare(module: AnsibleModule, restore: backup_restore.Restore) -> dict[str, Any]:
    """Make the new data, or see whether it could be made."""
    request = requested(module.params)
    if module.check_mode:
        backup_restore.check_id(restore.id)
        metadata = check.verify(request.path, request.etcdutl_path, request.timeout)
        changed = not (restore.placed or restore.prepared)
        if changed:
            backup_restore.check_room(restore, metadata.size, request.reserve)
    else:
        changed, metadata = backup_restore.prepare(restore, request)
    done = "Would make" if module.check_mode else "Made"
    where = restore.swaps[-1].prepared
    said = (
        f"{done} {where} from {request.path}." if changed else f"The data of the restore {restore.id} is already made."
    )
    return {"changed": changed, "msg": said, "metadata": metadata.as_dict()}


def place(module: AnsibleModule, restore: backup_restore.Restore) -> dict[str, Any]:
    """Swap old and new, or say what would be swapped."""
    if module.check_mode:
        aside = [f"{swap.live}.before-{restore.id}" for swap in restore.swaps if os.path.lexists(swap.live)]
        changed = not restore.placed
        done = f"Would move the old data to {' and '.join(aside) or 'nowhere, as there is none,'} and put the new in its place."
    else:
        changed = not restore.placed
        aside = backup_restore.place(restore, module.params["marker"], time.time())
        done = f"Moved the old data to {' and '.join(aside)}." if aside else "There was no old data to move."
    said = done if changed else f"The data of the restore {restore.id} is already in place."
    return {"changed": changed, "msg": said, "aside": aside if changed else []}


def finish(module: AnsibleModule, marker: str, pending: str) -> dict[str, Any]:
    """End the restore that is under way."""
    changed = bool(pending) if module.check_mode else backup_restore.finish(marker)
    done = f"The restore {pending} is over." if changed else "No restore is under way."
    return {"changed": changed, "msg": done}


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["seen", "prepared", "placed", "finished"], "required": True},
            "id": {"type": "str"},
            "path": {"type": "path"},
            "member": {"type": "str"},
            "peer_url": {"type": "str"},
            "initial_cluster": {"type": "str"},
            "token": {"type": "str", "no_log": False},
            "bump_revision": {"type": "int", "default": 1_000_000_000},
            "data_dir": {"type": "path", "default": "/var/lib/etcd/data"},
            "wal_dir": {"type": "path"},
            "owner": {"type": "str", "default": "etcd"},
            "group": {"type": "str", "default": "etcd"},
            "marker": {"type": "path", "default": "/etc/etcd/restoring"},
            "reserve": {"type": "str", "default": "64MB"},
            "etcdutl_path": {"type": "path", "default": "/usr/local/bin/etcdutl"},
            "timeout": {"type": "int", "default": 1800},
        },
        required_if=[("state", "prepared", ["id", *DESCRIBED]), ("state", "placed", ["id"])],
        supports_check_mode=True,
    )
    exit_on_signals()
    asked = module.params
    restore = backup_restore.Restore(
        asked["id"] or "", asked["data_dir"].rstrip("/"), (asked["wal_dir"] or "").rstrip("/")
    )
    try:
        result: dict[str, Any] = {"changed": False, "msg": "Nothing was changed."}
        if asked["state"] == "prepared":
            result = prepare(module, restore)
        elif asked["state"] == "placed":
            result = place(module, restore)
        elif asked["state"] == "finished":
            pending = (backup_restore.read_marker(asked["marker"]) or {}).get("id", "")
            result = finish(module, asked["marker"], pending)
        marked = backup_restore.read_marker(asked["marker"]) or {}
    except ValueError as error:
        module.fail_json(msg=str(error))
    module.exit_json(
        pending=marked.get("id", ""),
        placed=bool(restore.id) and restore.placed,
        restored=backup_restore.read_record(restore.data_dir) or {},
        **result,
    )


if __name__ == "__main__":
    main()
