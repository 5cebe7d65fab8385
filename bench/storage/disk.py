"""Disks for the benchmark: loop devices with volumes (partitions), ext4 and mounts.

All volumes of a disk share its request queue and its I/O scheduler, as on a real disk. The loop device uses direct I/O, because the page
cache would otherwise absorb the writes and no queue would form above it.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB
from ansible_collections.etcdops.headroom.plugins.module_utils._host.block_devices import parse_scheduler

SECTOR = 512
WAIT_SECONDS = 10
# The queue depth of a SATA disk, and the largest request that an AWS volume counts as one.
DEPTH, MAX_KIB = 32, 256
# Queue settings that are changed together with the scheduler.
SETTINGS = ("rotational", "max_sectors_kb", "nr_requests")


class NoDisk(RuntimeError):
    """The machine cannot provide such a disk; the message says what is missing."""


def run(*command: str) -> str:
    """Run a command and return its output. Raises NoDisk with the command's error message."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    except FileNotFoundError as error:
        raise NoDisk(f"{command[0]} is not installed: this benchmark needs it") from error
    if done.returncode:
        raise NoDisk(f"`{' '.join(command)}` failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def extents(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Return (first sector, sectors) of consecutive partitions of these sizes (bytes, whole MiB), starting at 1 MiB."""
    found, start = [], MIB // SECTOR
    for size in sizes:
        found.append((start, size // SECTOR))
        start += size // SECTOR
    return found


@dataclass(frozen=True)
class Disk:
    """A loop device and the mount points of its volumes, in order."""

    device: str
    mounts: tuple[Path, ...]

    @property
    def queue(self) -> Path:
        """Return the path of its queue in sysfs."""
        return Path("/sys/block") / Path(self.device).name / "queue"

    def schedulers(self) -> list[str]:
        """Return the I/O schedulers that the kernel offers for it."""
        return parse_scheduler((self.queue / "scheduler").read_text())[1]

    def schedule(self, name: str) -> None:
        """Set the I/O scheduler. The disk's own queue depth does not depend on it."""
        try:
            (self.queue / "scheduler").write_text("none")
            (self.queue / "nr_requests").write_text(
                str(DEPTH)
            )  # without a scheduler this is the disk's own queue depth
            (self.queue / "scheduler").write_text(name)
        except OSError as error:
            raise NoDisk(f"{self.device} does not take the I/O scheduler {name}: {error.strerror}") from error
        active = parse_scheduler((self.queue / "scheduler").read_text())[0]
        if active != name:
            raise NoDisk(f"{self.device} was set to the I/O scheduler {name}, but uses {active}")


@contextlib.contextmanager
def simulated(folder: Path, size: int) -> Iterator[Path]:
    """Serve the file of a simulated disk (see bench/storage/simulated.py) until this process ends."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [
        "setpriv",
        "--pdeathsig",
        "KILL",
        "--",
        sys.executable,
        "-m",
        "bench.storage.simulated",
        str(folder),
        str(size),
    ]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert server.stdout and server.stderr
    try:
        if server.stdout.readline() != "ready\n":
            raise NoDisk(f"the simulated disk does not start: {server.stderr.read().strip().splitlines()[-1:]}")
        yield folder / "disk"
    finally:
        release(folder)
        server.kill()
        server.wait()
        server.stdout.close()
        server.stderr.close()


@contextlib.contextmanager
def written(folder: Path, size: int) -> Iterator[Path]:
    """Create a file on a real disk and write it fully, so that an fsync has no file metadata to write."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "disk"
    block = bytes(8 * MIB)
    try:
        with file.open("wb", buffering=0) as out:
            for _ in range(-(-size // len(block))):
                out.write(block)
            os.fsync(out.fileno())
        yield file
    finally:
        file.unlink(missing_ok=True)


@contextlib.contextmanager
def disk(folder: Path, file: Path, volumes: Sequence[tuple[str, int]]) -> Iterator[Disk]:
    """Provide a disk on this file with volumes (name, size in bytes), mounted below the folder, and remove it afterwards."""
    with contextlib.ExitStack() as stack:
        stack.callback(release, folder, file)
        device = run("losetup", "--find", "--show", "--partscan", "--direct-io=on", str(file)).strip()
        made = Disk(device, tuple(folder / volume for volume, _ in volumes))
        stack.callback(put_back, made.queue, parse_scheduler((made.queue / "scheduler").read_text())[0] or "none")
        (made.queue / "scheduler").write_text("none")
        for name in SETTINGS:
            stack.callback((made.queue / name).write_text, (made.queue / name).read_text())
        stack.callback(put_back, made.queue, "none")  # restore the settings first and the original scheduler last
        # The kernel inherits the flag from below, and virtual disks report rotational whatever they are.
        (made.queue / "rotational").write_text("0")
        (made.queue / "max_sectors_kb").write_text(str(MAX_KIB))
        for number, (mount, (start, length)) in enumerate(zip(made.mounts, extents([size for _, size in volumes])), 1):
            # Partitions are added to the kernel directly, so it need not support a partition table.
            run("addpart", device, str(number), str(start), str(length))
            partition = f"{device}p{number}"
            wait_for(Path(partition))
            run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", partition)
            mount.mkdir(parents=True, exist_ok=True)
            run("mount", "-o", "noatime", partition, str(mount))
        yield made


def put_back(queue: Path, scheduler: str) -> None:
    """Restore a queue's scheduler, which a loop device would otherwise keep for its next user."""
    (queue / "scheduler").write_text(scheduler)


def mounted_below(folder: Path) -> list[str]:
    """Return the mount points at and below a folder, the deepest first."""
    points = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    return sorted((point for point in points if f"{point}/".startswith(f"{folder}/")), reverse=True)


def release(folder: Path, file: Path | None = None) -> None:
    """Unmount everything below a folder and detach the loop devices of a file. Safe after a partial set-up."""
    for point in mounted_below(folder):
        run("umount", point)
    if file is not None:
        for device in run("losetup", "--noheadings", "--output", "NAME", "--associated", str(file)).split():
            run("losetup", "--detach", device)


def release_left_behind(folder: Path) -> None:
    """Remove the loop devices, mounts and files of a killed run."""
    for point in mounted_below(folder):
        run("umount", "--lazy", point)
    for line in run("losetup", "--noheadings", "--output", "NAME,BACK-FILE").splitlines():
        device, _, file = line.strip().partition(" ")
        if file.strip().startswith(f"{folder}/"):
            run("losetup", "--detach", device)
    for left in folder.glob("*/below/disk"):
        left.unlink()


def wait_for(node: Path) -> None:
    """Wait until the kernel has created a device node."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not node.is_block_device():
        if time.monotonic() > deadline:
            raise NoDisk(f"{node} does not appear: this machine's /dev shows no partitions of loop devices")
        time.sleep(0.05)
