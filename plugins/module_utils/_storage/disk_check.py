# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a disk may be measured, and how fio is run there. Private to the collection.

The file that fio writes is removed whatever happens; of a run that was killed outright, by the next one.
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
import tempfile
import time
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import run_process
from ansible_collections.etcdops.headroom.plugins.module_utils._base.signals import exit_on_signals, restore_handlers
from ansible_collections.etcdops.headroom.plugins.module_utils._host import block_devices, mounts
from ansible_collections.etcdops.headroom.plugins.module_utils._host import facts as host_facts
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import fio as storage_fio

FILE_PREFIX = ".headroom-fio-"

# Beyond the time that fio is told: for starting, and for the flush at its end on a slow disk.
GRACE_SECONDS = 15

INSTALL = {
    "apt": "apt-get install fio",
    "dnf": "dnf install fio",
    "dnf5": "dnf install fio",
    "yum": "yum install fio",
    "zypper": "zypper install fio",
    "pacman": "pacman -S fio",
    "apk": "apk add fio",
}

# What etcd holds locked while it runs, from a data or WAL directory, a folder above it or one of its own folders.
LOCKED_FILES = (
    *("*.wal", "*/*.wal", "member/wal/*.wal", "*/member/wal/*.wal"),
    *("db", "snap/db", "member/snap/db", "*/member/snap/db"),
)

# The device (hexadecimal) and inode of a line in /proc/locks, whose process is -1 for the locks that etcd takes.
_LOCK = re.compile(r" ([0-9a-f]+):([0-9a-f]+):(\d+) ")


class Volume:
    """The filesystem that a directory lies on, and the disk below it."""

    def __init__(self, path: str) -> None:
        mount = mounts.mount_of(os.path.realpath(path), mounts.read_mounts())
        if mount is None:
            raise ValueError(f"{path} is on no filesystem that /proc/self/mountinfo shows.")
        self.mount = mount
        name = block_devices.queue_facts(mount.device_number)["name"]
        # Anonymous device numbers (btrfs, zfs, nfs) have no disk of their own in sysfs.
        self.disk = block_devices.device_facts(f"/dev/{name}", [], [], host_facts.run) if name else {}
        # The filesystem's UUID is the disk's wherever it is attached; device names are dealt out anew at each boot.
        self.identity = self.disk.get("uuid") or f"{mount.source} {mount.fstype} {mount.mountpoint}"

    @property
    def place(self) -> str:
        """How people name it."""
        return f"{self.mount.source} ({self.mount.fstype} at {self.mount.mountpoint})"

    @property
    def network(self) -> str:
        """The filesystem's type if it is a remote one, else nothing."""
        return self.mount.fstype if self.mount.fstype in storage_fio.NETWORK_FILESYSTEMS else ""

    def facts(self) -> dict[str, Any]:
        """The part of the module's result that describes the volume."""
        return {
            "device": self.mount.source,
            "filesystem": self.mount.fstype,
            "network_filesystem": bool(self.network),
            "mount": self.mount.mountpoint,
            "scheduler": self.disk.get("scheduler"),
            "rotational": self.disk.get("rotational"),
            "write_cache": self.disk.get("write_cache"),
        }


def parse_locks(text: str) -> set[tuple[str, int]]:
    """The locked files in /proc/locks: device number as in mountinfo ("254:16"), and inode."""
    found = (_LOCK.search(line) for line in text.splitlines())
    return {(f"{int(lock[1], 16)}:{int(lock[2], 16)}", int(lock[3])) for lock in found if lock}


def member_file(path: str, volume: Volume, locks: str = "/proc/locks") -> str | None:
    """A file below the directory that a running member holds locked, None if there is none.

    The kernel shows the locks of all processes to every user, those in containers included.
    """
    locked = parse_locks(host_facts.read_text(locks))
    if not locked:
        return None
    for pattern in LOCKED_FILES:
        for name in glob.iglob(os.path.join(glob.escape(path), pattern)):
            try:
                if (volume.mount.device_number, os.stat(name).st_ino) in locked:
                    return name
            except OSError:
                continue
    return None


