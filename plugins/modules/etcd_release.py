#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check a change of the minor version of an etcd cluster, enable or cancel a downgrade, and wait until a change is complete."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_release
short_description: Check, enable and complete a change of the release of an etcd cluster
version_added: 0.3.0
description:
  - With O(state=checked), finds all obstacles to a change to O(release), each with its remedy, and changes nothing.
  - With O(state=enabled), enables the downgrade to the minor version of O(release), and waits until the storage version of every member has changed.
    Then members may be restarted with the lower release, one at a time.
  - With O(state=cancelled), cancels an enabled downgrade, also that of an interrupted O(state=flushed).
    Then members that already run the lower release can return to the higher one.
  - With O(state=flushed), makes every member save its state to disk, by enabling a downgrade and cancelling it. etcd 3.7 panics if it replays
    entries that 3.5 wrote to the write-ahead log, and etcd alone saves its state only after C(snapshot-count) writes.
  - With O(state=settled), waits until every member runs O(release), and the cluster and storage versions are those of O(release).
  - Derives the next step from the state of the cluster, so that an interrupted change can be resumed.
extends_documentation_fragment:
  - etcdops.headroom.etcdctl
  - etcdops.headroom.etcdctl.tls
options:
  state:
    description: The step of the change.
    type: str
    choices: [checked, enabled, cancelled, flushed, settled]
    required: true
  release:
    description: The release to change to. Required unless O(state=cancelled) or O(state=flushed).
    type: str
  previous:
    description:
      - With O(state=checked), the release that the cluster will run before this step, if it is a later step of an upgrade over several minor versions.
        The module then skips checks that depend on the current state of the cluster.
    type: str
  timeout:
    description: Seconds to wait. With O(state=checked), for members to become healthy and to catch up.
    type: int
    default: 60
  downgrade:
    description: With O(state=checked), whether a lower minor version is allowed.
    type: bool
    default: false
  cancel:
    description:
      - With O(state=checked), whether an enabled downgrade is about to be cancelled.
      - Then members that are learners, unhealthy or behind are not obstacles while the cluster has a quorum, because etcd cancels a downgrade without them.
    type: bool
    default: false
  members_planned:
    description:
      - With O(state=checked), whether the play removes or adds members before it changes the release. Then the plan of the members has judged the members
        and the alarms, and this module does not.
    type: bool
    default: false
    version_added: 0.3.0
  started:
    description:
      - With O(state=checked), the release that the unit of each member starts, by the member's name. Empty if it is unknown.
      - A member without a name here is an obstacle, because the change would not reach it, unless the change has begun. Without any names, none is.
    type: dict
    default: {}
  configuration:
    description:
      - With O(state=checked), the configuration of the member on this host. C(workload), C(members), C(budget), C(pinned) and C(volume_size) are options of
        M(etcdops.headroom.etcd_memory_plan); C(base) has settings with canonical names, C(extra) settings with the names of O(release).
      - Empty - memory and settings are not checked.
    type: dict
    default: {}
  databases:
    description:
      - With O(previous), the bytes of each member's database, by the member's name. The step must not lower the quota, which the plan for O(previous)
        sets, below them.
    type: dict
    default: {}
    version_added: 0.3.0
  room:
    description: With O(state=checked), the required free space. Requirements for the same volume are added up.
    type: list
    elements: dict
    default: []
    suboptions:
      path:
        description: Directory. If it does not exist, its closest existing parent is used.
        type: path
        required: true
      size:
        description: Required bytes, in addition to O(room[].databases).
        type: int
        default: 0
      databases:
        description: Number of copies of the database that must fit.
        type: int
        default: 0
      purpose:
        description: The purpose of the space, for the message.
        type: str
        required: true
  backup_dir:
    description:
      - With O(state=checked), the directory for the backups before the change, if this host takes them. Requires space for the backup of this step,
        unless the release stays or an earlier run began the step and took the backup, and for those of O(later_backups).
    type: path
    version_added: 0.3.0
  later_backups:
    description: With O(state=checked), the number of later steps of the upgrade. Each takes a backup of its own.
    type: int
    default: 0
    version_added: 0.3.0
  problems:
    description: With O(state=checked), problems that the caller found, to report with the others.
    type: list
    elements: str
    default: []
  data_dir:
    description: With O(state=checked), the data directory of the member on this host. The module reads its log and its stored members.
    type: path
  wal_dir:
    description: The WAL directory of the member on this host, if it is not in O(data_dir).
    type: path
