#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure with fio whether a disk is fast enough for etcd."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_disk_check
short_description: Measure whether a disk is fast enough for etcd
version_added: 0.1.0
description:
  - Writes 22 MiB with C(fio) as etcd writes its write-ahead log, in records of 2300 bytes with an fdatasync after each, and compares the
    99th percentile of the fdatasync latency with a limit. etcd's documentation asks for less than 10 ms.
  - The figures are kept on the host, so that running a play again does not load a disk that is in use.
  - The file written is removed, also when the run fails or is interrupted.
options:
  path:
    description: The directory in which etcd's data or WAL will live. It must exist.
    type: path
    required: true
  fsync_p99_max_ms:
    description: The limit of the 99th percentile, in milliseconds.
    type: float
    default: 10
  fail_on_slow:
    description: Whether the module fails when the disk is slower than the limit. Otherwise only RV(verdict) says so.
    type: bool
    default: true
  timeout:
    description:
      - Seconds after which writing stops. A disk that is too slow for the whole amount is judged by what it did until then.
    type: int
    default: 30
  max_age:
    description:
      - For how many days figures that were kept are used instead of a new measurement.
      - Kept figures of a slow disk are used only if O(fail_on_slow=false), so that a disk that was exchanged or repaired is measured.
    type: int
    default: 30
  force:
    description: Measure even if figures were kept. Load on the disk of a running member can cost it its leadership.
    type: bool
    default: false
  cached_only:
    description: Never measure. Without kept figures of this volume, whatever their age, RV(verdict) is V(ignore:unknown).
    type: bool
    default: false
  state_dir:
    description: The directory on the host in which figures are kept.
    type: path
    default: /var/lib/headroom
attributes:
  check_mode:
    description: Says what would be run, and returns figures only if they were kept.
    support: full
  diff_mode:
    description: There is nothing to compare.
    support: none
  platform:
    description: Linux.
    support: full
    platforms: linux
requirements:
  - fio 3.5 or newer on the host
notes:
  - Volumes with burst credits and volatile write caches make figures look better than the disk will be under steady load.
  - Directories on tmpfs, overlay and the like are refused, since an fdatasync there says nothing about a disk.
seealso:
  - name: Hardware recommendations of etcd
    description: What etcd asks of disks, and why.
    link: https://etcd.io/docs/latest/op-guide/hardware/
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Stop if the disk is too slow for etcd
  etcdops.headroom.etcd_disk_check:
    path: /var/lib/etcd

- name: Look only, with a limit of one's own
  etcdops.headroom.etcd_disk_check:
    path: /var/lib/etcd-wal
    fsync_p99_max_ms: 5
    fail_on_slow: false
  register: disk
"""

RETURN = r"""
verdict:
  description: V(ignore:ok), V(ignore:fail), or V(ignore:unknown) if nothing was measured (check mode or O(cached_only)).
  type: str
  returned: always
  sample: ok
msg:
  description: The verdict as a sentence with the figures it rests on.
  type: str
  returned: always
  sample: >-
    99 % of 10029 fdatasync calls on /dev/vdb (ext4 at /var/lib/etcd) took at most 1.73 ms (half of them 0.42 ms, the slowest 5.75 ms);
    the limit is 10 ms: fast enough.
p50_us:
  description: Median latency of fdatasync in microseconds.
  type: int
  returned: when measured
  sample: 420
p99_us:
  description: 99th percentile in microseconds.
  type: int
  returned: when measured
  sample: 1729
p999_us:
  description: 99.9th percentile in microseconds.
  type: int
  returned: when measured
  sample: 3162
max_us:
  description: The slowest fdatasync in microseconds.
  type: int
  returned: when measured
  sample: 5754
samples:
  description: Number of fdatasync calls measured.
  type: int
  returned: when measured
  sample: 10029
iops:
  description: Records written and synchronised in a second.
  type: int
  returned: when measured
  sample: 2030
bandwidth:
  description: Bytes written and synchronised in a second.
  type: int
  returned: when measured
  sample: 4668427
runtime_ms:
  description: How long fio wrote, in milliseconds.
  type: int
  returned: when measured
  sample: 4941
fio_version:
  description: The fio that measured.
  type: str
  returned: when measured
  sample: fio-3.33
measured_at:
  description: When the figures were measured, in seconds since 1970.
  type: int
  returned: when measured
  sample: 1795239113
cached:
  description: Whether the figures were kept from an earlier run.
  type: bool
  returned: always
  sample: false
limit_us:
  description: The limit of the 99th percentile in microseconds.
  type: int
  returned: always
  sample: 10000
device:
  description: The device below the directory, as it is mounted.
  type: str
  returned: always
  sample: /dev/vdb
filesystem:
  description: Type of the filesystem.
  type: str
  returned: always
  sample: ext4
