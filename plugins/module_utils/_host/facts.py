# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the facts of a host that the roles need before they change it. Private to the collection.

Parsers of what Linux and systemd show, and readers of files and folders. Nothing here writes.
"""

from __future__ import annotations

import grp
import importlib.util
import ipaddress
import os
import pwd
import re
import shutil
import socket
import stat
from collections.abc import Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import sha256_of_file
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import run_process

# `uname -m` -> GOARCH, as in the names of etcd's release archives.
GO_ARCHITECTURES = {
    "x86_64": "amd64",
    "aarch64": "arm64",
    "arm64": "arm64",
    "ppc64le": "ppc64le",
    "s390x": "s390x",
    "riscv64": "riscv64",
}

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

_LOCAL = re.compile(r"^\s*/32 host LOCAL\b")
_LEAF = re.compile(r"^\s*\|-- (\d+\.\d+\.\d+\.\d+)$")
_VERSION = re.compile(r"^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$")


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


def parse_fib_trie(text: str) -> list[str]:
    """Return the host's own IPv4 addresses in /proc/net/fib_trie, without loopback."""
    found, leaf = set(), ""
    for line in text.splitlines():
        match = _LEAF.match(line)
        if match:
            leaf = match.group(1)
        elif _LOCAL.match(line) and not ipaddress.ip_address(leaf).is_loopback:
            found.add(leaf)
    return sorted(found, key=lambda address: int(ipaddress.ip_address(address)))


# Flags of an address that a member must not have. Source: include/uapi/linux/if_addr.h.
UNFIT_IPV6 = 0x01 | 0x08 | 0x20 | 0x40  # temporary, duplicate address detected, deprecated, tentative


def parse_if_inet6(text: str) -> list[str]:
    """Return the host's own IPv6 addresses in /proc/net/if_inet6, without loopback and link-local ones."""
    addresses = {ipaddress.IPv6Address(bytes.fromhex(line.split()[0])) for line in text.splitlines() if line.strip()}
    return [str(address) for address in sorted(addresses) if not (address.is_loopback or address.is_link_local)]


def route_source(family: int, target: str) -> str | None:
    """Return the source address that the host would use for a target. Connecting a UDP socket sends no packet."""
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((target, 53))
            return str(probe.getsockname()[0])
    except OSError:
        return None


def lasting_ipv6(source: str | None, text: str) -> str | None:
    """Return a permanent address for the host's source address, because a privacy address is replaced after a day.

    text: /proc/net/if_inet6. From the same interface the address of the same network is taken if there is one. None if all
    addresses there are temporary, deprecated or not usable yet.
    """
    entries = [line.split() for line in text.splitlines() if line.strip()]
    own = next(
        (
            entry
            for entry in entries
            if source and ipaddress.IPv6Address(bytes.fromhex(entry[0])) == ipaddress.IPv6Address(source)
        ),
        None,
    )
    if own is None or not int(own[4], 16) & UNFIT_IPV6:
        return source
    network = int(own[0], 16) >> (128 - int(own[2], 16))
    fit = [
        entry for entry in entries if entry[3] == own[3] and entry[5] == own[5] and not int(entry[4], 16) & UNFIT_IPV6
    ]
    fit.sort(key=lambda entry: (int(entry[0], 16) >> (128 - int(own[2], 16)) != network, entry[0]))
    return str(ipaddress.IPv6Address(bytes.fromhex(fit[0][0]))) if fit else None


def full_name(hostname: str) -> str:
    """Return the host's fully qualified name from its resolver, or else the name itself."""
    if "." in hostname:
        return hostname
    try:
        name = socket.getaddrinfo(hostname, None, flags=socket.AI_CANONNAME)[0][3]
    except OSError:
        return hostname
    return name if name.startswith(hostname + ".") else hostname


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


def _owner(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


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
        "owner": _owner(status.st_uid),
        "group": _group(status.st_gid),
    }


def user_facts(name: str) -> dict[str, Any]:
    """Return the facts of a user: exists, uid, gid, group, home, shell."""
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        return {"exists": False}
    return {
        "exists": True,
        "uid": entry.pw_uid,
        "gid": entry.pw_gid,
        "group": _group(entry.pw_gid),
        "home": entry.pw_dir,
        "shell": entry.pw_shell,
    }


def group_facts(name: str) -> dict[str, Any]:
    """Return the facts of a group: exists, gid."""
    try:
        return {"exists": True, "gid": grp.getgrnam(name).gr_gid}
    except KeyError:
        return {"exists": False}


def has_python_module(name: str) -> bool:
    """Return whether the Python that runs the modules on this host can import a module (nothing is imported)."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def installed_versions(folder: str) -> list[str]:
    """Return the etcd versions with a server in folder/<version>/etcd, lowest first."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    found = [name for name in names if _VERSION.match(name) and os.access(os.path.join(folder, name, "etcd"), os.X_OK)]
    return sorted(
        found, key=lambda name: ([int(part) for part in name.split("-")[0].split(".")], "-" not in name, name)
    )


def newest_program(folder: str, name: str) -> str:
    """Return the path of a program, such as etcdctl, of the newest version in folder/<version>; empty without one."""
    paths = (os.path.join(folder, version, name) for version in reversed(installed_versions(folder)))
    return next((path for path in paths if os.access(path, os.X_OK)), "")


def cgroup_version(root: str = "/sys/fs/cgroup") -> int | None:
    """Return 2 for the unified hierarchy, 1 for a legacy or hybrid one, None without cgroups."""
    if os.path.exists(os.path.join(root, "cgroup.controllers")):
        return 2
    return 1 if os.path.isdir(os.path.join(root, "memory")) or os.path.isdir(os.path.join(root, "systemd")) else None
