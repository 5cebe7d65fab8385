# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide whether a directory's disk may be measured, and run fio there.

fio's file is always removed; if a run was killed with SIGKILL, the next run removes it.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import read_text
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import run_process
from ansible_collections.etcdops.headroom.plugins.module_utils._base.signals import exit_on_signals, restore_handlers
from ansible_collections.etcdops.headroom.plugins.module_utils._host import block_devices, mounts
from ansible_collections.etcdops.headroom.plugins.module_utils._host import facts as host_facts
from ansible_collections.etcdops.headroom.plugins.module_utils._host.file_locks import locked_file
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import fio as storage_fio
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import folder_lock
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import verdict as storage_verdict

FILE_PREFIX = ".headroom-fio-"

# Added to fio's runtime, for its start and for its last flush on a slow disk.
GRACE_SECONDS = 15

# A busy machine writes few records within the time limit; measuring ends after this many time limits.
MAX_TIMEOUTS = 4

INSTALL = {
    "apt": "apt-get install fio",
    "dnf": "dnf install fio",
    "dnf5": "dnf install fio",
    "yum": "yum install fio",
    "zypper": "zypper install fio",
    "pacman": "pacman -S fio",
    "apk": "apk add fio",
}

# Files that a running etcd locks, as seen from a data or WAL directory, its parent or one of its folders.
LOCKED_FILES = (
    *("*.wal", "*/*.wal", "member/wal/*.wal", "*/member/wal/*.wal"),
    *("db", "snap/db", "member/snap/db", "*/member/snap/db"),
)


class Volume:
    """The filesystem of a directory and the disk below it. Raises ValueError if the filesystem is unknown."""

    def __init__(self, path: str) -> None:
        mount = mounts.mount_of(os.path.realpath(path), mounts.read_mounts())
        if mount is None:
            raise ValueError(
                f"{path} is on a filesystem that /proc/self/mountinfo does not list: give a directory on a mounted volume."
            )
        self.mount = mount
        name = block_devices.queue_facts(mount.device_number)["name"]
        # Anonymous device numbers (btrfs, zfs, nfs) have no disk of their own in sysfs.
        self.disk = block_devices.device_facts(f"/dev/{name}", [], [], host_facts.run) if name else {}
        # A UUID stays with the filesystem; the kernel may assign other device names at each boot.
        self.identity = self.disk.get("uuid") or f"{mount.source} {mount.fstype} {mount.mountpoint}"

    @property
    def place(self) -> str:
        """Device, filesystem type and mount point, for messages."""
        return f"{self.mount.source} ({self.mount.fstype} at {self.mount.mountpoint})"

    @property
    def network(self) -> str:
        """The filesystem's type if it is a network filesystem, else empty."""
        return self.mount.fstype if self.mount.fstype in storage_fio.NETWORK_FILESYSTEMS else ""

    def facts(self) -> dict[str, Any]:
        """Return the part of etcd_disk_check's result that describes the volume."""
        return {
            "device": self.mount.source,
            "filesystem": self.mount.fstype,
            "network_filesystem": bool(self.network),
            "mount": self.mount.mountpoint,
            "scheduler": self.disk.get("scheduler"),
            "rotational": self.disk.get("rotational"),
            "write_cache": self.disk.get("write_cache"),
        }