network_filesystem:
  description: Whether the filesystem is a remote one. etcd's documentation advises against these.
  type: bool
  returned: always
  sample: false
mount:
  description: Where the filesystem is mounted.
  type: str
  returned: always
  sample: /var/lib/etcd
scheduler:
  description: The disk's I/O scheduler, none where it has none of its own.
  type: str
  returned: always
  sample: mq-deadline
rotational:
  description: Whether the disk says that it rotates, none where unknown. Virtual disks often say so without reason.
  type: bool
  returned: always
  sample: false
write_cache:
  description: What the kernel assumes of the disk's cache, V(ignore:write back) or V(ignore:write through), none where unknown.
  type: str
  returned: always
  sample: write back
command:
  description: The command that is run, in O(path). In check mode, the one that would be run.
  type: str
  returned: always
  sample: fio --name=etcd --rw=write --ioengine=sync --fdatasync=1 --size=23068672 --bs=2300 --runtime=30 --filename=.headroom-fio-XXXXXXXX --output-format=json
"""

import hashlib
import os
import shlex
import signal
import subprocess
import tempfile
import time
from types import FrameType
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils import _block, _fio, _host, _mounts

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


class Volume:
    """The filesystem that a directory lies on, and the disk below it."""

    def __init__(self, path: str) -> None:
        mount = _mounts.mount_of(os.path.realpath(path), _mounts.read_mounts())
        if mount is None:
            raise ValueError(f"{path} is on no filesystem that /proc/self/mountinfo shows.")
        self.mount = mount
        name = _block.queue_facts(mount.device_number)["name"]
        # Anonymous device numbers (btrfs, zfs, nfs) have no disk of their own in sysfs.
        self.disk = _block.device_facts(f"/dev/{name}", [], [], _host.run) if name else {}
        # The filesystem's UUID is the disk's wherever it is attached; device names are dealt out anew at each boot.
        self.identity = self.disk.get("uuid") or f"{mount.source} {mount.fstype} {mount.mountpoint}"

    @property
    def place(self) -> str:
        """How people name it."""
        return f"{self.mount.source} ({self.mount.fstype} at {self.mount.mountpoint})"

    def facts(self) -> dict[str, Any]:
        """The part of the result that describes the volume."""
        return {
            "device": self.mount.source,
            "filesystem": self.mount.fstype,
            "network_filesystem": self.mount.fstype in _fio.NETWORK_FILESYSTEMS,
            "mount": self.mount.mountpoint,
            "scheduler": self.disk.get("scheduler"),
            "rotational": self.disk.get("rotational"),
            "write_cache": self.disk.get("write_cache"),
        }


def refusal(path: str, volume: Volume) -> str | None:
    """Why nothing can be measured here, None if it can."""
    kind = _fio.REFUSED_FILESYSTEMS.get(volume.mount.fstype)
    if kind:
        return (
            f"{path} is on {volume.mount.fstype}, which is {kind}: an fdatasync there says nothing about a disk. "
            "Give the directory of a mounted volume."
        )
    if "ro" in volume.mount.options:
        return f"{path} is mounted read-only: etcd could not write there."
    room = os.statvfs(path)
    available, needed = room.f_bavail * room.f_frsize, 2 * _fio.TOTAL_BYTES
    if available < needed:
        return f"{path} has {available >> 20} MiB free, the measurement needs {needed >> 20} MiB: free some space."
    if not os.access(path, os.W_OK | os.X_OK):
        return f"{path} cannot be written by user {os.geteuid()}: become root (become: true)."
    if _host.find_command("fio") is None:
        managers = [name for command, name in _host.PACKAGE_MANAGERS.items() if _host.find_command(command)]
        return f"fio is not installed on this host: {INSTALL.get(managers[0] if managers else '', 'install fio')}."
    return None


def remove_leftovers(path: str, older_than: float) -> None:
    """Remove files of runs that were killed outright (SIGKILL, power loss)."""
    for name in os.listdir(path):
        if name.startswith(FILE_PREFIX):
            leftover = os.path.join(path, name)
            if os.lstat(leftover).st_mtime < older_than:
                os.unlink(leftover)


def _stop(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def measure(path: str, seconds: int) -> _fio.Figures:
    """Run fio in path; its file is gone afterwards, whatever happened."""
    before = {number: signal.signal(number, _stop) for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    remove_leftovers(path, time.time() - seconds - 10 * GRACE_SECONDS)
    handle, name = tempfile.mkstemp(prefix=FILE_PREFIX, dir=path)
    os.close(handle)
    try:
        command = _fio.command(os.path.basename(name), seconds)
        command[0] = _host.find_command("fio") or command[0]
        try:
            # fio runs as one process (--thread), and run() kills it when the time is over or this module is stopped.
            fio = subprocess.run(
                command,
                cwd=path,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds + GRACE_SECONDS,
                check=False,
                env={**os.environ, "LC_ALL": "C"},
            )
        except subprocess.TimeoutExpired as problem:
            raise _fio.FioError(
                f"fio did not end within {seconds + GRACE_SECONDS} s: the disk hangs or is far too slow for etcd."
            ) from problem
        if fio.returncode < 0:
            raise _fio.FioError(f"fio was killed by signal {-fio.returncode} before it had measured.")
        return _fio.parse((fio.stdout or fio.stderr).decode("utf-8", "replace"))
    finally:
        os.unlink(name)
        for number, handler in before.items():
            signal.signal(number, handler)


def record_file(state_dir: str, identity: str) -> str:
    """Where the figures of one volume are kept."""
    return os.path.join(state_dir, f"disk-check-{hashlib.sha256(identity.encode()).hexdigest()[:16]}.json")


def keep(module: AnsibleModule, target: str, text: str) -> None:
    """Write the figures in one step, so that a reader never sees half of them."""
    os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=module.tmpdir)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
    os.chmod(temporary, 0o644)
    module.atomic_move(temporary, target)


def check(module: AnsibleModule) -> dict[str, Any]:
    """The module's result. Raises ValueError with one message if no verdict can be given."""
    asked = module.params
    path, limit_us = asked["path"], round(asked["fsync_p99_max_ms"] * 1000)
    if limit_us <= 0:
        raise ValueError(f"fsync_p99_max_ms is {asked['fsync_p99_max_ms']}, but must be above 0, for example 10.")
    if not 1 <= asked["timeout"] <= 600:
        raise ValueError(f"timeout is {asked['timeout']}, but must be 1 to 600 seconds, for example 30.")
    if not os.path.isdir(path):
        raise ValueError(f"{path} is no directory on this host: make it, or mount its volume, first.")
    volume = Volume(path)
    target = record_file(asked["state_dir"], volume.identity)
    result: dict[str, Any] = {
        "changed": False,
        "cached": True,
        "limit_us": limit_us,
        "command": shlex.join(_fio.command(FILE_PREFIX + "XXXXXXXX", asked["timeout"])),
        **volume.facts(),
    }

    kept = None if asked["force"] else _fio.load_record(_host.read_text(target), volume.identity)
    if kept:
        figures, measured_at = kept
        verdict, sentence = _fio.judge(figures, limit_us, volume.place)
        fresh = time.time() - measured_at < asked["max_age"] * 86400
        if asked["cached_only"] or (fresh and (verdict == "ok" or not asked["fail_on_slow"])):
            date = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(measured_at))
            return {
                **result,
                **vars(figures),
                "measured_at": measured_at,
                "verdict": verdict,
                "msg": f"{sentence} Measured {date}.",
            }
    if asked["cached_only"]:
        return {**result, "cached": False, "verdict": "unknown", "msg": f"{volume.place} has not been measured yet."}

    problem = refusal(path, volume)
    if module.check_mode:
        # On a fresh host the role that installs fio has not run for real either: a refusal is foretold, not raised.
        sentence = f"Would run in {path}: {result['command']}" + (
            f". As it is now, that fails: {problem}" if problem else ""
        )
        return {**result, "changed": True, "cached": False, "verdict": "unknown", "msg": sentence}
    if problem:
        raise ValueError(problem)
    figures = measure(path, asked["timeout"])
    verdict, sentence = _fio.judge(figures, limit_us, volume.place)
    measured_at = int(time.time())
    keep(module, target, _fio.dump_record(figures, volume.identity, measured_at))
    return {
        **result,
        **vars(figures),
        "changed": True,
        "cached": False,
        "measured_at": measured_at,
        "verdict": verdict,
        "msg": sentence,
    }


def main() -> None:
    """Measure, or take what was kept, and say whether it is good enough."""
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "fsync_p99_max_ms": {"type": "float", "default": 10},
            "fail_on_slow": {"type": "bool", "default": True},
            "timeout": {"type": "int", "default": 30},
            "max_age": {"type": "int", "default": 30},
            "force": {"type": "bool", "default": False},
            "cached_only": {"type": "bool", "default": False},
            "state_dir": {"type": "path", "default": "/var/lib/headroom"},
        },
        mutually_exclusive=[("force", "cached_only")],
        supports_check_mode=True,
    )
    try:
        result = check(module)
    except (ValueError, OSError) as problem:
        module.fail_json(msg=str(problem))
    if result["verdict"] == "fail" and module.params["fail_on_slow"]:
        result["msg"] += (
            " To go on all the same: etcd_storage_accept_slow_disk: true (of this module: fail_on_slow: false)."
        )
        module.fail_json(**result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
