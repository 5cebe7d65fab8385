# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The disk space and the memory of a member's host."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag import host_capacity
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.host_capacity import (
    parse_gomemlimit,
    parse_mem_available,
    read_host_capacity,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._host.cgroup import read_memory_cgroup
from ansible_collections.etcdops.headroom.plugins.module_utils._host.process import read_process
from ansible_collections.etcdops.headroom.plugins.module_utils._host.systemd import parse_show


@pytest.mark.parametrize(
    ("text", "expected"), [("1776287744", 1776287744), ("1800MiB", 1800 * MIB), ("off", None), ("", None)]
)
def test_parse_gomemlimit(text: str, expected: int | None) -> None:
    assert parse_gomemlimit(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("MemTotal: 5 kB\nMemAvailable:     2048 kB\n", 2048 * 1024), ("MemTotal: 5 kB\n", None)]
)
def test_parse_mem_available(text: str, expected: int | None) -> None:
    assert parse_mem_available(text) == expected


def test_limits_of_a_process_and_of_the_groups_above_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process, as if it were in a unit with limits, below a slice with another one."""
    group = tmp_path / "sys/fs/cgroup/system.slice/etcd.service"
    group.mkdir(parents=True)
    for name, text in {"memory.max": "1000", "memory.high": "900", "memory.current": "70"}.items():
        (group / name).write_text(text)
    (group.parent / "memory.max").write_text("1500")
    process = tmp_path / "proc" / "7"
    process.mkdir(parents=True)
    (process / "cgroup").write_text("0::/system.slice/etcd.service\n")
    for name in ("status", "stat", "environ"):
        (process / name).write_bytes(Path("/proc/self", name).read_bytes())
    (tmp_path / "proc/self").mkdir()
    (tmp_path / "proc/self/mountinfo").write_text("36 24 0:31 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
    unit = parse_show("etcd.service", "LoadState=loaded\nActiveState=active\nMainPID=7\n")
    monkeypatch.setattr(host_capacity.systemd, "show", lambda *_arguments: unit)
    monkeypatch.setattr(host_capacity, "read_process", lambda _root, pid: read_process(tmp_path, pid))
    monkeypatch.setattr(host_capacity, "read_memory_cgroup", lambda _root, pid: read_memory_cgroup(tmp_path, pid))
    found = read_host_capacity("etcd.service", str(tmp_path))
    assert (found.limit, found.high, found.parent_limit, found.bound) == (1000, 900, 1500, 900)
