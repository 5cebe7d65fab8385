"""Control groups with a memory limit that kills, for cgroup v1 and v2.

Sources: kernel, Documentation/admin-guide/cgroup-v1/memory.rst and cgroup-v2.rst. Swap is disabled in every group, so that
reaching the limit kills instead of swapping.
"""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.etcdops.headroom.plugins.module_utils._host.mounts import parse_mountinfo

from bench.common import control_groups
from bench.common.control_groups import words

PREFIX = "headroom-bench-"


class NoMemoryCgroup(RuntimeError):
    """The machine has no usable memory controller; the message says what is missing."""


@dataclass(frozen=True)
class Hierarchy:
    """The mount point of the memory controller."""

    version: int
    top: Path


def find(mountinfo: str) -> Hierarchy:
    """Find the memory controller in /proc/self/mountinfo: cgroup v1 if it is mounted (as on a hybrid machine), else v2."""
    mounts = parse_mountinfo(mountinfo)
    for mount in mounts:
        if mount.fstype == "cgroup" and "memory" in mount.super_options.split(","):
            return Hierarchy(1, Path(mount.mountpoint))
    for mount in mounts:
        top = Path(mount.mountpoint)
        if mount.fstype == "cgroup2" and "memory" in words(top / "cgroup.controllers"):
            return Hierarchy(2, top)
    raise NoMemoryCgroup("no memory controller is mounted (neither cgroup v1's nor v2's)")


def prepare(hierarchy: Hierarchy) -> None:
    """Enable the memory controller for new groups, and remove the groups of killed runs. Raises NoMemoryCgroup."""
    top = hierarchy.top
    if not os.access(top, os.W_OK):
        raise NoMemoryCgroup(
            f"{top} is not writable: run this as root, on a machine or in a container that may make control groups"
        )
    if hierarchy.version == 2 and "memory" not in words(top / "cgroup.subtree_control"):
        try:
            (top / "cgroup.subtree_control").write_text("+memory")
        except OSError as error:
            raise NoMemoryCgroup(
                f"{top}: the memory controller cannot be enabled for groups below ({error.strerror})"
            ) from error
    control_groups.remove_left_behind(top, PREFIX)


def prepared_hierarchy() -> Hierarchy:
    """Return the memory controller of this machine, ready for groups with limits. Raises NoMemoryCgroup."""
    hierarchy = find(mountinfo())
    prepare(hierarchy)
    return hierarchy


def mountinfo() -> str:
    """Return the mounts of this process."""
    return Path("/proc/self/mountinfo").read_text()


@dataclass(frozen=True)
class Group:
    """An existing control group."""

    hierarchy: Hierarchy
    path: Path

    @classmethod
    def make(cls, hierarchy: Hierarchy, name: str, limit: int | None, high: int | None = None) -> Group:
        """Create a group. limit: MemoryMax in bytes or None; high: MemoryHigh in bytes, for v2 only."""
        group = cls(hierarchy, control_groups.group_path(hierarchy.top, PREFIX, name))
        group.path.mkdir()
        try:
            group._set(limit, high)
        except BaseException:
            group.remove()
            raise
        return group

    def _set(self, limit: int | None, high: int | None) -> None:
        if self.hierarchy.version == 1:
            if limit is not None:
                (self.path / "memory.limit_in_bytes").write_text(str(limit))
                with contextlib.suppress(OSError):  # the file does not exist without swap accounting
                    (self.path / "memory.memsw.limit_in_bytes").write_text(str(limit))
            return
        if limit is not None:
            (self.path / "memory.max").write_text(str(limit))
        if high is not None:
            (self.path / "memory.high").write_text(str(high))
        with contextlib.suppress(OSError):  # the file does not exist without swap
            (self.path / "memory.swap.max").write_text("0")

    def prefix(self) -> list[str]:
        """Return a command prefix that starts a process in the group and kills it when this process ends."""
        return control_groups.command_prefix(self.path)

    def oom_kills(self) -> int:
        """Return how many processes the limit killed."""
        name = "memory.oom_control" if self.hierarchy.version == 1 else "memory.events"
        found = re.search(r"^oom_kill (\d+)$", (self.path / name).read_text(), re.M)
        return int(found[1]) if found else 0

    def major_faults(self) -> int:
        """Return how often a page of a file was read from disk again, which is the cost of reclaim."""
        found = re.search(r"^pgmajfault (\d+)$", (self.path / "memory.stat").read_text(), re.M)
        return int(found[1]) if found else 0

    def peak(self) -> int:
        """Return the peak usage in bytes, page cache included; 0 if the kernel does not report it."""
        name = "memory.max_usage_in_bytes" if self.hierarchy.version == 1 else "memory.peak"
        found = words(self.path / name)
        return int(found[0]) if found else 0

    def remove(self) -> None:
        """Kill the processes in the group and remove it."""
        control_groups.remove(self.path)
