# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the facts of a host that the roles need before they change it. Private to the collection.

Parsers of what Linux and systemd show, and readers of files and folders. Nothing here writes.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import stat
from collections.abc import Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import sha256_of_file
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import run_process
from ansible_collections.etcdops.headroom.plugins.module_utils._host.accounts import group_name, owner_name

# ID and ID_LIKE of os-release(5), up to the first dash -> family.
FAMILIES = {
    "debian": "debian",
    "ubuntu": "debian",
    "rhel": "redhat",
    "fedora": "redhat",
    "centos": "redhat",
    "suse": "suse",
    "opensuse": "suse",
    "sles": "suse",
    "arch": "arch",
    "alpine": "alpine",
}

# In order of preference where a host has several.
PACKAGE_MANAGERS = {
    "apt-get": "apt",
    "dnf5": "dnf5",
    "dnf": "dnf",
    "yum": "yum",
    "zypper": "zypper",
    "pacman": "pacman",
    "apk": "apk",
}

# Larger files are not read by default.
DIGEST_LIMIT = 256 * 1024 * 1024

# Commands such as mkfs.ext4 are where a login shell of root finds them, also when Ansible's PATH is shorter.
ADMIN_FOLDERS = ["/usr/local/sbin", "/usr/sbin", "/sbin"]


def find_command(name: str) -> str | None:
    """Return the path of a command, None if it is not installed."""
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", os.defpath), *ADMIN_FOLDERS]))


def run(command: Sequence[str]) -> tuple[int, str]:
    """Run a short read-only command. Returns its exit status and output; 127 if it is missing, 124 if it does not end in 10 s."""
    program = find_command(command[0])
    if program is None:
        return 127, ""
    try:
        done = run_process([program, *command[1:]], 10)
    except OSError:
        return 124, ""
    return (124, "") if done.returncode is None else (done.returncode, done.stdout)


def parse_os_release(text: str) -> dict[str, str | None]:
    """Return id, version, codename and family from os-release(5); family is debian, redhat, suse, arch, alpine or None."""
    values = {}
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals:
            values[key.strip()] = value.strip().strip("\"'")
    ids = [values.get("ID", ""), *values.get("ID_LIKE", "").split()]
    return {
        "id": values.get("ID"),
        "version": values.get("VERSION_ID"),
        "codename": values.get("VERSION_CODENAME"),
        "family": next((FAMILIES[name.split("-")[0]] for name in ids if name.split("-")[0] in FAMILIES), None),
    }


def parse_meminfo(text: str) -> dict[str, int]:
    """Return MemTotal and SwapTotal of /proc/meminfo in bytes (the file counts KiB)."""
    values = {}
    for line in text.splitlines():
        words = line.replace(":", " ").split()
        if len(words) >= 2 and words[0] in ("MemTotal", "SwapTotal"):
            values[words[0]] = int(words[1]) * 1024
    return {"memory_total": values.get("MemTotal", 0), "swap_total": values.get("SwapTotal", 0)}


def process_environment(pid: int, name: str, proc: str = "/proc") -> str | None:
    """Return an environment variable of a running process, None if it is unset or cannot be read."""
    try:
        with open(f"{proc}/{pid}/environ", "rb") as stream:
            entries = stream.read().split(b"\0")
    except OSError:
        return None
    prefix = name.encode() + b"="
    return next(
        (entry[len(prefix) :].decode("utf-8", "replace") for entry in entries if entry.startswith(prefix)), None
    )


def process_executable(pid: int, proc: str = "/proc") -> str | None:
    """Return the path of a running process's binary, None if it cannot be read."""
    try:
        return os.readlink(f"{proc}/{pid}/exe")
    except OSError:
        return None


def _digest(path: str) -> str | None:
    try:
        return sha256_of_file(path)[1]
    except OSError:
        return None


def file_facts(path: str, digest_limit: int = DIGEST_LIMIT) -> dict[str, Any]:
    """Return type, digest, mode and owner of a path; links are followed. digest_limit: the largest file to read, in bytes."""
    target = os.readlink(path) if os.path.islink(path) else None
    try:
        status = os.stat(path)
    except OSError:
        return {"exists": False, "type": None, "target": target}
    regular = stat.S_ISREG(status.st_mode)
    kind = "file" if regular else "directory" if stat.S_ISDIR(status.st_mode) else "other"
    return {
        "exists": True,
        "type": kind,
        "target": target,
        "size": status.st_size,
        "sha256": _digest(path) if regular and status.st_size <= digest_limit else None,
        "mode": f"{stat.S_IMODE(status.st_mode):04o}",
        "owner": owner_name(status.st_uid),
        "group": group_name(status.st_gid),
    }


def has_python_module(name: str) -> bool:
    """Return whether the Python that runs the modules on this host can import a module (nothing is imported)."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def cgroup_version(root: str = "/sys/fs/cgroup") -> int | None:
    """Return 2 for the unified hierarchy, 1 for a legacy or hybrid one, None without cgroups."""
    if os.path.exists(os.path.join(root, "cgroup.controllers")):
        return 2
    return 1 if os.path.isdir(os.path.join(root, "memory")) or os.path.isdir(os.path.join(root, "systemd")) else None