attributes:
  check_mode:
    description: Queries the cluster, and reports what would be done. With O(state=settled), checks once and never fails.
    support: full
seealso:
  - module: etcdops.headroom.etcd_member
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Find the obstacles to etcd 3.7
  etcdops.headroom.etcd_release:
    state: checked
    release: 3.7.3
    data_dir: /var/lib/etcd/data
  register: change

- name: Enable the downgrade to 3.6
  etcdops.headroom.etcd_release:
    state: enabled
    release: 3.6.16
  run_once: true

- name: Wait until the cluster is at 3.7
  etcdops.headroom.etcd_release:
    state: settled
    release: 3.7.3
  run_once: true
"""

RETURN = r"""
direction:
  description: C(upgrade), C(downgrade), or C(none) if the minor version stays the same.
  returned: with O(state=checked)
  type: str
  sample: upgrade
running:
  description: The releases that members run, lowest first.
  returned: with O(state=checked)
  type: list
  elements: str
  sample: [3.6.16]
begun:
  description: Whether an earlier run has begun this change, so that some members already run the minor version of O(release).
  returned: with O(state=checked)
  type: bool
leader:
  description: Name of the leader.
  returned: with O(state=checked)
  type: str
  sample: etcd-2
blockers:
  description: The obstacles, each with its remedy.
  returned: with O(state=checked)
  type: list
  elements: str
changes:
  description: Other effects of the new release, as sentences.
  returned: with O(state=checked)
  type: list
  elements: str
flush:
  description: Whether the members must save their state before the change, see O(state=flushed).
  returned: with O(state=checked)
  type: bool
problem:
  description: Why the change is not complete; empty if it is.
  returned: with O(state=settled)
  type: str
"""

import time
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._base.versions import minor
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import (
    CONNECTION_ARGUMENTS,
    connection_from_params,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._model.release_steps import check_upgrade
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.release_comparison import Member, plan_change
from ansible_collections.etcdops.headroom.plugins.module_utils._release import change as release_change
from ansible_collections.etcdops.headroom.plugins.module_utils._release.free_space import (
    Room,
    backup_rooms,
    room_problems,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._release.stored_members import (
    DatabaseError,
    read_members,
    stored_problems,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._release.v2_entries import count_v2_entries
from ansible_collections.etcdops.headroom.plugins.module_utils._release.waits import PAUSE, Steps


def check(params: dict[str, Any], steps: Steps) -> dict[str, Any]:
    """Return the change, its obstacles and its other effects."""
    release = params["release"]
    if params["previous"]:
        problem = check_upgrade(params["previous"], release)
        blockers, changes = judge_configuration(params, params["previous"], params["databases"])
        return {"blockers": [*params["problems"], *filter(None, [problem]), *blockers], "changes": changes}
    deadline = time.monotonic() + params["timeout"]
    while True:
        cluster, members = steps.observe()
        enabled = any(member.downgrade_to for member in members)
        flushing = enabled and steps.is_flushing()
        request = release_change.Request(
            release, params["started"], params["downgrade"], params["cancel"], flushing, params["members_planned"]
        )
        blockers = release_change.find_blockers(cluster, members, request)
        if time.monotonic() >= deadline or not any(blocker.transient for blocker in blockers):
            break
        time.sleep(PAUSE)
    running = release_change.running_releases(members)
    direction = release_change.direction(running, release)
    found = {
        "direction": direction,
        "running": running,
        "begun": release_change.has_begun(running, release),
        "leader": cluster.leader,
        "blockers": [*params["problems"], *(blocker.text for blocker in blockers)],
        "changes": [],
        "flush": flushing,
    }
    problems, found["changes"] = judge_configuration(params, running[0] if running else "")
    found["blockers"] += problems
    size = max((member.db_size or 0 for member in cluster.members), default=0)
    own = direction != release_change.NONE and not found["begun"]
    rooms = [Room(**room) for room in params["room"]]
    rooms += backup_rooms(params["backup_dir"] or "", own + params["later_backups"])
    found["blockers"] += room_problems(rooms, size)
    if params["data_dir"] and direction == release_change.UPGRADE and not flushing:
        found["flush"], problems = replays_v2(params, begun=found["begun"])
        found["blockers"] += problems + zombies(params, running, cluster)
    if direction == release_change.DOWNGRADE and not found["blockers"]:
        found["blockers"] += refusal(steps, release)
    return found


def judge_configuration(
    params: dict[str, Any], old: str, databases: dict[str, int] | None = None
) -> tuple[list[str], list[str]]:
    """Return the obstacles to the release in the configuration of the member on this host, and its effects."""
    if not params["configuration"]:
        return [], []
    return plan_change(Member(**params["configuration"]), old, params["release"], databases)


def replays_v2(params: dict[str, Any], *, begun: bool) -> tuple[bool, list[str]]:
    """Return whether the members must save their state, because this host's member would replay entries of the v2 API, and the obstacles."""
    if minor(params["release"]) != release_change.WITHOUT_V2:
        return False, []
    wal_dir = Path(params["wal_dir"]) if params["wal_dir"] else None
    try:
        entries = count_v2_entries(Path(params["data_dir"]), wal_dir)
    except OSError as error:
        return False, [
            f"the write-ahead log cannot be read ({error}): set etcd_data_dir and etcd_wal_dir to the member's"
        ]
    if entries and begun:
        return False, [
            f"the write-ahead log has {entries} entries of the v2 API since the last disk snapshot, on which etcd "
            f"{params['release']} panics: change the other members back to the lower release first"
        ]
    return entries > 0, []


