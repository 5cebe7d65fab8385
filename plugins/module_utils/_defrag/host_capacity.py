# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the disk space and the memory that a member's host has for a defragmentation."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import read_text
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import parse_size
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.decision import HostCapacity
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.settings import effective_settings
from ansible_collections.etcdops.headroom.plugins.module_utils._host import systemd
from ansible_collections.etcdops.headroom.plugins.module_utils._host.cgroup import read_memory_cgroup
from ansible_collections.etcdops.headroom.plugins.module_utils._host.process import read_process

_SECONDS = 3.0


def read_host_capacity(unit: str, data_dir: str) -> HostCapacity:
    """Read the free space of the data directory's filesystem, and the memory of the process under ``unit``.

    data_dir: etcd's data directory; if empty, the one that etcd logged when it started. What cannot be read is None.
    """
    state = systemd.show(unit, _SECONDS)
    process = (read_process(Path("/"), state.pid) if state.pid else None) or {}
    if not data_dir and process:
        record = systemd.start_record(state.invocation, _SECONDS)
        data_dir = str(effective_settings(record).get("data_dir", "")) if record else ""
    return HostCapacity(
        directory=data_dir,
        free=free_space(data_dir),
        rss_anon=process.get("rss_anon"),
        limit=process.get("memory_limit"),
        high=process.get("memory_high"),
        parent_limit=read_memory_cgroup(Path("/"), state.pid)["parent_limit"] if state.pid else None,
        available=parse_mem_available(read_text("/proc/meminfo")),
        go_limit=parse_gomemlimit(process.get("environment", {}).get("GOMEMLIMIT", "")),
    )


def free_space(data_dir: str) -> int | None:
    """Return the free bytes of etcd's filesystem, None if they cannot be read."""
    if not data_dir:
        return None
    try:
        filesystem = os.statvfs(os.path.join(data_dir, "member", "snap"))
    except OSError:
        return None
    return filesystem.f_bavail * filesystem.f_frsize


def parse_gomemlimit(text: str) -> int | None:
    """Return GOMEMLIMIT in bytes, None if it is off or not a value that Go accepts."""
    try:
        return parse_size(text, "GOMEMLIMIT") or None
    except ValueError:
        return None


def parse_mem_available(text: str) -> int | None:
    """Return MemAvailable of /proc/meminfo in bytes, None if it is missing."""
    found = re.search(r"^MemAvailable:\s+(\d+) kB$", text, re.MULTILINE)
    return int(found.group(1)) * 1024 if found else None
