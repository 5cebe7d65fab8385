"""Control groups with an I/O weight, as systemd makes them of `IOWeight=`: cgroup v1's blkio or v2's io controller.

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
    """This machine has no I/O controller with bfq's weights; the text says what is missing."""


@dataclass(frozen=True)
class Controller:
    """Where groups can be made, and the file in each that has the weight."""

    top: Path
    file: str


def find() -> Controller:
    """The controller of block I/O: v1's where it is mounted, else v2's."""
    for mount in read_mounts():
        if mount.fstype == "cgroup" and "blkio" in mount.super_options.split(","):
            return Controller(Path(mount.mountpoint), "blkio.bfq.weight")
    for mount in read_mounts():
        top = Path(mount.mountpoint)
        if mount.fstype == "cgroup2" and "io" in control_groups.words(top / "cgroup.controllers"):
            with contextlib.suppress(OSError):  # refused where it is on already and processes are beside it
                (top / "cgroup.subtree_control").write_text("+io")
            return Controller(top, "io.bfq.weight")
    raise NoWeights("no controller of block I/O is mounted (cgroup v1's blkio or v2's io)")


@contextlib.contextmanager
def group(controller: Controller, name: str, weight: int) -> Iterator[Path]:
    """A group with this weight (1 to 1000, bfq's default is 100); what runs in it is killed at the end."""
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
