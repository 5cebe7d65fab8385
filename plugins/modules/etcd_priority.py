#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Set disk and CPU priority on every thread of a running etcd."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_priority
short_description: Set disk and CPU priority on every thread of a running etcd
version_added: 0.3.0
description:
  - Sets I/O class, I/O priority and nice on every thread of a running process, and the weights of its control group. C(ionice -p) and
    C(renice -p) change only the main thread, but etcd writes from other threads.
  - Reports which threads had another priority, whether the disks' I/O schedulers honour the priority, and whether it persists.
  - Use it for an etcd that role P(etcdops.headroom.etcd#role) does not manage, such as one in a container. That role sets the priority in its unit, and
    uses this module in check mode to verify it.
  - O(unit), O(pid) or O(name) identifies the process.
options:
  unit:
    description:
      - The systemd unit of the process. Its main process must be called O(name), or have a database or log of etcd open; otherwise etcd is another
        process, for example in a container that the unit starts.
    type: str
  pid:
    description: The process ID.
    type: int
  name:
    description: The name of the process, without its path. If there are several, the module lists them and fails.
    type: str
    default: etcd
  io_class:
    description:
      - The I/O class; V(none) is the kernel's default. If not set, the I/O priority stays unchanged.
      - Realtime is refused, because such a process can block all other I/O of the disk.
    type: str
  io_priority:
    description: The priority in class V(best-effort), from 0 (highest) to 7. The default is 0.
    type: int
  nice:
    description: Nice value, from -20 (highest priority) to 19. By default unchanged.
    type: int
  io_weight:
    description:
      - I/O weight of the process's control group, 1 to 10000 on systemd's scale, where the default is 100.
      - For a systemd service, set C(IOWeight=) in the unit instead.
    type: int
  cpu_weight:
    description: CPU weight of the process's control group, 1 to 10000 on systemd's scale. For a systemd service, set C(CPUWeight=) instead.
    type: int
attributes:
  check_mode:
    description: Reports what would be set on which threads, and sets nothing.
    support: full
  diff_mode:
    description: Shows how many threads have which priority, and the weights.
    support: full
  platform:
    description: Linux, as root. Works on x86_64, aarch64, riscv64, loongarch64, ppc64le and s390x.
    support: full
    platforms: Linux
seealso:
  - module: etcdops.headroom.etcd_cluster_info
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: What ionice -c2 -n0 was meant to do
  etcdops.headroom.etcd_priority:
    io_class: best-effort
    io_priority: 0

- name: A unit that somebody else wrote
  etcdops.headroom.etcd_priority:
    unit: my-etcd.service
    io_class: best-effort
    nice: -5

- name: Verify, and set nothing
  etcdops.headroom.etcd_priority:
    unit: etcd.service
    io_class: best-effort
  check_mode: true
  register: priority
  failed_when: priority is failed or priority.differing | length > 0
"""

RETURN = r"""
msg:
  description: The result as a sentence.
  type: str
  returned: always
  sample: >-
    14 of 15 threads of process 812 (etcd.service) had another priority than best-effort/0: 813 (none, nice 0), 814 (none, nice 0) and 12 more.
pid:
  description: The process ID.
  type: int
  returned: success
  sample: 812
threads:
  description: The threads after the module ran (in check mode, as they are).
  type: list
  elements: dict
  returned: success
  sample: [{tid: 812, io_class: best-effort, io_level: 0, nice: -5}]
differing:
  description: The threads that had another priority before.
  type: list
  elements: dict
  returned: success
  sample: [{tid: 813, io_class: none, io_level: null, nice: 0}]
io_classes:
  description: The threads by I/O class and level.
  type: dict
  returned: success
  sample: {best-effort/0: 15}
nice:
  description: The threads by nice value.
  type: dict
  returned: success
  sample: {"-5": 15}
weights:
  description: The requested weights, by file of the control group.
  type: dict
  returned: success
  sample: {/sys/fs/cgroup/system.slice/docker-4c0f.scope/io.bfq.weight: 136}
disks:
  description: The disks below etcd's open files, with their I/O schedulers. The scheduler is null if the kernel shows none.
  type: list
  elements: dict
  returned: success
  sample: [{volume: wal, disk: sda, scheduler: bfq}]
ignored:
  description: Whether none of these disks distinguishes O(io_class) from the default.
  type: bool
  returned: success
  sample: false
effect:
  description: The effect of the priority with each disk's I/O scheduler.
  type: list
  elements: str
  returned: success
  sample: [The I/O scheduler none on nvme0n1 ignores I/O priorities; bfq honours them.]
kind:
  description: The supervisor of the process, V(ignore:service), V(ignore:container), V(ignore:pod) or V(ignore:other).
  type: str
  returned: success
  sample: service
unit:
  description: The systemd unit of the process's control group, empty if there is none.
  type: str
  returned: success
  sample: etcd.service
managed:
  description: Whether the process runs under the unit of role P(etcdops.headroom.etcd#role).
  type: bool
  returned: success
  sample: false
weighable:
  description: The options for weights, V(ignore:io_weight) and V(ignore:cpu_weight), that the process's control group has files for.
  type: list
  elements: str
  returned: success
  sample: [io_weight, cpu_weight]
lasting:
  description: Whether the priority persists, and how to make it persist.
  type: str
  returned: success
  sample: etcd.service sets it again at each start if a drop-in of the unit says so.
"""

import os
from dataclasses import replace
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._host import owners, priority, systemd
from ansible_collections.etcdops.headroom.plugins.module_utils._host import weights as host_weights
from ansible_collections.etcdops.headroom.plugins.module_utils._host.facts import process_environment
from ansible_collections.etcdops.headroom.plugins.module_utils._host.priority import Priority, PriorityError, Thread
from ansible_collections.etcdops.headroom.plugins.module_utils._host.process import DIGEST_VARIABLE

SYSTEMD_SECONDS = 10


def find(params: dict[str, Any]) -> int:
    """Return the ID of the process. Raises PriorityError if there is none, or more than one."""
    if params["pid"]:
        if not os.path.isdir(f"/proc/{params['pid']}"):
            raise PriorityError(f"There is no process {params['pid']}.")
        return int(params["pid"])
    if params["unit"]:
        unit = systemd.show(params["unit"], SYSTEMD_SECONDS)
        if unit.pid is None:
            states = {"not-found": "is unknown to systemd", "": "is not reported by systemctl"}
            state = states.get(unit.load_state, f"is {unit.active_state}")
            raise PriorityError(f"{params['unit']} {state}, so it has no process: start it first, or name pid.")
        verify_process(unit.pid, params["unit"], params["name"])
        return unit.pid
    found = owners.find_by_name(params["name"])
    if not found:
        raise PriorityError(f"No process is called {params['name']}: start it first, or name unit or pid.")
    if len(found) > 1:
        several = "; ".join(f"{item.pid} ({item.owner}): {item.command[:80]}" for item in found)
        raise PriorityError(
            f"{len(found)} processes are called {params['name']}: select one with unit or pid: {several}."
        )
    return found[0].pid


def verify_process(pid: int, unit: str, name: str) -> None:
    """Raise PriorityError unless the main process of a unit is etcd, by its name or by its open database or log.

    Of a unit that starts a container or a script, the main process is the engine's client or a shell, and etcd is another process.
    """
    found = owners.process_name(pid)
    if found == name[:15] or owners.etcd_disks(pid):
        return
    raise PriorityError(
        f"The main process of {unit} is {found or 'unknown'} (process {pid}), not {name}, and has no database or log of etcd open: "
        f"leave unit out, so that the module finds the process called {name}, or name pid."
    )


def owner_of(pid: int) -> owners.Owner:
    """Return the unit or container of the process. A service counts only for its main process, not for a shell below sshd."""
    owner = owners.read_owner(pid)
    if owner.kind == "service" and systemd.show(owner.unit, SYSTEMD_SECONDS).pid != pid:
        # The unit may belong to a container's systemd, unknown to the host's.
        beyond = owner.container and not owners.shares_pid_namespace(pid)
        return replace(owner, kind="container" if beyond else "other")
    return owner


def weights(params: dict[str, Any], pid: int) -> list[host_weights.WeightFile]:
    """Return the files of the control group for the requested weights. Raises PriorityError if it has none."""
    found = []
    for option in host_weights.CONTROLLERS:
        if params[option] is not None:
            found += host_weights.weight_files(option, params[option], pid)
    return found


def describe(pid: int, owner: owners.Owner, before: list[Thread], others: list[Thread], goal: Priority) -> str:
    """Return in a sentence which threads had another priority."""
    whose = f"process {pid}" + (f" ({owner})" if owner.unit or owner.container else "")
    if not others:
        return (
            f"All {len(before)} threads of {whose} have {goal}."
            if str(goal)
            else f"No priority was requested for {whose}."
        )
    return f"{len(others)} of {len(before)} threads of {whose} had another priority than {goal}: {priority.describe_threads(others)}."


def run(module: AnsibleModule) -> dict[str, Any]:
    """Set the priority unless in check mode, and return the result. Raises PriorityError.

    Nothing is set for an invalid request; a thread that the kernel refuses to change leaves the earlier ones changed.
    """
    params = module.params
    goal = priority.parse_priority(params["io_class"], params["io_priority"], params["nice"])
    for option in host_weights.CONTROLLERS:
        if params[option] is not None:
            host_weights.validate_weight(option, params[option])
    pid = find(params)
    before = priority.read_threads(pid)
    if not before:
        raise PriorityError(f"Process {pid} ended while its threads were read.")
    others = [thread for thread in before if priority.differs(thread, goal)]
    files = weights(params, pid)
    after = before
    if not module.check_mode:
        after = priority.set_priority(pid, goal)
        for file in files:
            if file.current != file.wanted:
                file.path.write_text(str(file.wanted), encoding="utf-8")
    owner, disks = owner_of(pid), owners.etcd_disks(pid)
    io_class = goal.io_class or "none"
    return {
        "changed": bool(others) or any(file.current != file.wanted for file in files),
        "msg": describe(pid, owner, before, others, goal),
        "pid": pid,
        "threads": [priority.as_dict(thread) for thread in after],
        "differing": [priority.as_dict(thread) for thread in others],
        **priority.summary(after),
        "weights": {str(file.path): file.current if module.check_mode else file.wanted for file in files},
        "disks": disks,
        "ignored": owners.ignores_io_class(disks, io_class),
        "effect": owners.describe_effects(disks, io_class) if goal.io_class else [],
        "kind": owner.kind,
        "unit": owner.unit,
        "managed": process_environment(pid, DIGEST_VARIABLE) is not None,
        "weighable": [option for option in host_weights.CONTROLLERS if host_weights.weight_converters(option, pid)],
        "lasting": owners.describe_persistence(owner),
        "diff": {
            "before": {**priority.summary(before), "weights": {str(file.path): file.current for file in files}},
            "after": {
                **priority.summary(priority.predicted_threads(before, goal) if module.check_mode else after),
                "weights": {str(file.path): file.wanted for file in files},
            },
        },
    }


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            "unit": {"type": "str"},
            "pid": {"type": "int"},
            "name": {"type": "str", "default": "etcd"},
            "io_class": {"type": "str"},
            "io_priority": {"type": "int"},
            "nice": {"type": "int"},
            "io_weight": {"type": "int"},
            "cpu_weight": {"type": "int"},
        },
        mutually_exclusive=[("unit", "pid")],
        supports_check_mode=True,
    )
    try:
        result = run(module)
    except PriorityError as problem:
        module.fail_json(msg=str(problem))
    except OSError as problem:
        module.fail_json(
            msg=f"{problem.filename or 'The process'} cannot be read or written: {problem.strerror}. Use become."
        )
    module.exit_json(**result)


if __name__ == "__main__":
    main()
