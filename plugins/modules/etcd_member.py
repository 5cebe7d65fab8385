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
    description: Names of members that are preferred as the next leader, such as those that were already changed.
    type: list
    elements: str
    default: []
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
    version_added: 0.2.0
  planned_digest:
    description:
      - With O(state=drained), the C(HEADROOM_DIGEST) of the process when the change was planned (RV(etcdops.headroom.etcd_host_info#module:unit) has it).
      - Once the lock is held, the module fails if the process has another digest. Then another play has changed this member, and the planned
        change could undo that, for example by starting an older release.
      - V(down) if the unit was not active when the change was planned. The module then fails if the unit is active, because another play may have
        changed and started it.
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
      - With O(state=drained), reports whether the leadership would be transferred, and to which member.
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

import contextlib
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
    EtcdctlError,
    move_leader,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.local_member import (
    describe_local_member,
    unit_problem,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.lock import POLL_SECONDS, release_lock
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.play_lock import PLAY_ARGUMENTS, PlayLock
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.settings import compare_settings
from ansible_collections.etcdops.headroom.plugins.module_utils._host import systemd
from ansible_collections.etcdops.headroom.plugins.module_utils._host.facts import process_environment
from ansible_collections.etcdops.headroom.plugins.module_utils._host.process import DIGEST_VARIABLE

PAUSE = 0.3
# The planned digest of a member whose unit was not active.
DOWN = "down"


def drain(module: AnsibleModule, link: Connection) -> NoReturn:
    """Wait until the member may be stopped; transfer the leadership if it is the leader."""
    params = module.params
    name: str = params["name"]
    if needs_no_drain(module, link):
        started = runs_as_wanted(module, link)
        if not started:
            refuse_stale_plan(module, link)
        module.exit_json(changed=False, moved_to="", interrupts=False, started=started)
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
        if not lock.busy or lock.is_held_by_this_play():
            if runs_as_wanted(module, link):
                module.exit_json(changed=False, moved_to="", interrupts=False, started=True)
            refuse_stale_plan(module, link)
        if lock.is_held_by_this_play():
            module.fail_json(
                msg=f"{name} was started since this run was planned, and so was another member: they are changed one at a time. Nothing was changed on "
                "this member: run the playbook again, to plan from its current state"
            )
        cluster, _answered_by = observe_cluster(link, params["endpoints"])
        verdict = drain_verdict(cluster, name, params["prefer"], params["max_lag"])
        if verdict.allowed and lock.busy:
            verdict = DrainVerdict(allowed=False, reason=lock.busy, transient=True)
        if verdict.allowed and (module.check_mode or not verdict.move_to):
            module.exit_json(
                changed=bool(moved_to or verdict.move_to),
                moved_to=moved_to or verdict.move_to,
                interrupts=verdict.interrupts,
                started=False,
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


def needs_no_drain(module: AnsibleModule, link: Connection) -> bool:
    """Return whether the member needs no drain: it is down, or only its files change. Waits first for another play that is changing it."""
    params = module.params
    lock = PlayLock.from_params(link, params)
    wants_lock = params["lock_seconds"] > 0 and not module.check_mode
    began = time.monotonic()
    deadline = began + params["timeout"]
    while not params["restart"] or is_down(systemd.show(params["unit"], link.timeout)):
        # A cluster without quorum grants no lock. Starting this member may restore the quorum, so it goes on without one.
        with contextlib.suppress(EtcdctlError):
            if wants_lock:
                lock.acquire()
        # A member that keeps running needs no repair at once, and the next member of the other play may be this one.
        if not lock.is_held_for_another_change(any_member=not params["restart"]):
            return True
        if lock.unjudged_play():
            module.fail_json(msg=lock.busy, unjudged_play=lock.unjudged_play())
        deadline = max(deadline, began + lock.longest_wait(time.monotonic() - began))
        if time.monotonic() >= deadline:
            state, may = ("is down, and", "be changing") if params["restart"] else ("cannot be changed now:", "change")
            module.fail_json(
                msg=f"{params['name']} {state} {lock.busy}: that play may {may} it. Wait until that play has ended, and run this one again "
                f"(waited {round(deadline - began)} s{lock.outlook()})"
            )
        time.sleep(POLL_SECONDS)
    return False


def runs_as_wanted(module: AnsibleModule, link: Connection) -> bool:
    """Return whether the member runs or starts with the wanted configuration, so that a restart would only cost time."""
    params = module.params
    if not params["digest"]:
        return False
    unit = systemd.show(params["unit"], link.timeout)
    return bool(unit.pid) and process_environment(unit.pid, DIGEST_VARIABLE) == params["digest"]


def refuse_stale_plan(module: AnsibleModule, link: Connection) -> None:
    """Fail, and release the lock, if the member was started, or started with another configuration, since the change was planned."""
    params = module.params
    name, planned = params["name"], params["planned_digest"]
    if not planned:
        return
    unit = systemd.show(params["unit"], link.timeout)
    if planned == DOWN:
        stale = unit.active_state == "active"
        change = f"{name} was started since this run was planned: another play may have changed it"
    else:
        digest = process_environment(unit.pid, DIGEST_VARIABLE) if unit.pid else None
        stale = bool(digest) and digest != planned
        change = f"another play has changed {name} since this run was planned: it runs with configuration {digest} instead of {planned}"
    if stale:
        PlayLock.from_params(link, params).release()
        module.fail_json(
            msg=f"{change}. Nothing was changed on this member: run the playbook again, to plan from its current state"
        )


def is_down(unit: systemd.Unit) -> bool:
    """Return whether systemd reports the member as not serving; etcd notifies systemd when it serves."""
    return unit.load_state == "loaded" and unit.active_state in ("inactive", "failed", "activating")


def hand_over(link: Connection, cluster: Cluster, name: str, target: str) -> str:
    """Transfer the leadership to another member. Return the reason for a failure, or an empty string."""
    leader, successor = cluster.member(name), cluster.member(target)
    if leader is None or successor is None:
        return f"{target} is not a member"
    trouble = move_leader(link, leader.endpoint, successor.id)
    return f"moving leadership to {target}: {trouble}" if trouble else ""


def serve(module: AnsibleModule, link: Connection) -> NoReturn:
    """Check the unit, its configuration and the cluster until the member serves or the time is over."""
    params = module.params
    deadline = time.monotonic() + params["timeout"]
    while True:
        unit = systemd.show(params["unit"], link.timeout)
        result: dict[str, Any] = {"differences": [], "unverified": []}
        problem, hopeless = unit_problem(unit)
        if not problem:
            problem, certain = problem_of_start(params, unit, link, result)
            if certain and not module.check_mode:
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
    """Release the lock if this play holds it, or a play of this controller that has ended."""
    lock = PlayLock.from_params(link, module.params)
    abandoned = lock.find()
    if lock.unjudged_play():
        module.fail_json(msg=lock.busy, unjudged_play=lock.unjudged_play())
    if abandoned and not module.check_mode:
        release_lock(link, module.params["endpoints"], abandoned.lease)
    module.exit_json(changed=abandoned is not None)


def problem_of_start(
    params: dict[str, Any], unit: systemd.Unit, link: Connection, result: dict[str, Any]
) -> tuple[str, bool]:
    """Compare the configuration of the process with the requested one; add the differences to the module's result.

    Return the problem, or an empty string, and whether waiting cannot change it.
    """
    if params["digest"] is None and not params["settings"]:
        return "", False
    process = describe_local_member(unit, link, params["endpoints"][0], None, None)
    if not process["running"]:  # it ended after the unit was looked at, because its disk is full for example
        return f"{unit.name} ended just after its start", False
    if params["digest"] is not None and process.get("digest") != params["digest"]:
        origin = process.get("digest") or "of unknown origin"
        return (
            f"etcd runs with configuration {origin} instead of {params['digest']}: it was not restarted after its configuration changed",
            True,
        )
    differences, unverified = compare_settings(params["settings"] or {}, process.get("settings", {}))
    result.update(differences=differences, unverified=unverified)
    if not differences:
        return "", False
    listed = "; ".join(f"{item['setting']} is {item['effective']} instead of {item['asked']}" for item in differences)
    return f"etcd runs with other settings than requested: {listed}; restart it, or correct the setting", True


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
        if module.params["state"] == "drained":
            drain(module, link)
        if module.params["state"] == "unlocked":
            unlock(module, link)
        serve(module, link)
    except Exception as error:
        # The play ends here, so no later task would release the lock.
        if not module.check_mode:
            PlayLock.from_params(link, module.params).release()
        if not isinstance(error, ValueError):
            raise
        module.fail_json(msg=str(error))


if __name__ == "__main__":
    main()
