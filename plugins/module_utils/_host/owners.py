# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find a process, the unit or container that it belongs to, and the disks that it writes to. Private to the collection.

Functions take the root of procfs or sysfs, so that tests can hand them trees of their own. Nothing here writes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import read_text
from ansible_collections.etcdops.headroom.plugins.module_utils._host.block_devices import queue_facts

# Names that container engines give to control groups: an id of 64 hexadecimal digits, alone or in a scope's name.
_CONTAINER = re.compile(r"(?:^|[-/:])([0-9a-f]{64})(?:\.scope)?(?:/|$)")
_UNIT = re.compile(r"([^/]+\.(?:service|scope))(?:/|$)")
_POD = re.compile(r"(?:^|/)kubepods")
# The API server gives a pod a UUID, in which systemd's driver writes underscores. The kubelet gives a static pod an MD5 sum without separators, unless
# its manifest has a UID. Source: applyDefaults in pkg/kubelet/config/common.go.
_API_POD = re.compile(r"pod[0-9a-f]{8}([-_])[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}(?![0-9a-f])")
MAX_LAYERS = 8


@dataclass(frozen=True)
class Owner:
    """The unit or container of a process, from its control group: kind is service, container, pod or other.

    ``unit`` is the systemd unit, empty where there is none; ``container`` is the container's id, likewise. A container
    may run systemd: then both are set, and kind is that of the unit within the container.
    """

    kind: str
    unit: str
    container: str
    path: str

    @property
    def pod(self) -> str:
        """Return ``static`` for a pod of a manifest on this host, ``api`` for one that the API server created, empty for no pod."""
        if self.kind != "pod":
            return ""
        return "api" if _API_POD.search(self.path) else "static"

    def __str__(self) -> str:
        container = f"container {self.container[:12]}" if self.container else ""
        own = "" if self.container and self.container in self.unit else self.unit
        return " of ".join(name for name in (own, container) if name) or self.path or "no control group"


@dataclass(frozen=True)
class Candidate:
    """A process with the requested name."""

    pid: int
    command: str
    owner: Owner


def find_by_name(name: str, proc: str = "/proc") -> list[Candidate]:
    """Return the processes with this name (/proc/PID/comm, at most 15 characters), sorted by PID."""
    found = []
    for entry in os.listdir(proc):
        if entry.isdigit() and process_name(int(entry), proc) == name[:15]:
            words = read_text(f"{proc}/{entry}/cmdline").split("\0")
            found.append(Candidate(int(entry), " ".join(words).strip(), read_owner(int(entry), proc)))
    return sorted(found, key=lambda candidate: candidate.pid)


def process_name(pid: int, proc: str = "/proc") -> str:
    """Return the name of a process, at most 15 characters; empty if it has ended."""
    return read_text(f"{proc}/{pid}/comm").strip()


def read_owner(pid: int, proc: str = "/proc") -> Owner:
    """Return the unit or container of a process."""
    return parse_owner(read_text(f"{proc}/{pid}/cgroup"))


def parse_owner(text: str) -> Owner:
    """Parse /proc/PID/cgroup: systemd's own hierarchy where there is one, else v2's, else the longest path."""
    paths: dict[str, str] = {}
    for line in text.splitlines():
        _number, controllers, path = [*line.split(":", 2), "", ""][:3]
        paths[controllers] = path
    path = paths.get("name=systemd") or paths.get("") or max(paths.values(), key=len, default="")
    if path == "/":
        path = max(paths.values(), key=len)
    container = _CONTAINER.search(path)
    units = _UNIT.findall(path)
    # A container that runs systemd has units of its own below the engine's scope: the innermost is the process's.
    inside = container and any(path.rfind(unit) > container.start(1) for unit in units if container[1] not in unit)
    if container and not inside:
        kind = "pod" if _POD.search(path) else "container"
        return Owner(kind, next((unit for unit in units if container[1] in unit), ""), container[1], path)
    unit = units[-1] if units else ""
    # Units of a user's own systemd cannot have a drop-in of the system's.
    by_system = unit.endswith(".service") and not any(name.startswith("user@") for name in units)
    return Owner("service" if by_system else "other", unit, container[1] if container else "", path)


def shares_pid_namespace(pid: int, proc: str = "/proc") -> bool:
    """Return whether a process shares the PID namespace of this one: the same container, or none."""
    try:
        return os.readlink(f"{proc}/{pid}/ns/pid") == os.readlink(f"{proc}/self/ns/pid")
    except OSError:
        return False


