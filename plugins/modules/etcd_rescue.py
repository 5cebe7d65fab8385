#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make a snapshot of a stopped etcd member's data."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_rescue
short_description: Make a snapshot of a stopped etcd member's data
version_added: 0.3.0
description:
  - For a cluster that has permanently lost its quorum and has no newer backup. Turns the data of a surviving member into a snapshot that can be
    verified and restored like any other. The playbook C(etcdops.headroom.restore_lost_quorum) does all steps; use the playbook.
  - Copies the data and starts etcd on the copy with C(--force-new-cluster), so that writes in the WAL that are not yet in the database are not
    lost. This etcd listens only on unix sockets in the folder of the copy. The module only reads the member's own data.
  - If there are several survivors, use the snapshot with the highest revision. Writes that only lost members had cannot be rescued.
options:
  dest:
    description: Directory for the snapshot C(rescued-MEMBER-DATE.db). It temporarily holds a copy of data and WAL.
    type: path
    required: true
  member:
    description: Name of the member.
    type: str
    required: true
  data_dir:
    description: Data dir of the member.
    type: path
    default: /var/lib/etcd/data
  wal_dir:
    description: WAL dir of the member, if it is not in the data dir.
    type: path
  memory_max:
    description: Memory limit of the etcd on the copy, without reclaimable pages of its database.
    type: str
    default: 4GB
  etcd_path:
    description: Path of etcd, of the member's release. Defaults to the etcd in the same folder as O(etcdutl_path), with links resolved.
    type: path
  etcdctl_path:
    description: Path of etcdctl.
    type: path
    default: /usr/local/bin/etcdctl
  etcdutl_path:
    description: Path of etcdutl, of the member's minor version.
    type: path
    default: /usr/local/bin/etcdutl
  timeout:
    description: Time limit of all steps, in seconds.
    type: int
    default: 1800
attributes:
  check_mode:
    description:
      - Checks that there is data and enough space, and that the programs exist. If etcd still runs on the data, it says so and does not fail.
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
  - module: etcdops.headroom.etcd_restore
  - module: etcdops.headroom.etcd_snapshot
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Make a snapshot of a surviving member
  etcdops.headroom.etcd_rescue:
    dest: /var/backups/etcd
    member: etcd-3
  register: rescued
"""

RETURN = r"""
msg:
  description: What was done, or would be done, as a sentence.
  type: str
  returned: always
path:
  description: The snapshot; empty in check mode.
  type: str
  returned: success
  sample: /var/backups/etcd/rescued-etcd-3-20261121T101500Z.db
revision:
  description: Revision of its newest change; 0 in check mode.
  type: int
  returned: success
  sample: 8123
unusable:
  description:
    - Whether it failed because of the data - etcd does not start on it, or the disk does not return it. False for reasons that can be corrected,
      such as a full volume, and for a missing database or log, whose volume may only be unmounted.
  type: bool
  returned: failure
  version_added: 0.3.0
metadata:
  description: The snapshot's record, as M(etcdops.headroom.etcd_snapshot) returns it.
  type: dict
  returned: success, not in check mode
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import drill, scratch_folder
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import rescue as backup_rescue
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.check import check_timeout
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.restore import check_stopped
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.restore_folders import RestoreError
from ansible_collections.etcdops.headroom.plugins.module_utils._base.signals import exit_on_signals
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size, parse_size


def rescue(module: AnsibleModule) -> None:
    """Make the snapshot, or check whether that would work."""
    params = module.params
    request = backup_rescue.Request(
        member=params["member"],
        data_dir=params["data_dir"],
        wal_dir=params["wal_dir"] or "",
        directory=params["dest"],
        memory_max=parse_size(params["memory_max"], "memory_max"),
        timeout=params["timeout"],
    )
    etcd_path = params["etcd_path"] or drill.etcd_next_to(params["etcdutl_path"])
    tools = backup_rescue.Tools(etcd_path, params["etcdctl_path"], params["etcdutl_path"])
    if module.check_mode:
        check_timeout(request.timeout)
        source = backup_rescue.find_data(request)
        backup_rescue.check_tools(request, tools)
        needed = backup_rescue.required_bytes(source)
        abandoned = scratch_folder.check_scratch_dir(request.directory, needed, backup_rescue.OPTION)
        message = (
            f"Would make a snapshot of the {format_size(source.size)} in {request.data_dir}{still_runs(request.data_dir)}."
            f"{scratch_folder.removal_notice(abandoned)}"
        )
        module.exit_json(changed=True, msg=message, path="", revision=0)
    path, metadata = backup_rescue.rescue_snapshot(request, tools)
    message = f"Rescued {format_size(metadata.size)} of {metadata.member} at revision {metadata.revision} as {path}."
    module.exit_json(changed=True, msg=message, path=path, revision=metadata.revision, metadata=metadata.as_dict())


def still_runs(data_dir: str) -> str:
    """Return the end of the sentence if etcd still runs on the data."""
    try:
        check_stopped(data_dir)
    except RestoreError:
        return ", once etcd on it is stopped"
    return ""


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
    except (ValueError, OSError) as error:
        module.fail_json(msg=str(error), unusable=isinstance(error, backup_rescue.UnusableDataError))


if __name__ == "__main__":
    main()
