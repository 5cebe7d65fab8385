# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which disks role etcd_storage measures: those of a member that has data are left alone, and never stop it from being repaired."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible_collections.etcdops.headroom.plugins.module_utils._model import releases

ROLE = Path(releases.__file__).parents[3] / "roles" / "etcd_storage"
DATA, WAL = "/var/lib/etcd", "/var/lib/etcd-wal"


def record(days: float, verdict: str = "ok") -> dict[str, Any]:
    return {"verdict": verdict, "measured_at": time.time() - days * 86400, "p99_us": 4000, "limit_us": 10000}


def measured(
    present: bool,
    state: str,
    data: dict[str, Any] | None,
    wal: dict[str, Any] | None,
    accepted: bool = False,
    unused: str = "",
) -> tuple[list[str], list[bool]]:
    """Return the volumes that the role passes to etcd_disk_check, and of each whether the module may only use its record."""
    loader = DataLoader()
    given = {
        **loader.load_from_file(str(ROLE / "vars" / "main.yml"), trusted_as_template=True),
        "etcd_storage_accept_slow_disk": accepted,
        "etcd_storage_plan": {"unused_volume": unused},
        "etcd_host_wal_dir": f"{WAL}/member/wal",
        "etcd_host_facts": {
            "member": {"present": present},
            "unit": {"active_state": state},
            "disk_checks": {DATA: data, WAL: wal},
        },
        "_etcd_storage_wanted": [{"name": "data", "mount": DATA}, {"name": "wal", "mount": WAL}],
    }
    tasks = loader.load_from_file(str(ROLE / "tasks" / "check.yml"), trusted_as_template=True)
    [only_recorded] = [
        task["etcdops.headroom.etcd_disk_check"]["cached_only"]
        for task in tasks
        if "etcdops.headroom.etcd_disk_check" in task
    ]
    volumes = Templar(loader=loader, variables=given).template(given["_etcd_storage_unmeasured"])
    cached = [Templar(loader=loader, variables={**given, "item": item}).template(only_recorded) for item in volumes]
    return [item["name"] for item in volumes], cached


@pytest.mark.parametrize("state", ["inactive", "failed", "activating", "active"])
@pytest.mark.parametrize("days", [1, 31])
def test_a_member_that_has_data_is_not_measured_again(state: str, days: int) -> None:
    """After a power failure, members without a quorum are activating or inactive, and none of them may be refused for its disk."""
    assert measured(True, state, record(days), record(days)) == ([], [])
    assert measured(True, state, None, None) == ([], [])


@pytest.mark.parametrize("state", ["inactive", "active"])
def test_a_recorded_slow_disk_is_reported_without_a_new_measurement(state: str) -> None:
    """The module fails with the record and names the variable that accepts the disk."""
    assert measured(True, state, record(31, "fail"), record(31)) == (["data"], [True])
    assert measured(True, state, record(31, "fail"), record(31), accepted=True) == ([], [])


@pytest.mark.parametrize(
    ("data", "wal", "names"),
    [
        (None, None, ["data", "wal"]),
        (record(1), record(31), ["wal"]),
        (record(29), record(29), []),
        (record(1, "fail"), record(1), ["data"]),
    ],
)
def test_volumes_without_a_member_are_measured_every_30_days(
    data: dict[str, Any] | None, wal: dict[str, Any] | None, names: list[str]
) -> None:
    assert measured(False, "inactive", data, wal) == (names, [False] * len(names))


def test_a_new_volume_on_a_disk_of_its_own_is_measured_while_the_member_runs() -> None:
    assert measured(True, "active", None, None, unused="wal") == (["wal"], [False])
    assert measured(True, "active", record(1, "fail"), record(1), unused="wal") == (["data"], [True])


def test_results_of_an_earlier_play_are_not_waited_for_again() -> None:
    """Ansible keeps registered results for later plays. In check mode, and for skipped volumes, they have no job."""
    loader = DataLoader()
    role = loader.load_from_file(str(ROLE / "vars" / "main.yml"), trusted_as_template=True)
    first, second = {"ansible_job_id": "1"}, {"ansible_job_id": "2"}

    def waiting(**registered: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = Templar(loader=loader, variables={**role, **registered}).template(
            role["_etcd_storage_jobs"]
        )
        return found

    assert waiting() == []
    assert waiting(_etcd_storage_started={"skipped": True}) == []
    assert waiting(_etcd_storage_started={"results": [{"skipped": True}, first, second]}) == [first, second]
    judged = {"results": [{"ansible_job_id": "1", "p99_us": 4000}]}
    assert waiting(_etcd_storage_started={"results": [first]}, _etcd_storage_judged=judged) == []
    assert waiting(_etcd_storage_started={"results": [second]}, _etcd_storage_judged=judged) == [second]
    assert waiting(_etcd_storage_started={"results": [second]}, _etcd_storage_judged={"skipped": True}) == [second]
