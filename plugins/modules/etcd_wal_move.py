#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Move the write-ahead log of a stopped member into another folder."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_wal_move
short_description: Move the write-ahead log of a stopped etcd member to another folder
version_added: 0.3.0
description:
  - Copies the log to its new folder, usually on a separate volume, flushes it, and compares it with what the disk returns. Only then
    renames the old folder to its name with C(.moved) appended, and uses the copy.
  - Leaves a link from the old folder to the new one, so that an etcd started with its old configuration does not create a new log.
  - Continues a move that was interrupted at any point. Waits up to 5 minutes for another process that is moving the same log.
  - Once the member serves from the new folder, O(state=cleaned) removes the old log, the link, and copies of abandoned moves.
options:
  source:
    description: The folder that holds the log.
    type: path
    required: true
  target:
    description: The new folder of the log. Its parent must exist; the folder itself must not exist, or must be empty.
    type: path
    required: true
  state:
    description:
      - V(moved) moves the log. The member must be stopped.
      - V(cleaned) removes the leftovers of V(moved), also of a move that was interrupted and then abandoned; O(source) may equal O(target). The
        member must run, with its log in O(target).
    type: str
    choices: [moved, cleaned]
    default: moved
attributes:
  check_mode:
    description: Reports what would be done, and fails as a real run would, except that the member may still run and the volume may be missing.
    support: full
  diff_mode:
    description: The files do not change.
    support: none
  platform:
    description: Linux.
    support: full
    platforms: linux
notes:
  - Keeps owner and mode of the files, which requires root.
  - Role etcd moves the log during the rolling update, one member at a time, and starts the member with its new configuration.
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

- name: Remove the old log once the member serves
  etcdops.headroom.etcd_wal_move:
    source: /var/lib/etcd/data/member/wal
    target: /var/lib/etcd-wal/member/wal
    state: cleaned
"""

RETURN = r"""
msg:
  description: What was done, or in check mode would be done.
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
  description: Size of the log in bytes.
  type: int
  returned: with O(state=moved)
  sample: 64000000
aside:
  description: Folder of the old log until O(state=cleaned) removes it.
  type: str
  returned: always
  sample: /var/lib/etcd/data/member/wal.moved
source_intact:
  description: Whether O(source) still contains the log, so that the member can start with its old configuration.
  type: bool
  returned: on failure
"""

import contextlib
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import wal_move
from ansible_collections.etcdops.headroom.plugins.module_utils._storage.wal_copies import MoveBusyError, exclusive_move


def move(source: str, target: str, *, check: bool) -> dict[str, Any]:
    """Move the log, or report what would be moved. Raises WalMoveError."""
    step = wal_move.next_step(source, target)
    problem = None if step.name == "done" else wal_move.move_problem(source, target, step)
    # In check mode the member still runs, and its volume may not be mounted: neither is a problem yet.
    if problem and not check:
        raise wal_move.WalMoveError(f"{problem} Nothing was changed.")
    if not check:
        wal_move.move_log(source, target, step)
    action = {
        "begin": "Moved" if not check else "Would move",
        "swap": "Finished an interrupted move of" if not check else "Would finish an interrupted move of",
        "link": "Finished an interrupted move of" if not check else "Would finish an interrupted move of",
        "done": "Had already moved",
    }[step.name]
    return {
        "changed": step.name != "done",
        "msg": f"{action} {len(step.files)} files ({format_size(step.size)}) from {source} to {target}.",
        "files": list(step.files),
        "size": step.size,
    }


def clean_up(source: str, target: str, *, check: bool) -> dict[str, Any]:
    """Remove the leftovers of a move, or report what would be removed. Raises WalMoveError."""
    left = wal_move.leftovers(source, target)
    if left and not check:
        wal_move.clean_up(source, target)
    return {
        "changed": bool(left),
        "msg": f"{'Would remove' if check else 'Removed'} {' and '.join(left)}."
        if left
        else "There was nothing to remove.",
    }


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "source": {"type": "path", "required": True},
            "target": {"type": "path", "required": True},
            "state": {"type": "str", "choices": ["moved", "cleaned"], "default": "moved"},
        },
        supports_check_mode=True,
    )
    source, target = module.params["source"].rstrip("/"), module.params["target"].rstrip("/")
    run = move if module.params["state"] == "moved" else clean_up
    try:
        with contextlib.nullcontext() if module.check_mode else exclusive_move(source):
            result = run(source, target, check=module.check_mode)
    except MoveBusyError as problem:  # a member that starts now would write to the log that is being copied
        module.fail_json(msg=str(problem), aside=wal_move.aside_path(source), source_intact=False)
    except (wal_move.WalMoveError, OSError) as problem:
        intact = wal_move.holds_log(source)
        module.fail_json(msg=str(problem), aside=wal_move.aside_path(source), source_intact=intact)
    module.exit_json(aside=wal_move.aside_path(source), **result)


if __name__ == "__main__":
    main()
