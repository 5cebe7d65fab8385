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


def variables(
    present: bool,
    state: str,
    data: dict[str, Any] | None,
    wal: dict[str, Any] | None,
    accepted: bool = False,
    unused: str = "",
) -> dict[str, Any]:
    """Return the variables of the role on a host with these records."""
    loader = DataLoader()
    return {
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


def measured(*given: Any, **more: Any) -> list[str]:
    """Return the volumes that the role passes to etcd_disk_check."""
    found = variables(*given, **more)
    volumes = Templar(loader=DataLoader(), variables=found).template(found["_etcd_storage_unmeasured"])
    return [item["name"] for item in volumes]


@pytest.mark.parametrize("state", ["inactive", "failed", "activating", "active"])
@pytest.mark.parametrize("days", [1, 31])
def test_a_member_that_has_data_is_not_measured_again(state: str, days: int) -> None:
    """After a power failure, members without a quorum are activating or inactive, and none of them may be refused for its disk."""
    assert measured(True, state, record(days), record(days)) == []
    assert measured(True, state, None, None) == []


@pytest.mark.parametrize("state", ["inactive", "active"])
@pytest.mark.parametrize("accepted", [True, False])
def test_a_recorded_slow_disk_does_not_stop_a_member_that_has_data(state: str, accepted: bool) -> None:
    """The report compares the recorded latency with its limit."""
    given = (True, state, {**record(31, "fail"), "p99_us": 40000}, record(31))
    assert measured(*given, accepted=accepted) == []
    found = variables(*given, accepted=accepted)
    latencies = Templar(loader=DataLoader(), variables=found).template(found["_etcd_storage_latencies"])
    assert latencies["data"] == {"p99_us": 40000, "limit_us": 10000}


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
    assert measured(False, "inactive", data, wal) == names


def test_a_new_volume_on_a_disk_of_its_own_is_measured_while_the_member_runs() -> None:
    assert measured(True, "active", None, None, unused="wal") == ["wal"]
    assert measured(True, "active", record(1, "fail"), record(1), unused="wal") == []
    assert measured(True, "active", record(1), record(1, "fail"), unused="wal") == ["wal"]


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
