#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring a member into a state in which it may be stopped, or wait until it serves."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_member
short_description: Make sure that an etcd member may be stopped, or that it serves
version_added: 0.1.0
description:
  - With O(state=drained) it makes sure that the member on this host may be stopped now. All other voting members have
    to be healthy, and if this member leads, the leadership is moved to another one first.
  - With O(state=serving) it waits until the member on this host serves, with the configuration that was asked for.
  - Between the two, and one member after the other, a cluster can be changed without a failed write.
  - A cluster of one or two voting members has no quorum while one of them is away. Stopping is allowed then, and
    RV(interrupts) says that the service is interrupted.
  - A member whose unit does not run may be stopped, whatever the state of the others. Its update can bring quorum back, and cannot cost it.
  - Learners count neither for health nor for quorum.
  - With O(lock_seconds), O(state=drained) takes the cluster's lock and O(state=serving) lets it go, so that nothing else takes a member out of
    service in between, such as a defragmentation from a timer.
  - With O(state=unlocked) it lets the lock go if this play has it, or a play that was killed on this controller. A killed play leaves the lock until
    its lease expires, and what the timers run waits for it.
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
    description: What to make sure of.
    type: str
    choices: [drained, serving, unlocked]
    required: true
  timeout:
    description: Seconds to wait, for other members to become healthy or for this one to serve.
    type: int
    default: 120
  prefer:
    description: Names of members that should rather lead than others, such as those that were already changed.
    type: list
    elements: str
    default: []
  max_lag:
    description: Raft entries that a member may be behind and still count as caught up.
    type: int
    default: 500
  lock_seconds:
    description:
      - Seconds for which the cluster's lock is held from O(state=drained) to O(state=serving) at most. A play that is cut off in between lets go after
        that. 0 takes no lock.
      - An earlier attempt of the same play for the same member is taken over, and the lock of a play that was killed on this controller.
      - A play that ran on another controller, or before a reboot, may still run as far as anybody can tell. Its lock is waited for until its lease
        expires, longer than O(timeout) if need be.
      - While the alarm C(NOSPACE) is set there can be no lock, and none is needed.
    type: int
    default: 0
    version_added: 0.2.0
  digest:
    description: With O(state=serving), the C(HEADROOM_DIGEST) that the process has to have been started with.
    type: str
  settings:
    description:
      - With O(state=serving), the settings that have to be in effect, named like etcd 3.7's flags with underscores.
      - A setting that etcd does not state when it starts cannot be compared; it is listed in RV(unverified).
    type: dict
  journal_lines:
    description: How many lines of the unit's journal to show if the member does not serve.
    type: int
    default: 30
attributes:
  check_mode:
    description:
      - With O(state=drained) it tells whether leadership would be moved, and to whom, and moves nothing.
      - With O(state=serving) it looks once, without waiting, and never fails; RV(problem) says what it found.
      - With O(state=unlocked) it tells whether the lock would be let go.
    support: full
seealso:
  - module: etcdops.headroom.etcd_cluster_info
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Move leadership away, or stop here if the others are not healthy
  etcdops.headroom.etcd_member:
    name: "{{ inventory_hostname }}"
    state: drained
    prefer: [etcd2, etcd3]

- name: Restart etcd
  ansible.builtin.systemd_service:
    name: etcd
    state: restarted

- name: Wait until it serves with what was asked for
  etcdops.headroom.etcd_member:
    name: "{{ inventory_hostname }}"
    state: serving
    settings:
      snapshot_catchup_entries: 500
      auto_compaction_retention: 30m
"""

RETURN = r"""
cluster:
  description: The cluster as last seen, in the form that M(etcdops.headroom.etcd_cluster_info) returns.
  returned: if it was asked
  type: dict
moved_to:
  description: The member that leads now (in check mode, would lead) instead of this one; empty if nothing was moved.
  returned: with O(state=drained)
  type: str
  sample: etcd2