def measurement_problem(
    path: str, volume: Volume, profile: storage_fio.Profile, *, allow_running_member: bool
) -> str | None:
    """Return why nothing can be measured here, None if it can."""
    kind = storage_fio.REFUSED_FILESYSTEMS.get(volume.mount.fstype)
    if kind:
        return (
            f"{path} is on {volume.mount.fstype}, which is {kind}: an fdatasync there does not reach a disk. "
            "Give a directory on a mounted volume."
        )
    if "ro" in volume.mount.options:
        return f"{path} is mounted read-only, and etcd has to write there: remount it read-write."
    busy = None if allow_running_member else locked_file(path, LOCKED_FILES)
    if busy:
        return (
            f"{path} is the directory of a running member, which has {busy} locked. The load could cost the member its "
            "leadership: use etcd_disk_live_info, or set allow_running_member: true."
        )
    room = os.statvfs(path)
    available, needed = room.f_bavail * room.f_frsize, 2 * profile.total_bytes
    if available < needed:
        return f"{path} has {available >> 20} MiB free, and the measurement needs {needed >> 20} MiB: free some space."
    if not os.access(path, os.W_OK | os.X_OK):
        return f"{path} cannot be written by user {os.geteuid()}: become root (become: true)."
    if host_facts.find_command("fio") is None:
        managers = [name for command, name in host_facts.PACKAGE_MANAGERS.items() if host_facts.find_command(command)]
        return f"fio is not installed on this host: {INSTALL.get(managers[0] if managers else '', 'install fio')}."
    return None


def state_dir_problem(state_dir: str) -> str | None:
    """Return why results cannot be stored in a directory, which need not exist yet; None if they can."""
    folder = os.path.abspath(state_dir)
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK):
        return None
    reason = f"cannot be written by user {os.geteuid()}" if os.path.isdir(folder) else "is not a directory"
    return f"state_dir is {state_dir}, but {folder} {reason}: become root (become: true), or give another state_dir."


def record_file(state_dir: str, identity: str, profile: storage_fio.Profile) -> str:
    """Return the file for the result of one volume and profile. Profile etcd has no suffix, as in release 0.1.0."""
    suffix = "" if profile.name == "etcd" else f"-{profile.name}"
    return os.path.join(state_dir, f"disk-check-{hashlib.sha256(identity.encode()).hexdigest()[:16]}{suffix}.json")


def wait_seconds(seconds: int) -> int:
    """Return how long to wait for another measurement on this host that began first; its time limit is ``seconds``, too."""
    return 2 * MAX_TIMEOUTS * (seconds + GRACE_SECONDS)


