"""Describe the machine, and check that the benchmark can run on it."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import GIB
from ansible_collections.etcdops.headroom.plugins.module_utils._host.block_devices import parse_scheduler

from bench.common.machine import available_memory, busy_cpus, one_line
from bench.storage import disk
from bench.storage.simulated import BYTES_A_SECOND, LATENCY, REQUESTS_A_SECOND

# Memory for the simulated disks and their page cache; on a real disk, space for the files.
NEEDED = 6 * GIB
LOAD = "load of other work before"
PROGRAMS = ("fio", "losetup", "addpart", "mkfs.ext4", "ionice", "setpriv")


def describe(version: str, real: Path | None, weighted: bool) -> dict[str, str]:
    """Return what the figures depend on."""
    return {
        "machine": one_line(),
        "disk": disk_below(real)
        if real
        else f"simulated, {REQUESTS_A_SECOND} requests/s, {BYTES_A_SECOND >> 20} MiB/s, {LATENCY * 1000:g} ms",
        "etcd": version,
        "fio": disk.run("fio", "--version").strip().removeprefix("fio-"),
        LOAD: f"{busy_cpus():.1f}",
        "weights of control groups": "bfq's" if weighted else "none",
    }


def disk_below(folder: Path) -> str:
    """Return the disk of a folder and its I/O scheduler."""
    found = re.match(r"/dev/(\w+)", disk.run("findmnt", "--noheadings", "--output", "SOURCE", "--target", str(folder)))
    scheduler = parse_scheduler(_text(f"/sys/block/{found[1]}/queue/scheduler"))[0] if found else None
    return f"{found[1] if found else 'unknown'}, scheduler {scheduler or 'unknown'}"


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def obstacle(real: Path | None) -> str:
    """Return why the benchmark cannot run here, or an empty string."""
    if os.geteuid() != 0:
        return "bench/storage needs root, for loop devices, mounts and negative nice: run it with sudo"
    missing = [name for name in PROGRAMS if not shutil.which(name)]
    if missing:
        return f"bench/storage needs {', '.join(missing)}: install the packages fio, util-linux and e2fsprogs"
    if real and not real.is_dir():
        return f"--real {real} is not a directory"
    if real and (free := shutil.disk_usage(real).free) < NEEDED:
        return (
            f"{real} has {free / GIB:.1f} GiB free, bench/storage needs {NEEDED // GIB}: name a folder on another disk"
        )
    if real:
        return ""
    if not os.access("/dev/fuse", os.W_OK):
        return "bench/storage simulates its disks through FUSE, and there is no /dev/fuse: load the module fuse, or use --real"
    if (available := available_memory()) < NEEDED:
        return f"{available / GIB:.1f} GiB of memory are available, bench/storage needs {NEEDED // GIB}"
    return ""
