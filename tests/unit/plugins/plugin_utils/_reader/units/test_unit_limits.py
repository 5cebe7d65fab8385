# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of units: systemd ignores a size with the unit of another program, and the limit before it stays in force."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.read import read


def member_of(directives: str) -> dict[str, Any]:
    unit = f"[Service]\nExecStart=/usr/bin/etcd\n{directives}\n"
    (entry,) = read({"etcd.service": unit}).document["files"]
    found: dict[str, Any] = entry["contents"]["headroom_member"]
    return found


@pytest.mark.parametrize(
    "size", ["2G", "1.5G", "2 G", "2147483648", "512B", "50%", "12.5%", "infinity", "", "{{ memory }}", "@MEMORY@"]
)
def test_size_that_systemd_accepts_or_that_is_a_placeholder(size: str) -> None:
    found = member_of(f"MemoryMax={size}")
    assert found["limit"] == {"name": "MemoryMax", "size": size}
    assert "ignored" not in found


@pytest.mark.parametrize(
    ("size", "meant"), [("12GB", "12G"), ("2GiB", "2G"), ("2g", "2G"), ("1.5 gb", "1.5G"), ("1024bytes", "1024")]
)
def test_size_that_systemd_ignores(size: str, meant: str) -> None:
    found = member_of(f"MemoryMax={size}")
    assert found["limit"] is None
    assert found["ignored"] == {f"MemoryMax={size}": f"systemd ignores this size; write {meant} instead"}


def test_the_last_valid_size_counts() -> None:
    found = member_of("MemoryMax=2G\nMemoryMax=4GB\nMemoryLimit=1G")
    assert found["limit"] == {"name": "MemoryMax", "size": "2G"}
    assert list(found["ignored"]) == ["MemoryMax=4GB"]
    assert member_of("MemoryMax=4GB\nMemoryLimit=1G")["limit"] == {"name": "MemoryLimit", "size": "1G"}


def test_locked_memory_with_a_soft_and_a_hard_limit() -> None:
    assert member_of("LimitMEMLOCK=64M:infinity")["memlock"] == {"name": "LimitMEMLOCK", "size": "64M"}
    found = member_of("LimitMEMLOCK=64M:1GB")
    assert found["memlock"] is None
    assert found["ignored"] == {"LimitMEMLOCK=64M:1GB": "systemd ignores this size; write 64M:1G instead"}
