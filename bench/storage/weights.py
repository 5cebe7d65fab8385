"""Control groups with an I/O weight, as systemd creates them for `IOWeight=`: cgroup v1's blkio or v2's io controller.

Sources: kernel, Documentation/block/bfq-iosched.rst and Documentation/admin-guide/cgroup-v1/blkio-controller.rst; systemd, src/core/cgroup.c.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.etcdops.headroom.plugins.module_utils._host.mounts import read_mounts

from bench.common import control_groups

PREFIX = "headroom-storage-"


class NoWeights(RuntimeError):
    """The machine has no I/O controller with bfq weights; the message says what is missing."""


@dataclass(frozen=True)
class Controller:
    """The mount point of the I/O controller, and the name of a group's weight file."""

    top: Path
    file: str


def find() -> Controller:
    """Find the controller of block I/O: cgroup v1 if it is mounted, else v2."""
    for mount in read_mounts():
        if mount.fstype == "cgroup" and "blkio" in mount.super_options.split(","):
            return Controller(Path(mount.mountpoint), "blkio.bfq.weight")
    for mount in read_mounts():
        top = Path(mount.mountpoint)
        if mount.fstype == "cgroup2" and "io" in control_groups.words(top / "cgroup.controllers"):
            with contextlib.suppress(
                OSError
            ):  # the kernel refuses this if the controller is already enabled for a group with processes
                (top / "cgroup.subtree_control").write_text("+io")
            return Controller(top, "io.bfq.weight")
    raise NoWeights("no controller of block I/O is mounted (cgroup v1's blkio or v2's io)")


@contextlib.contextmanager
def group(controller: Controller, name: str, weight: int) -> Iterator[Path]:
    """Create a group with this weight (1 to 1000, bfq's default is 100), and kill its processes at the end."""
    path = control_groups.group_path(controller.top, PREFIX, name)
    try:
        path.mkdir()
        (path / controller.file).write_text(str(weight))
    except OSError as error:
        control_groups.remove(path)
        raise NoWeights(f"{path}: a group with {controller.file} cannot be made ({error.strerror})") from error
    try:
        yield path
    finally:
        control_groups.remove(path)
