# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which snapshots role etcd_restore refuses because of the planned quota."""

from __future__ import annotations

from pathlib import Path

from tests.playbooks.variables import evaluate

GIB = 1 << 30
# Quota, size of the snapshot, and whether it is refused.
CASES = {
    "fits": (8 * GIB, 4 * GIB, False),
    "too large": (2 * GIB, 4 * GIB, True),
    "exactly the quota": (2 * GIB, 2 * GIB, True),
    "etcd's default": (0, 3 * GIB, True),
    "no limit": (-1, 9 * GIB, False),
}


def test_a_snapshot_that_fills_the_quota_is_refused(tmp_path: Path) -> None:
    cases = {
        case: {
            "etcd_plan": {"settings": {"quota_backend_bytes": quota}},
            "_etcd_restore_source": "localhost",
            "_etcd_restore_local": {"stat": {"size": size}},
        }
        for case, (quota, size, _refused) in CASES.items()
    }
    found = evaluate(tmp_path, "etcd_restore", "_etcd_restore_quota_problem", cases)
    for case, (_quota, size, refused) in CASES.items():
        assert found[case].startswith(f"the snapshot has {size >> 20} MiB") if refused else found[case] == "", case
