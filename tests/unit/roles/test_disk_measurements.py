# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which benchmarks role etcd_storage waits for, and when its host has a member, whose disks it leaves alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible_collections.etcdops.headroom.plugins.module_utils._model import releases

ROLE = Path(releases.__file__).parents[3] / "roles" / "etcd_storage"


@pytest.mark.parametrize(
    ("facts", "exists"),
    [
        # After a power failure, members without a quorum are activating or inactive, and none of them may be refused for its disk.
        *(
            ({"member": {"present": True}, "unit": {"active_state": state}}, True)
            for state in ("inactive", "activating")
        ),
        ({"member": {"present": False}, "unit": {"active_state": "active"}}, True),
        ({"member": {"present": False}, "unit": {"active_state": "inactive"}}, False),
        # Without a unit, and in a play that did not ask for them.
        ({"member": {"present": True}, "unit": None}, True),
        ({}, False),
    ],
)
def test_a_member_that_has_data_or_runs_exists(facts: dict[str, Any], exists: bool) -> None:
    loader = DataLoader()
    role = loader.load_from_file(str(ROLE / "vars" / "main.yml"), trusted_as_template=True)
    templar = Templar(loader=loader, variables={**role, "etcd_host_facts": facts})
    assert templar.template(role["_etcd_storage_member_exists"]) is exists


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