def refusal(path: str, volume: Volume, profile: storage_fio.Profile, *, beside_member: bool) -> str | None:
    """Why nothing can be measured here, None if it can. ``beside_member`` allows a running member's directory."""
    kind = storage_fio.REFUSED_FILESYSTEMS.get(volume.mount.fstype)
    if kind:
        return (
            f"{path} is on {volume.mount.fstype}, which is {kind}: an fdatasync there says nothing about a disk. "
            "Give the directory of a mounted volume."
        )
    if "ro" in volume.mount.options:
        return f"{path} is mounted read-only: etcd could not write there."
    busy = None if beside_member else member_file(path, volume)
    if busy:
        return (
            f"{path} is the directory of a running member, which holds {busy} locked: the load could cost it its "
            "leadership. Ask etcd_disk_live_info for its latencies, or set allow_running_member: true."
        )
    room = os.statvfs(path)
    available, needed = room.f_bavail * room.f_frsize, 2 * profile.total_bytes
    if available < needed:
        return f"{path} has {available >> 20} MiB free, the measurement needs {needed >> 20} MiB: free some space."
    if not os.access(path, os.W_OK | os.X_OK):
        return f"{path} cannot be written by user {os.geteuid()}: become root (become: true)."
    if host_facts.find_command("fio") is None:
        managers = [name for command, name in host_facts.PACKAGE_MANAGERS.items() if host_facts.find_command(command)]
        return f"fio is not installed on this host: {INSTALL.get(managers[0] if managers else '', 'install fio')}."
    return None


def unwritable(state_dir: str) -> str | None:
    """Why figures cannot be kept in a directory, which need not exist yet; None if they can."""
    folder = os.path.abspath(state_dir)
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK):
        return None
    reason = f"cannot be written by user {os.geteuid()}" if os.path.isdir(folder) else "is no directory"
    return f"state_dir is {state_dir}, but {folder} {reason}: become root (become: true), or give another state_dir."


def record_file(state_dir: str, identity: str, profile: storage_fio.Profile) -> str:
    """Where the figures of one volume are kept. Those of profile etcd have the name that release 0.1.0 gave them."""
    suffix = "" if profile.name == "etcd" else f"-{profile.name}"
    return os.path.join(state_dir, f"disk-check-{hashlib.sha256(identity.encode()).hexdigest()[:16]}{suffix}.json")


def remove_leftovers(path: str, older_than: float) -> None:
    """Remove files of runs that were killed outright (SIGKILL, power loss)."""
    for name in os.listdir(path):
        if name.startswith(FILE_PREFIX):
            leftover = os.path.join(path, name)
            if os.lstat(leftover).st_mtime < older_than:
                os.unlink(leftover)


def measure(
    path: str, profile: storage_fio.Profile, seconds: int, warmup: int, repeats: int
) -> storage_fio.Measurement:
    """Run fio in path, warm-up and all runs within the seconds; its files are gone afterwards, whatever happened."""
    before = exit_on_signals()
    try:
        remove_leftovers(path, time.time() - seconds - 10 * GRACE_SECONDS)
        deadline = time.monotonic() + seconds
        warmup, repeats = storage_fio.schedule(seconds, warmup, repeats)
        if warmup:
            _run(path, profile, warmup)
        runs = [
            storage_fio.parse(_run(path, profile, storage_fio.run_seconds(profile, deadline - time.monotonic(), left)))
            for left in range(repeats, 0, -1)
        ]
        return storage_fio.combine(runs)
    finally:
        restore_handlers(before)


def _run(path: str, profile: storage_fio.Profile, seconds: int) -> str:
    """What fio printed in one run. Each run has a file of its own, so that none overwrites blocks of an earlier one."""
    handle, name = tempfile.mkstemp(prefix=FILE_PREFIX, dir=path)
    os.close(handle)
    try:
        command = storage_fio.command(profile, os.path.basename(name), seconds)
        command[0] = host_facts.find_command("fio") or command[0]
        # fio runs as one process (--thread), and run_process() kills it when the time is over or this module is stopped.
        fio = run_process(command, seconds + GRACE_SECONDS, directory=path)
    except OSError as problem:
        raise storage_fio.FioError(f"{command[0]} cannot be run ({problem.strerror}): install fio anew.") from problem
    finally:
        os.unlink(name)
    if fio.returncode is None:
        raise storage_fio.FioError(
            f"fio did not end within {seconds + GRACE_SECONDS} s: the disk hangs or is far too slow for etcd."
        )
    if fio.returncode < 0:
        raise storage_fio.FioError(f"fio was killed by signal {-fio.returncode} before it had measured.")
    return fio.stdout or fio.stderr
