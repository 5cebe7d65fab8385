#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make sure that a member may be stopped, or wait until it serves."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_member
short_description: Make sure that an etcd member may be stopped, or that it serves
version_added: 0.1.0
description:
  - With O(state=drained), waits until the member on this host may be stopped. All other voting members must be healthy. If this member is the leader,
    the module first transfers the leadership.
  - With O(state=serving), waits until the member on this host serves with the requested configuration.
  - If members are changed one at a time between these two states, no write fails.
  - A cluster of one or two voting members has no quorum while one of them is stopped. The module allows that, and RV(interrupts) is true.
  - A member whose unit does not run may be updated without regard to the others. Its update may restore the quorum, and cannot make it worse. If another
    play of Ansible holds the lock for this member, the module waits for that play first, because it may have stopped the member.
  - Learners count neither for health nor for quorum.
  - With O(lock_seconds), O(state=drained) acquires the cluster's lock and O(state=serving) releases it, so that no other operation, such as a
    defragmentation by a timer, stops a member in between.
  - With O(state=unlocked), releases the lock if this play holds it, or a killed play of this controller. Otherwise a killed play would block the timers
    until its lease expires.
extends_documentation_fragment:
  - etcdops.headroom.etcdctl
  - etcdops.headroom.etcdctl.tls
  - etcdops.headroom.etcdctl.unit
  - etcdops.headroom.etcdctl.play
