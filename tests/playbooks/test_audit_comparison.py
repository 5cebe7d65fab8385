# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reason that playbook audit passes on if it did not compare the members' hashes. Without etcd."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.playbooks.variables import PROJECT, evaluate

MEASURED = {"members": [{"db_size": 12_000_000}, {"db_size": None}, {"db_size": 11_000_000}]}
FAILED = {"failed": False, "msg": "no member answers: timed out"}
SKIPPED = {"skipped": True, "changed": False}
# By case: the variables, and a part of the reason.
CASES: dict[str, tuple[dict[str, Any], str]] = {
    "failed": ({"etcd_audit_compared": FAILED}, "no member answers: timed out"),
    "large": ({"etcd_audit_compared": SKIPPED}, "has 12000000 bytes, 10000000 or more: add -e compare_hashes=true"),
    "not wanted": ({"etcd_audit_compared": SKIPPED, "compare_hashes": "false"}, "compare_hashes is false"),
    "one member": ({"etcd_audit_compared": SKIPPED, "etcd_audit_measured": {"members": [{"db_size": 1}]}}, ""),
}


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    plays = yaml.safe_load((PROJECT / "playbooks" / "audit.yml").read_text(encoding="utf-8"))
    [task] = [task for task in plays[-1]["tasks"] if "etcdops.headroom.etcd_audit" in task]
    assert "default(_etcd_audit_uncompared)" in task["etcdops.headroom.etcd_audit"]["comparison"]
    cases = {
        name: {"etcd_audit_measured": MEASURED, "expected_reason": task["vars"]["_etcd_audit_uncompared"], **variables}
        for name, (variables, _part) in CASES.items()
    }
    return evaluate(tmp_path_factory.mktemp("audit"), "etcd", "expected_reason", cases)


@pytest.mark.parametrize("case", CASES)
def test_the_reason(evaluated: dict[str, Any], case: str) -> None:
    found = evaluated[case]
    part = CASES[case][1]
    assert found == {} if not part else part in found["problem"]
