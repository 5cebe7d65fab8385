# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts and settings role etcd refuses before it changes anything. tests/playbooks/test_archive.py has the archives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.playbooks.variables import evaluate

GIB = 1 << 30


def host(**facts: Any) -> dict[str, Any]:
    found = {
        "architecture": "amd64",
        "versions": ["3.7.3"],
        "systemd": {"running": True},
        "files": {"/restoring": {"exists": False}},
        "member": {},
        "machine": "x86_64",
        "memory_total": 8 * GIB,
        "memory_limit": None,
        **facts,
    }
    return {
        "etcd_host_facts": found,
        "etcd_host_restoring_file": "/restoring",
        "etcd_host_address": "192.0.2.11",
        "etcd_version": "3.7.3",
    }


# By case: the variables, and the start of each obstacle.
CASES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "defaults": (host(), []),
    "budget of all memory": ({**host(), "etcd_memory_budget": "8GB"}, []),
    "budget above the memory": (
        {**host(), "etcd_memory_budget": "16GB"},
        ["etcd_memory_budget (16.0 GiB) is above the memory of the host (8.0 GiB)"],
    ),
    "budget above the limit": (
        {**host(memory_limit=GIB), "etcd_memory_budget": "2GB"},
        ["etcd_memory_budget (2.0 GiB) is above the memory limit of the host (1.0 GiB)"],
    ),
    "limit above the memory": (
        {**host(), "etcd_memory_max": "16GB"},
        ["etcd_memory_max (16.0 GiB) is above the memory of the host (8.0 GiB)"],
    ),
}


def test_obstacles(tmp_path: Path) -> None:
    found = evaluate(tmp_path, "etcd", "_etcd_obstacles", {case: given for case, (given, _texts) in CASES.items()})
    for case, (_given, texts) in CASES.items():
        assert len(found[case]) == len(texts), (case, found[case])
        assert all(one.startswith(text) for one, text in zip(found[case], texts)), (case, found[case])
