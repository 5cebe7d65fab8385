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
    # The variable is set for the whole group, and this host is not the one whose directory was moved.
    "data in another folder, running": (
        host(member={"other_data_dir": "/old"}, unit={"active_state": "active"}),
        [
            "its member is in /old, and etcd would start empty in /var/lib/etcd/data; etcd still runs here: set etcd_data_dir only for the host whose "
            "directory you moved (in its host_vars), and do not stop this member while another one is down"
        ],
    ),
    "data in another folder, stopped": (
        host(member={"other_data_dir": "/old"}, unit={"active_state": "inactive"}),
        [
            "its member is in /old, and etcd would start empty in /var/lib/etcd/data; set etcd_data_dir of this host back, or move the directory"
        ],
    ),
    "data in another folder, without a unit": (
        host(member={"other_data_dir": "/old"}, unit=None),
        [
            "its member is in /old, and etcd would start empty in /var/lib/etcd/data; set etcd_data_dir of this host back, or move the directory"
        ],
    ),
}


def test_obstacles(tmp_path: Path) -> None:
    found = evaluate(tmp_path, "etcd", "_etcd_obstacles", {case: given for case, (given, _texts) in CASES.items()})
    for case, (_given, texts) in CASES.items():
        assert len(found[case]) == len(texts), (case, found[case])
        assert all(one.startswith(text) for one, text in zip(found[case], texts)), (case, found[case])


# By case: the settings of TLS for clients, the other variables, and whether a cluster may lose Headroom as a user.
CLIENT_AUTH: dict[str, tuple[Any, dict[str, Any], bool]] = {
    "on": ({"client-cert-auth": True}, {}, False),
    "off": ({"client-cert-auth": False}, {}, True),
    "null": ({"client-cert-auth": None}, {}, True),
    "no section": (None, {}, True),
    "first deployment": ({"client-cert-auth": False}, {"etcd_cluster": {"state": "new"}}, False),
    "restore": ({"client-cert-auth": False}, {"etcd_restore_active": True}, False),
    "without TLS": (None, {"etcd_tls_enabled": False}, False),
}


def test_members_that_take_no_users_from_certificates_are_checked(tmp_path: Path) -> None:
    cases = {
        case: {
            "_etcd_config": {"client-transport-security": section},
            "etcd_tls_enabled": True,
            "etcd_cluster": {"state": "existing"},
            **given,
        }
        for case, (section, given, _checked) in CLIENT_AUTH.items()
    }
    found = evaluate(tmp_path, "etcd", "_etcd_drops_client_auth", cases)
    assert found == {case: checked for case, (_section, _given, checked) in CLIENT_AUTH.items()}
