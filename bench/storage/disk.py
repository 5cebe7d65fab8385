"""Disks of the benchmark's own: loop devices with volumes (partitions), ext4 and mounts.

A volume is a partition, so that all volumes of a disk share its request queue and its I/O scheduler, as they do on a real disk. Direct I/O
to the file below: otherwise the page cache would take the writes there, and no queue would form above.
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

from ansible_collections.etcdops.headroom.plugins.module_utils._host.block_devices import parse_scheduler

MIB = 1 << 20
SECTOR = 512
WAIT_SECONDS = 10
# What a SATA disk queues, and the largest request that a volume of AWS takes as one.
DEPTH, LARGEST_KIB = 32, 256
# What is changed of a queue beside its scheduler. Without one, the number of requests is the disk's own.
SETTINGS = ("rotational", "max_sectors_kb", "nr_requests")


class NoDisk(RuntimeError):
    """This machine does not give us such a disk; the text says what is missing."""


def run(*command: str) -> str:
    """Run a command; its output. Raises NoDisk with its own words if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    except FileNotFoundError as error:
        raise NoDisk(f"{command[0]} is not installed: this benchmark needs it") from error
    if done.returncode:
        raise NoDisk(f"`{' '.join(command)}` failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def extents(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Where partitions of these sizes (bytes, whole MiB) lie, one after the other from 1 MiB on: (first sector, sectors)."""
    found, start = [], MIB // SECTOR
    for size in sizes:
        found.append((start, size // SECTOR))
        start += size // SECTOR
    return found


@dataclass(frozen=True)
class Disk:
    """A loop device and where its volumes are mounted, in their order."""

    device: str
    mounts: tuple[Path, ...]

    @property
    def queue(self) -> Path:
        """Its queue in sysfs."""
        return Path("/sys/block") / Path(self.device).name / "queue"

    def schedulers(self) -> list[str]:
        """The I/O schedulers that this kernel has for it."""
        return parse_scheduler((self.queue / "scheduler").read_text())[1]

    def schedule(self, name: str) -> None:
        """Choose the I/O scheduler. The disk itself takes so many requests at once, whatever the scheduler holds back."""
        try:
            (self.queue / "scheduler").write_text("none")
            (self.queue / "nr_requests").write_text(str(DEPTH))  # without a scheduler these are the disk's own
            (self.queue / "scheduler").write_text(name)
        except OSError as error:
            raise NoDisk(f"{self.device} does not take the I/O scheduler {name}: {error.strerror}") from error
        active = parse_scheduler((self.queue / "scheduler").read_text())[0]
        if active != name:
            raise NoDisk(f"{self.device} was told to use the I/O scheduler {name}, but uses {active}")


@contextlib.contextmanager
def simulated(folder: Path, size: int) -> Iterator[Path]:
    """The file of a simulated disk (see bench/storage/simulated.py); the program that serves it ends with this one."""
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
    """A file on a real disk, written once from end to end, so that an fsync on it has no metadata of the file to write."""
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
    """A disk over this file with volumes (name, size in bytes), mounted below the folder; all of it is gone afterwards."""
    with contextlib.ExitStack() as stack:
        stack.callback(release, folder, file)
        device = run("losetup", "--find", "--show", "--partscan", "--direct-io=on", str(file)).strip()
        made = Disk(device, tuple(folder / volume for volume, _ in volumes))
        stack.callback(put_back, made.queue, parse_scheduler((made.queue / "scheduler").read_text())[0] or "none")
        (made.queue / "scheduler").write_text("none")
        for name in SETTINGS:
            stack.callback((made.queue / name).write_text, (made.queue / name).read_text())
        stack.callback(put_back, made.queue, "none")  # before the settings, and last the scheduler that it had
        # The kernel asks what lies below; a virtual disk calls itself rotational whatever it is.
        (made.queue / "rotational").write_text("0")
        (made.queue / "max_sectors_kb").write_text(str(LARGEST_KIB))
        for number, (mount, (start, length)) in enumerate(zip(made.mounts, extents([size for _, size in volumes])), 1):
            # Told to the kernel, not written into a table: then it need not know how to read one.
            run("addpart", device, str(number), str(start), str(length))
            partition = f"{device}p{number}"
            wait_for(Path(partition))
            run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", partition)
            mount.mkdir(parents=True, exist_ok=True)
            run("mount", "-o", "noatime", partition, str(mount))
        yield made


def put_back(queue: Path, scheduler: str) -> None:
    """Give a queue its scheduler again: a loop device keeps it when its file has gone, and the next user has it."""
    (queue / "scheduler").write_text(scheduler)


def mounted_below(folder: Path) -> list[str]:
    """The mount points at and below a folder, the deepest first."""
    points = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    return sorted((point for point in points if f"{point}/".startswith(f"{folder}/")), reverse=True)


def release(folder: Path, file: Path | None = None) -> None:
    """Unmount all below a folder, and detach the loop devices over a file. May be called when only a part was made."""
    for point in mounted_below(folder):
        run("umount", point)
    if file is not None:
        for device in run("losetup", "--noheadings", "--output", "NAME", "--associated", str(file)).split():
            run("losetup", "--detach", device)


def release_left_behind(folder: Path) -> None:
    """Remove what a run left behind that was killed: its loop devices, mounts and files."""
    for point in mounted_below(folder):
        run("umount", "--lazy", point)
    for line in run("losetup", "--noheadings", "--output", "NAME,BACK-FILE").splitlines():
        device, _, file = line.strip().partition(" ")
        if file.strip().startswith(f"{folder}/"):
            run("losetup", "--detach", device)
    for left in folder.glob("*/below/disk"):
        left.unlink()


def wait_for(node: Path) -> None:
    """Wait until the kernel has made a device node."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not node.is_block_device():
        if time.monotonic() > deadline:
            raise NoDisk(f"{node} does not appear: this machine's /dev shows no partitions of loop devices")
        time.sleep(0.05)
