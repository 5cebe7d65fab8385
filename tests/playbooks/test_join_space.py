# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts role etcd refuses to let join, by what is known of their data volume."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.playbooks.variables import evaluate

GIB = 1 << 30
CASES: dict[str, tuple[dict[str, Any], int, str]] = {
    "enough": ({}, 2 * GIB, ""),
    "too little": ({}, GIB, "/var/lib/etcd/data has 1.0 GiB free, but a new member needs 1.3 GiB there"),
    "mounted": ({"etcd_storage_ready": True, "etcd_host_data_device": {"size": GIB}}, 2 * GIB, ""),
    "not mounted": ({"etcd_storage_ready": False, "etcd_host_data_device": {"size": 4 * GIB}}, GIB, ""),
    "not mounted, too small": (
        {"etcd_storage_ready": False, "etcd_host_data_device": {"size": GIB}},
        2 * GIB,
        "/var/lib/etcd/data is on a volume of 1.0 GiB, but a new member needs 1.3 GiB there",
    ),
    "quota": (
        {"etcd_plan": {"settings": {"quota_backend_bytes": GIB}}},
        2 * GIB,
        "the cluster's database has 1.0 GiB, and the quota would be 1.0 GiB",
    ),
    "large quota": ({"etcd_plan": {"settings": {"quota_backend_bytes": 2 * GIB}}}, 2 * GIB, ""),
    "not managed": ({"etcd_storage_ready": False, "etcd_host_data_device": {}}, 2 * GIB, ""),
}


def test_hosts_without_space_are_refused(tmp_path: Path) -> None:
    membership = {"database": GIB, "joins": {"localhost": {"aside": False, "remove": "", "listed": False}}}
    member = {"used": 0, "db_size": None, "wal_available": None, "wal_files": 0, "mount_points": []}
    cases = {
        case: {
            "etcd_data_dir": "/var/lib/etcd/data",
            "etcd_wal_dir": "",
            "etcd_cluster": {"membership": membership},
            "etcd_host_facts": {"member": {**member, "available": free}},
            **given,
        }
        for case, (given, free, _problem) in CASES.items()
    }
    found = evaluate(tmp_path, "etcd", "_etcd_join_problem", cases)
    for case, (_given, _free, problem) in CASES.items():
        assert found[case].startswith(problem) if problem else found[case] == "", (case, found[case])