@contextmanager
def measuring_alone(state_dir: str, seconds: float) -> Iterator[None]:
    """Measure while no other process on this host does, since both would look slower. Raises FioError after ``seconds`` of waiting.

    The kernel releases the lock when its process ends.
    """
    os.makedirs(state_dir, mode=0o755, exist_ok=True)
    handle = os.open(state_dir, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if not folder_lock.wait_for_lock(handle, seconds):
            raise storage_fio.FioError(
                f"another process has measured a disk of this host for {seconds:g} s: wait until it ends, or stop it "
                f"(`fuser -v {state_dir}` lists it), and run this again."
            )
        yield
    finally:
        os.close(handle)


def remove_leftovers(path: str, older_than: float) -> None:
    """Remove fio's files of runs that ended by SIGKILL or power loss. ``older_than``: seconds since 1970."""
    for name in os.listdir(path):
        if name.startswith(FILE_PREFIX):
            leftover = os.path.join(path, name)
            if os.lstat(leftover).st_mtime < older_than:
                os.unlink(leftover)


def measure(
    path: str,
    profile: storage_fio.Profile,
    seconds: int,
    warmup: int,
    repeats: int,
    is_conclusive: Callable[[storage_fio.Measurement], bool],
) -> storage_fio.Measurement:
    """Run fio in ``path``, the warm-up and all runs within ``seconds``, and always remove its files. Raises FioError.

    If these are too few for ``is_conclusive``, run fio again until they are enough, or until MAX_TIMEOUTS times ``seconds`` have passed.
    """
    before = exit_on_signals()
    try:
        remove_leftovers(path, time.time() - MAX_TIMEOUTS * seconds - 10 * GRACE_SECONDS)
        began = time.monotonic()
        deadline = began + seconds
        warmup, repeats = storage_fio.plan_runs(seconds, warmup, repeats)
        if warmup:
            _run(path, profile, warmup)
        runs = [
            storage_fio.parse_output(
                _run(path, profile, storage_fio.run_seconds(profile, deadline - time.monotonic(), left))
            )
            for left in range(repeats, 0, -1)
        ]
        while not is_conclusive(storage_fio.combine(runs)):
            left_seconds = min(float(seconds), began + MAX_TIMEOUTS * seconds - time.monotonic())
            if left_seconds < 1:
                break
            runs.append(
                storage_fio.parse_output(_run(path, profile, storage_fio.run_seconds(profile, left_seconds, 1)))
            )
        return storage_fio.combine(runs)
    finally:
        restore_handlers(before)


def _run(path: str, profile: storage_fio.Profile, seconds: int) -> str:
    """Run fio once and return its output. Each run writes a new file, so that it does not overwrite allocated blocks."""
    handle, name = tempfile.mkstemp(prefix=FILE_PREFIX, dir=path)
    os.close(handle)
    try:
        command = storage_fio.command(profile, os.path.basename(name), seconds)
        command[0] = host_facts.find_command("fio") or command[0]
        # With --thread fio is one process, which run_process() kills at the time limit or when this module is stopped.
        fio = run_process(command, seconds + GRACE_SECONDS, directory=path)
    except OSError as problem:
        raise storage_fio.FioError(f"{command[0]} cannot be run ({problem.strerror}): reinstall fio.") from problem
    finally:
        os.unlink(name)
    if fio.returncode is None:
        raise storage_fio.FioError(
            f"fio did not end within {seconds + GRACE_SECONDS} s: the disk hangs or is far too slow for etcd. Check the kernel's log."
        )
    if fio.returncode < 0:
        raise storage_fio.FioError(
            f"fio was killed by signal {-fio.returncode} before it had measured: check the host's memory limits, then run it again."
        )
    return fio.stdout or fio.stderr


def measured_facts(measured: storage_fio.Measurement, measured_at: int) -> dict[str, Any]:
    """Return the measured part of the modules' result."""
    return {
        **vars(measured.figures),
        "p99_runs_us": list(measured.p99_runs_us),
        "spread_percent": measured.spread_percent,
        "measured_at": measured_at,
    }


def recorded_check(
    volume: Volume, state_dir: str, profile: storage_fio.Profile, limits: storage_verdict.Limits
) -> dict[str, Any] | None:
    """Return the verdict over the figures that an earlier run kept of a volume; None if there are none that decide.

    Few samples can fail a disk under a low limit, but cannot pass it under a higher one.
    """
    text = read_text(record_file(state_dir, volume.identity, profile))
    kept = storage_fio.load_record(text, volume.identity, profile)
    if not kept or not storage_verdict.is_conclusive(kept[0], limits):
        return None
    measured, measured_at = kept
    verdict, sentence = storage_verdict.judge(measured, limits, volume.place, network=volume.network)
    date = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(measured_at))
    return {**measured_facts(measured, measured_at), "verdict": verdict, "msg": f"{sentence} Measured {date}."}


def recorded_checks(asked: Sequence[Mapping[str, Any]], state_dir: str) -> dict[str, Any]:
    """Return the recorded benchmark of each directory, None where there is none or the limit is invalid.

    asked: ``path`` of each directory, and ``fsync_p99_max_ms`` as a number or its text.
    """
    found: dict[str, Any] = {}
    for item in asked:
        found[item["path"]] = None
        if not os.path.isdir(item["path"]):
            continue
        try:
            limits = storage_verdict.parse_limits(float(item["fsync_p99_max_ms"]), None)
            volume = Volume(item["path"])
        except (TypeError, ValueError):
            continue  # role etcd_storage reports it, with all other problems of the host
        stored = recorded_check(volume, state_dir, storage_fio.PROFILES["etcd"], limits)
        if stored:
            limit = {"limit_us": limits.fail_us, "warn_us": limits.warn_us}
            found[item["path"]] = {**volume.facts(), **limit, **stored}
    return found