interrupts:
  description: Whether the cluster has no quorum while this member is away.
  returned: with O(state=drained)
  type: bool
problem:
  description: What keeps the member from serving, empty if nothing does.
  returned: with O(state=serving), unless the module fails
  type: str
differences:
  description: Settings in effect that differ from those asked for.
  returned: with O(state=serving)
  type: list
  elements: dict
  sample: [{setting: snapshot_count, asked: 1000, effective: 100000}]
unverified:
  description: Names of the settings asked for that etcd does not state.
  returned: with O(state=serving)
  type: list
  elements: str
  sample: [max_txn_ops]
journal:
  description: Last lines of the unit's journal; etcd's own shortened to level, message and what they are about.
  returned: if the member does not start or does not serve in time
  type: list
  elements: str
"""

import time
from typing import Any, NoReturn

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import observe_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import (
    CONNECTION_ARGUMENTS,
    connection_from_params,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.drain import (
    DrainVerdict,
    drain_verdict,
    serving_problem,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    Connection,
    move_leader,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.local_member import (
    describe_local_member,
    unit_problem,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.lock import POLL_SECONDS, LockError, release_lock
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.play_lock import PLAY_ARGUMENTS, PlayLock
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.settings import compare_settings
from ansible_collections.etcdops.headroom.plugins.module_utils._host import systemd

PAUSE = 0.3


def drain(module: AnsibleModule, link: Connection) -> NoReturn:
    """Look, move leadership if this member has it, and look again, until it may be stopped or time is up."""
    params = module.params
    name: str = params["name"]
    if is_down(systemd.show(params["unit"], link.timeout)):
        module.exit_json(changed=False, moved_to="", interrupts=False)
    began = time.monotonic()
    deadline = began + params["timeout"]
    moved_to, trouble = "", ""
    lock = PlayLock.from_params(link, params)
    wants_lock = params["lock_seconds"] > 0 and not module.check_mode
    while True:
        if wants_lock and lock.acquire():
            wants_lock = False
        if lock.unjudged_play():
            module.fail_json(msg=lock.busy, unjudged_play=lock.unjudged_play())
        deadline = max(deadline, began + lock.longest_wait(time.monotonic() - began))
        cluster, _answered_by = observe_cluster(link, params["endpoints"])
        verdict = drain_verdict(cluster, name, params["prefer"], params["max_lag"])
        if verdict.allowed and lock.busy:
            verdict = DrainVerdict(allowed=False, reason=lock.busy, transient=True)
        if verdict.allowed and (module.check_mode or not verdict.move_to):
            module.exit_json(
                changed=bool(moved_to or verdict.move_to),
                moved_to=moved_to or verdict.move_to,
                interrupts=verdict.interrupts,
                cluster=cluster.as_dict(),
            )
        late = time.monotonic() >= deadline
        if verdict.allowed and not late:
            trouble = hand_over(link, cluster, name, verdict.move_to)
            moved_to = moved_to if trouble else verdict.move_to
        elif late or not verdict.transient:
            waited = f" (waited {round(deadline - began)} s{lock.outlook()})" if late else ""
            reason = verdict.reason or f"{name} still leads, {trouble or 'though leadership was moved'}"
            lock.release()
            module.fail_json(msg=f"{reason}{waited}", cluster=cluster.as_dict())
        time.sleep(POLL_SECONDS if lock.busy else PAUSE)


def is_down(unit: systemd.Unit) -> bool:
    """Say whether the member does not serve as far as systemd knows: etcd notifies it when it does."""
    return unit.load_state == "loaded" and unit.active_state in ("inactive", "failed", "activating")


def hand_over(link: Connection, cluster: Cluster, name: str, target: str) -> str:
    """Hand leadership to another member. Returns why that failed, or an empty string."""
    leader, successor = cluster.member(name), cluster.member(target)
    if leader is None or successor is None:
        return f"{target} is not a member"
    trouble = move_leader(link, leader.endpoint, successor.id)
    return f"moving leadership to {target}: {trouble}" if trouble else ""


def serve(module: AnsibleModule, link: Connection) -> NoReturn:
    """Look at the unit, at how it was started and at the cluster, until the member serves or time is up."""
    params = module.params
    deadline = time.monotonic() + params["timeout"]
    while True:
        unit = systemd.show(params["unit"], link.timeout)
        result: dict[str, Any] = {"differences": [], "unverified": []}
        problem, hopeless = unit_problem(unit)
        if not problem:
            problem = problem_of_start(params, unit, link, result)
            if problem and not module.check_mode:
                PlayLock.from_params(link, params).release()
                module.fail_json(msg=problem, **result)
        if not problem:
            cluster, _answered_by = observe_cluster(link, params["endpoints"])
            result["cluster"] = cluster.as_dict()
            problem = serving_problem(cluster, params["name"], params["max_lag"])
        if not problem or module.check_mode:
            if not module.check_mode:
                PlayLock.from_params(link, params).release()
            module.exit_json(changed=False, problem=problem, **result)
        late = time.monotonic() >= deadline
        if late or hopeless:
            journal = systemd.tail(unit.name, params["journal_lines"], link.timeout)
            waited = f" (waited {params['timeout']} s)" if late else ""
            PlayLock.from_params(link, params).release()
            why = systemd.cause(journal) if unit.load_state != "not-found" else ""
            module.fail_json(msg=f"{problem}{waited}{': ' if why else ''}{why}", journal=journal, **result)
        time.sleep(PAUSE)


def unlock(module: AnsibleModule, link: Connection) -> NoReturn:
    """Let the lock go if this play has it, or one of this controller that has ended."""
    lock = PlayLock.from_params(link, module.params)
    abandoned = lock.find()
    if lock.unjudged_play():
        module.fail_json(msg=lock.busy, unjudged_play=lock.unjudged_play())
    if abandoned and not module.check_mode:
        release_lock(link, module.params["endpoints"], abandoned.lease)
    module.exit_json(changed=abandoned is not None)


def problem_of_start(params: dict[str, Any], unit: systemd.Unit, link: Connection, result: dict[str, Any]) -> str:
    """Compare what the process was started with with what was asked for; fills in the module's result."""
    if params["digest"] is None and not params["settings"]:
        return ""
    process = describe_local_member(unit, link, params["endpoints"][0], None, None)
    if params["digest"] is not None and process.get("digest") != params["digest"]:
        return (
            f"etcd runs with configuration {process.get('digest') or 'of unknown origin'}, asked for is "
            f"{params['digest']}: it was not restarted after its configuration changed"
        )
    differences, unverified = compare_settings(params["settings"] or {}, process.get("settings", {}))
    result.update(differences=differences, unverified=unverified)
    if not differences:
        return ""
    listed = "; ".join(f"{item['setting']} is {item['effective']}, asked for {item['asked']}" for item in differences)
    return f"etcd runs with other settings than asked for: {listed}; restart it, or correct the setting"


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            **CONNECTION_ARGUMENTS,
            **PLAY_ARGUMENTS,
            "name": {"type": "str", "required": True},
            "state": {"type": "str", "choices": ["drained", "serving", "unlocked"], "required": True},
            "timeout": {"type": "int", "default": 120},
            "prefer": {"type": "list", "elements": "str", "default": []},
            "max_lag": {"type": "int", "default": 500},
            "digest": {"type": "str"},
            "settings": {"type": "dict"},
            "journal_lines": {"type": "int", "default": 30},
        },
        supports_check_mode=True,
    )
    try:
        link = connection_from_params(module.params)
        if module.params["state"] == "drained":
            drain(module, link)
        if module.params["state"] == "unlocked":
            unlock(module, link)
        serve(module, link)
    except (ValueError, LockError) as error:
        module.fail_json(msg=str(error))


if __name__ == "__main__":
    main()
