# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The memory limit that the kernel enforces on a process, from its control group. Private to the collection.

Handles cgroup v2 (memory.max, memory.high, memory.peak), v1 (memory.limit_in_bytes, ...) and the hybrid layout, in
which the memory controller may be in either. Sources: kernel, Documentation/admin-guide/cgroup-v2.rst and
cgroup-v1/memory.rst.
"""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._host.mounts import Mount, parse_mountinfo

# v1 expresses "no limit" as the largest multiple of the page size in 63 bits.
UNLIMITED_V1 = 1 << 62


def read_memory_cgroup(root: Path, pid: int) -> dict[str, Any]:
    """Return limit, high, current and peak (bytes, None for none or unknown) and the OOM kills of a process's cgroup.

    limit and high are the smallest ones of the group and its parents, which are the effective ones. parent_limit is the smallest
    limit or high of the parents alone (v2 only). ``root`` is "/" except in tests. Never fails: what cannot be read is None.
    """
    membership = _text(root / "proc" / str(pid) / "cgroup") or ""
    mounts = parse_mountinfo(_text(root / "proc" / "self" / "mountinfo") or "")
    found = find_memory_cgroup(membership, mounts)
    for version, mountpoint, relative in found:
        top = root / mountpoint.lstrip("/")
        group = top / relative
        if not group.is_dir():
            continue
        values = _read_v2(top, group) if version == 2 else _read_v1(group)
        if values is not None:
            return {"version": version, "path": "/" + str(group.relative_to(root)), **values}
    return dict.fromkeys(("version", "path", "limit", "high", "parent_limit", "current", "peak", "oom_kills"))


def find_memory_cgroup(membership: str, mounts: list[Mount]) -> list[tuple[int, str, str]]:
    """Return where the memory controller may account for a process, as find_cgroup does."""
    return find_cgroup(membership, mounts, "memory")


def find_cgroup(membership: str, mounts: list[Mount], controller: str) -> list[tuple[int, str, str]]:
    """Return where a controller (v1's name of it) may have a process: (version, mount point, path below it).

    ``membership`` is /proc/PID/cgroup. A hybrid host names v1's controller, and v2's hierarchy without it, so
    v1 comes first where it exists.
    """
    paths: dict[int, str] = {}
    for line in membership.splitlines():
        _number, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controllers == "":
            paths[2] = path
        elif controller in controllers.split(","):
            paths[1] = path
    result: list[tuple[int, str, str]] = []
    for version in (1, 2):
        if version not in paths:
            continue
        for mount in mounts:
            if version == 1:
                fits = mount.fstype == "cgroup" and controller in mount.super_options.split(",")
            else:
                fits = mount.fstype == "cgroup2"
            if fits:
                result.append((version, mount.mountpoint, _below(paths[version], mount.root)))
    return result


def _below(path: str, mount_root: str) -> str:
    """Return ``path`` relative to the part of the hierarchy that is mounted."""
    relative = posixpath.relpath(path, mount_root) if mount_root.startswith("/") else path.lstrip("/")
    return path.lstrip("/") if relative.startswith("..") else relative


def _read_v2(top: Path, group: Path) -> dict[str, Any] | None:
    if not (group / "memory.current").exists():
        return None
    lineage = [group, *(parent for parent in group.parents if top == parent or top in parent.parents)]
    limits = [_number(folder / "memory.max") for folder in lineage]
    highs = [_number(folder / "memory.high") for folder in lineage]
    return {
        "limit": min((limit for limit in limits if limit is not None), default=None),
        "high": min((high for high in highs if high is not None), default=None),
        "parent_limit": min((number for number in [*limits[1:], *highs[1:]] if number is not None), default=None),
        "current": _number(group / "memory.current"),
        "peak": _number(group / "memory.peak"),
        "oom_kills": _keyed(group / "memory.events", "oom_kill"),
    }


def _read_v1(group: Path) -> dict[str, Any] | None:
    own = _number(group / "memory.limit_in_bytes")
    if own is None:
        return None
    inherited = _keyed(group / "memory.stat", "hierarchical_memory_limit")
    limit = own if inherited is None else min(own, inherited)
    return {
        "limit": None if limit > UNLIMITED_V1 else limit,
        "high": None,
        "parent_limit": None,
        "current": _number(group / "memory.usage_in_bytes"),
        "peak": _number(group / "memory.max_usage_in_bytes"),
        "oom_kills": _keyed(group / "memory.oom_control", "oom_kill"),
    }


def _keyed(path: Path, key: str) -> int | None:
    for line in (_text(path) or "").splitlines():
        name, _space, value = line.partition(" ")
        if name == key and value.strip().isdigit():
            return int(value)
    return None


def _number(path: Path) -> int | None:
    """Read a file that holds one number; "max" and a file that is not there are None."""
    text = (_text(path) or "").strip()
    return int(text) if text.isdigit() else None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
