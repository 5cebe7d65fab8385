#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Move the write-ahead log of a stopped member into another folder."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_wal_move
short_description: Move the write-ahead log of a stopped etcd member to another folder
version_added: 0.2.0
description:
  - Copies the log to its new folder, usually on a volume of its own, writes it through and compares it with what the disk gives back. Only then
    the old folder is set aside, under its name with C(.moved) appended, and the copy takes its place.
  - A link to the new folder stays at the old one, so that an etcd that is started with its old configuration does not begin a log anew.
  - A move that was interrupted, at whatever point, is gone on with by the next run.
  - Once the member serves from the new folder, O(state=settled) removes the log that was set aside, and the link.
options:
  source:
    description: The folder that holds the log.
    type: path
    required: true
  target:
    description: The folder that shall hold it. The folder around it must exist; it itself must not, or be empty.
    type: path
    required: true
  state:
    description:
      - V(moved) moves the log. The member must not run.
      - V(settled) removes what V(moved) has left. The member must run, with the log in O(target).
    type: str
    choices: [moved, settled]
    default: moved
attributes:
  check_mode:
    description: Says what would be done, and refuses what would be refused, except that a member that is to be stopped may still run.
    support: full
  diff_mode:
    description: The files are the same before and after.
    support: none
  platform:
    description: Linux.
    support: full
    platforms: linux
notes:
  - Owner and mode of the files are kept, which takes root.
  - Role etcd does this in a member's turn, one member after the other, and starts the member with its new configuration.
seealso:
  - module: etcdops.headroom.etcd_member
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Move the log to the volume that is mounted at /var/lib/etcd-wal
  etcdops.headroom.etcd_wal_move:
    source: /var/lib/etcd/data/member/wal
    target: /var/lib/etcd-wal/member/wal

- name: Once the member serves, remove the old one
  etcdops.headroom.etcd_wal_move:
    source: /var/lib/etcd/data/member/wal
    target: /var/lib/etcd-wal/member/wal
    state: settled
"""

RETURN = r"""
msg:
  description: What was done, or in check mode would be.
  type: str
  returned: always
  sample: Moved 5 files (305.2 MiB) from /var/lib/etcd/data/member/wal to /var/lib/etcd-wal/member/wal.
files:
  description: Names of the log's files.
  type: list
  elements: str
  returned: with O(state=moved)
  sample: [0000000000000000-0000000000000000.wal]
size:
  description: Their bytes.
  type: int
  returned: with O(state=moved)
  sample: 64000000
aside:
  description: Where the old log is kept until it is settled.
  type: str
  returned: always
  sample: /var/lib/etcd/data/member/wal.moved
source_intact:
  description: Whether O(source) still holds the log, so that the member can be started as it was.
  type: bool
  returned: on failure
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import wal_move


def moved(source: str, target: str, *, check: bool) -> dict[str, Any]:
    """Move the log, or say what would be moved. Raises WalError."""
    step = wal_move.next_step(source, target)
    problem = None if step.name == "done" else wal_move.obstacle(source, target, step)
    # Before its turn the member still runs, and the volume is not mounted: neither is wrong yet.
    if problem and not check:
        raise wal_move.WalError(f"{problem} Nothing was changed.")
    if not check:
        wal_move.move(source, target, step)
    did = {
        "begin": "Moved" if not check else "Would move",
        "swap": "Finished an interrupted move of" if not check else "Would finish an interrupted move of",
        "link": "Finished an interrupted move of" if not check else "Would finish an interrupted move of",
        "done": "Had already moved",
    }[step.name]
    return {
        "changed": step.name != "done",
        "msg": f"{did} {len(step.files)} files ({format_size(step.size)}) from {source} to {target}.",
        "files": list(step.files),
        "size": step.size,
    }


def settled(source: str, target: str, *, check: bool) -> dict[str, Any]:
    """Remove what a move has left, or say what would be removed. Raises WalError."""
    left = wal_move.unsettled(source, target)
    if left and not check:
        wal_move.settle(source, target)
    return {
        "changed": bool(left),
        "msg": f"{'Would remove' if check else 'Removed'} {' and '.join(left)}." if left else "Nothing was left.",
    }


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "source": {"type": "path", "required": True},
            "target": {"type": "path", "required": True},
            "state": {"type": "str", "choices": ["moved", "settled"], "default": "moved"},
        },
        supports_check_mode=True,
    )
    source, target = module.params["source"].rstrip("/"), module.params["target"].rstrip("/")
    work = moved if module.params["state"] == "moved" else settled
    try:
        result = work(source, target, check=module.check_mode)
    except (wal_move.WalError, OSError) as problem:
        intact = wal_move.holds(source)
        module.fail_json(msg=str(problem), aside=wal_move.aside(source), source_intact=intact)
    module.exit_json(aside=wal_move.aside(source), **result)


if __name__ == "__main__":
    main()
