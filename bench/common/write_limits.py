"""Limits of the writes per second to a block device, which control groups of this machine set for a host of the lab."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

TOP = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class WriteLimits:
    """The limits of a control group. version: of control groups."""

    version: int
    group: str

    @property
    def file(self) -> Path:
        """Return the file that holds the limits."""
        if self.version == 1:
            return TOP / "blkio" / self.group.strip("/") / "blkio.throttle.write_iops_device"
        return TOP / self.group.strip("/") / "io.max"

    def narrowed(self, group: str) -> WriteLimits:
        """Return the limits that apply to the processes of a group below: version 1 does not pass on those of a group above."""
        return replace(self, group=group) if self.version == 1 else self

    def line(self, device: str, writes: int) -> str:
        """Return what to write into the file to limit the writes per second to a device (MAJOR:MINOR); 0 removes the limit."""
        return f"{device} {writes}" if self.version == 1 else f"{device} wiops={writes or 'max'}"


def of_process(cgroup: str) -> WriteLimits:
    """Return the limits of a process's group by its /proc/PID/cgroup, and of the whole host if it is the host's init.

    Raises RuntimeError if neither version of control groups is there.
    """
    groups = {tuple(line.split(":")[1].split(",")): line.split(":", 2)[2] for line in cgroup.splitlines()}
    for version, controller in ((1, "blkio"), (2, "")):  # version 1 has the devices on a machine with both
        found = next((path for controllers, path in groups.items() if controller in controllers), None)
        if found is not None:
            return WriteLimits(version, found.removesuffix("/init.scope"))
    raise RuntimeError(f"no control group limits writes: neither blkio of version 1 nor version 2 in {cgroup!r}")


def writes_of(text: str, device: str) -> int:
    """Return the limit for a device in the text of the file, of either version; 0 if there is none."""
    found = re.search(rf"^{device} (?:.*\bwiops=)?(\d+)", text, re.MULTILINE)
    return int(found[1]) if found else 0