options:
  name:
    description: Name of the member on this host, as etcd knows it.
    type: str
    required: true
  state:
    description: The state to wait for.
    type: str
    choices: [drained, serving, unlocked]
    required: true
  timeout:
    description: Seconds to wait for other members to become healthy, or for this member to serve.
    type: int
    default: 120
  prefer:
    description:
      - Names of members that this play has changed already. They are preferred as the next leader.
      - If this play still holds the lock for one of them, because its release got no answer, the module releases it.
    type: list
    elements: str
    default: []
  assume_healthy:
    description:
      - In check mode, names of members that count as healthy, because the play would have started them or renewed their certificates before this task.
      - If no member answers, the member may be stopped if O(name) is one of them.
      - Without effect outside of check mode.
    type: list
    elements: str
    default: []
    version_added: 0.3.0
  max_lag:
    description: Raft entries that a member may be behind and still count as caught up.
    type: int
    default: 500
  lock_seconds:
    description:
      - Lifetime of the cluster's lock from O(state=drained) to O(state=serving), in seconds. If the play is killed in between, the lock expires after
        this time. 0 takes no lock.
      - The module takes over the lock of an earlier attempt of the same play for the same member, and of a killed play of this controller.
      - A play on another controller, or from before a reboot, may still be running. The module waits for its lock until the lease expires, if necessary
        longer than O(timeout).
      - While the alarm C(NOSPACE) is set, the lock is unavailable, and not needed.
    type: int
    default: 0
    version_added: 0.3.0
  planned_digest:
    description:
      - With O(state=drained), the C(HEADROOM_DIGEST) of the process when the change was planned (RV(etcdops.headroom.etcd_host_info#module:unit) has it).
      - Once the lock is held, the module fails if the process has another digest. Then another play has changed this member, and the planned
        change could undo that, for example by starting an older release.
      - V(down) if the unit was not active when the change was planned. The module then fails if the unit is active, because another play may have
        changed and started it. A unit that systemd cannot load, because it does not exist or is masked, needs no drain then either. With another value
        etcd may run outside of the unit, and the module asks the cluster.
      - A process with O(digest) needs no change and is never refused.
      - If it is empty, or no process runs, no digest is compared.
    type: str
    default: ""
    version_added: 0.3.0
  restart:
    description:
      - With O(state=drained), whether the member will be stopped.
      - If V(false), because only its files change, the module waits for another play that holds the lock to change a member, compares O(planned_digest),
        and transfers no leadership.
    type: bool
    default: true
    version_added: 0.3.0
  digest:
    description:
      - With O(state=serving), the expected C(HEADROOM_DIGEST) of the process.
      - With O(state=drained), the C(HEADROOM_DIGEST) of a process that needs no restart. If the unit runs or starts with it now, for example because
        systemd started it again after space was freed, the module sets RV(started) and transfers no leadership.
    type: str
  settings:
    description:
      - With O(state=serving), the settings that must be in effect, named like etcd 3.7's flags with underscores.
      - Settings that etcd does not log at its start cannot be compared. They are listed in RV(unverified).
    type: dict
  journal_lines:
    description: Number of lines of the unit's journal to show if the member does not serve.
    type: int
    default: 30
attributes:
  check_mode:
    description:
      - With O(state=drained), reports whether the leadership would be transferred, and to which member. Does not wait.
      - With O(state=serving), checks once, without waiting, and never fails. RV(problem) has the result.
      - With O(state=unlocked), reports whether the lock would be released.
    support: full
seealso:
  - module: etcdops.headroom.etcd_cluster_info
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Drain the member
  etcdops.headroom.etcd_member:
    name: "{{ inventory_hostname }}"
    state: drained
    prefer: [etcd2, etcd3]

- name: Restart etcd
  ansible.builtin.systemd_service:
    name: etcd
    state: restarted

- name: Wait until the member serves with the requested settings
  etcdops.headroom.etcd_member:
    name: "{{ inventory_hostname }}"
    state: serving
    settings:
      snapshot_catchup_entries: 500
      auto_compaction_retention: 30m
"""

RETURN = r"""
cluster:
  description: The last known state of the cluster, in the format of M(etcdops.headroom.etcd_cluster_info).
  returned: if it was asked
  type: dict
moved_to:
  description: The new leader (in check mode, the planned one); empty if the leadership was not transferred.
  returned: with O(state=drained)
  type: str
  sample: etcd2
interrupts:
  description: Whether the cluster has no quorum while this member is stopped.
  returned: with O(state=drained)
  type: bool
started:
  description: Whether the unit runs or starts with O(digest) already, so that no restart is needed.
  returned: with O(state=drained)
  type: bool
problem:
  description: Why the member does not serve; empty if it does.
  returned: with O(state=serving), unless the module fails
  type: str
differences:
  description: Effective settings that differ from the requested ones.
  returned: with O(state=serving)
  type: list
  elements: dict
  sample: [{setting: snapshot_count, asked: 1000, effective: 100000}]
unverified:
  description: Names of the requested settings that etcd does not log.
  returned: with O(state=serving)
  type: list
  elements: str
  sample: [max_txn_ops]
journal:
  description: Last lines of the unit's journal. etcd's own lines are shortened to level, message and the most relevant fields.
  returned: if the member does not start or does not serve in time
  type: list
  elements: str
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import (
    CONNECTION_ARGUMENTS,
    connection_from_params,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.lock import RELEASE_SECONDS, release_lock
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_drain import Drain
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_error import MemberError
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_start import Start
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.play_lock import PLAY_ARGUMENTS, PlayLock


def drain(params: dict[str, Any], link: Connection, check: bool) -> dict[str, Any]:
    """Wait until the member may be stopped, and return the result."""
    fields = (
        "endpoints",
        "name",
        "unit",
        "prefer",
        "max_lag",
        "timeout",
        "restart",
        "planned_digest",
        "assume_healthy",
    )
    lock = PlayLock.from_params(link, params)
    given = {name: params[name] for name in fields}
    return Drain(link=link, lock=lock, digest=params["digest"] or "", check=check, **given).run()


def serve(params: dict[str, Any], link: Connection, check: bool) -> dict[str, Any]:
    """Wait until the member serves, and return the result."""
    fields = ("endpoints", "name", "unit", "max_lag", "timeout", "digest", "journal_lines")
    given = {name: params[name] for name in fields}
    result = Start(link=link, settings=params["settings"] or {}, check=check, **given).wait()
    if not check:
        PlayLock.from_params(link, params).release(RELEASE_SECONDS)
    return result


def unlock(params: dict[str, Any], link: Connection, check: bool) -> dict[str, Any]:
    """Release the lock if this play holds it, or a play of this controller that has ended."""
    lock = PlayLock.from_params(link, params)
    abandoned = lock.find()
    if lock.unjudged_play():
        raise MemberError(lock.busy, unjudged_play=lock.unjudged_play())
    if abandoned and not check:
        release_lock(link, params["endpoints"], abandoned.lease, RELEASE_SECONDS)
    return {"changed": abandoned is not None}


STATES = {"drained": drain, "serving": serve, "unlocked": unlock}


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            **CONNECTION_ARGUMENTS,
            **PLAY_ARGUMENTS,
            "name": {"type": "str", "required": True},
            "state": {"type": "str", "choices": list(STATES), "required": True},
            "timeout": {"type": "int", "default": 120},
            "prefer": {"type": "list", "elements": "str", "default": []},
            "assume_healthy": {"type": "list", "elements": "str", "default": []},
            "max_lag": {"type": "int", "default": 500},
            "planned_digest": {"type": "str", "default": ""},
            "restart": {"type": "bool", "default": True},
            "digest": {"type": "str"},
            "settings": {"type": "dict"},
            "journal_lines": {"type": "int", "default": 30},
        },
        supports_check_mode=True,
    )
    try:
        link = connection_from_params(module.params)
    except ValueError as error:
        module.fail_json(msg=str(error))
    try:
        module.exit_json(**STATES[module.params["state"]](module.params, link, module.check_mode))
    except Exception as error:
        # The play ends here, so no later task would release the lock.
        if not module.check_mode:
            PlayLock.from_params(link, module.params).release()
        if not isinstance(error, ValueError):
            raise
        module.fail_json(msg=str(error), **(error.results if isinstance(error, MemberError) else {}))


if __name__ == "__main__":
    main()