def zombies(params: dict[str, Any], running: list[str], cluster: Cluster) -> list[str]:
    """Return how the members in this host's database differ from those that the cluster lists. Only 3.5 has a separate list."""
    if not running or minor(running[0]) != "3.5":
        return []
    path = Path(params["data_dir"]) / "member" / "snap" / "db"
    try:
        return stored_problems(read_members(path), cluster)
    except DatabaseError as error:
        return [f"the members in the database cannot be compared with those of the cluster: {error}"]


def refusal(steps: Steps, release: str) -> list[str]:
    """Return why etcd refuses the downgrade; empty if it does not."""
    try:
        steps.enable(release, check=True)
    except ValueError as error:
        return [str(error)]
    return []


def settle(module: AnsibleModule, steps: Steps) -> dict[str, Any]:
    """Wait until the change has settled; in check mode, check once."""
    release = module.params["release"]
    if module.check_mode:
        return {"problem": release_change.settled_problem(steps.observe()[1], release)}
    steps.wait(lambda members: release_change.settled_problem(members, release))
    return {"problem": ""}


def run(module: AnsibleModule, steps: Steps) -> dict[str, Any]:
    """Reach the requested state, and return the module's result."""
    state, release = module.params["state"], module.params["release"]
    if state == "checked":
        return {"changed": False, **check(module.params, steps)}
    if state == "settled":
        return {"changed": False, **settle(module, steps)}
    if state == "enabled":
        return {"changed": steps.enable(release, check=module.check_mode)}
    if state == "cancelled":
        return {"changed": steps.withdraw(check=module.check_mode)}
    if not module.check_mode:
        steps.flush()
    return {"changed": True}


def main() -> None:
    """Run the module."""
    room = {
        "path": {"type": "path", "required": True},
        "size": {"type": "int", "default": 0},
        "databases": {"type": "int", "default": 0},
        "purpose": {"type": "str", "required": True},
    }
    module = AnsibleModule(
        argument_spec={
            **{name: spec for name, spec in CONNECTION_ARGUMENTS.items() if name != "unit"},
            "state": {
                "type": "str",
                "choices": ["checked", "enabled", "cancelled", "flushed", "settled"],
                "required": True,
            },
            "release": {"type": "str"},
            "previous": {"type": "str"},
            "timeout": {"type": "int", "default": 60},
            "downgrade": {"type": "bool", "default": False},
            "cancel": {"type": "bool", "default": False},
            "members_planned": {"type": "bool", "default": False},
            "started": {"type": "dict", "default": {}},
            "configuration": {"type": "dict", "default": {}},
            "databases": {"type": "dict", "default": {}},
            "room": {"type": "list", "elements": "dict", "options": room, "default": []},
            "backup_dir": {"type": "path"},
            "later_backups": {"type": "int", "default": 0},
            "problems": {"type": "list", "elements": "str", "default": []},
            "data_dir": {"type": "path"},
            "wal_dir": {"type": "path"},
        },
        required_if=[("state", state, ["release"]) for state in ("checked", "enabled", "settled")],
        supports_check_mode=True,
    )
    try:
        link = connection_from_params(module.params)
        result = run(module, Steps(link, module.params["endpoints"], module.params["timeout"]))
    except ValueError as error:
        module.fail_json(msg=str(error))
    module.exit_json(**result)


if __name__ == "__main__":
    main()