def describe_persistence(owner: Owner) -> str:
    """Return a sentence on whether the priority of the running process survives a restart."""
    if owner.kind == "service":
        return f"{owner.unit} sets it again at each start if a drop-in of the unit says so."
    if owner.kind == "pod":
        return (
            f"It does not persist: the pod's container {owner.container[:12]} loses it when it restarts, and Kubernetes has "
            "no setting for I/O priority. Set it again after each start of the pod, for example from a timer."
        )
    if owner.kind == "container" and owner.unit and owner.container not in owner.unit:
        return (
            f"It persists if {owner} sets it at each start: run this within the container, where it can have a drop-in."
        )
    if owner.kind == "container":
        return (
            f"It does not persist: container {owner.container[:12]} loses it when it restarts. Engines can give a "
            "container a weight (--blkio-weight, --cpu-shares), but no I/O priority; set it again after each start."
        )
    return "It does not persist: the process is not the main process of a unit, so the priority ends with it. Run etcd as a systemd unit."


def etcd_disks(pid: int, proc: str = "/proc", sysfs: str = "/sys") -> list[dict[str, Any]]:
    """Return the disks below the open database and WAL of a process: volume ("data", "wal"), disk, scheduler.

    Goes by the open files, so it sees through containers and their mounts. The scheduler is None where the kernel
    does not show a disk, as below btrfs or a network filesystem.
    """
    numbers: dict[str, str] = {}
    for entry in _names(f"{proc}/{pid}/fd"):
        try:
            target = os.readlink(f"{proc}/{pid}/fd/{entry}")
            volume = "data" if target.endswith("/member/snap/db") else "wal" if target.endswith(".wal") else ""
            if volume:
                device = os.stat(f"{proc}/{pid}/fd/{entry}").st_dev
                numbers[volume] = f"{os.major(device)}:{os.minor(device)}"
        except OSError:
            continue
    found = []
    for volume, number in sorted(numbers.items()):
        for name, scheduler in physical_disks(number, sysfs):
            found.append({"volume": volume, "disk": name, "scheduler": scheduler})
    return found


def physical_disks(number: str, sysfs: str = "/sys", layers: int = MAX_LAYERS) -> list[tuple[str | None, str | None]]:
    """Return the physical disks (name, I/O scheduler) below a device number, through LVM, encryption and RAID."""
    facts = queue_facts(number, sysfs)
    # Only the disk of a partition has slaves, such as a RAID with partitions.
    names = [facts["disk"]] if facts["is_partition"] else facts["slaves"]
    below: list[tuple[str | None, str | None]] = []
    for name in names if layers else ():
        below += physical_disks(read_text(f"{sysfs}/class/block/{name}/dev").strip(), sysfs, layers - 1)
    return list(dict.fromkeys(below)) or [(facts["disk"], facts["scheduler"])]


def ignores_io_class(found: Sequence[dict[str, Any]], io_class: str) -> bool:
    """Return whether all visible disks treat this class like the default."""
    honouring = {"bfq"} | ({"mq-deadline"} if io_class == "idle" else set())
    known = [item["scheduler"] for item in found if item["scheduler"] is not None]
    return bool(known) and not honouring & set(known)


def describe_effects(found: Sequence[dict[str, Any]], io_class: str) -> list[str]:
    """Return a sentence for each disk on the effect of the I/O class with its scheduler."""
    return list(
        dict.fromkeys(_describe_effect(item["disk"], item["volume"], item["scheduler"], io_class) for item in found)
    )


def _describe_effect(disk: str | None, volume: str, scheduler: str | None, io_class: str) -> str:
    if scheduler is None:
        return f"The I/O scheduler of etcd's {volume} volume is not visible, so it is unknown whether the I/O priority has an effect."
    if scheduler == "bfq":
        return f"bfq on {disk} honours the I/O priority within a control group; between groups, their weights decide."
    if scheduler != "mq-deadline":
        return f"The I/O scheduler {scheduler} on {disk} ignores I/O priorities; bfq honours them."
    if io_class == "idle":
        return f"mq-deadline on {disk} honours the class idle."
    return (
        f"mq-deadline on {disk} distinguishes only I/O classes: {io_class} at any priority is treated like the default."
    )


def _names(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []
