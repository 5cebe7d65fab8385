# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A downgrade is cancelled although a host lost its data, and perhaps etcdctl: it takes the answer of another host, and checks nothing itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

TASKS = Path(__file__).resolve().parents[2] / "roles" / "etcd" / "tasks" / "plan_downgrade.yml"
GOOD = {"cluster": {"quorum": {"ok": True}, "members": [{"name": "etcd-1"}]}}
ALONE = {"cluster": {"quorum": {"ok": False}, "members": []}}


def holds(templar: Templar, task: dict[str, Any]) -> bool:
    conditions = task["when"] if isinstance(task["when"], list) else [task["when"]]
    return all(templar.evaluate_conditional(condition) for condition in conditions)


@pytest.mark.parametrize(
    ("answers", "state", "present", "taken", "asks", "checks"),
    [
        ([None, ALONE, GOOD], "existing", False, GOOD, False, False),
        ([None, ALONE, None], "existing", False, {}, True, False),
        ([GOOD, GOOD, GOOD], "existing", True, None, False, True),
        ([ALONE, GOOD, GOOD], "existing", True, None, True, True),
        ([None, None, None], "new", False, None, True, True),
    ],
    ids=["it lost its data", "no other answers", "it has data", "its member is down", "no cluster yet"],
)
def test_where_the_answer_comes_from(
    answers: list[Any], state: str, present: bool, taken: Any, asks: bool, checks: bool
) -> None:
    loader = DataLoader()
    tasks = {task["name"]: task for task in loader.load_from_file(str(TASKS), trusted_as_template=True)}
    hosts = [f"etcd-{number}" for number in range(3)]
    variables: dict[str, Any] = {
        "etcd_cluster": {"state": state, "members": {host: {} for host in hosts}},
        "etcd_host_facts": {"member": {"present": present}},
        "hostvars": {host: {"etcd_host_facts": {"etcd": answer}} for host, answer in zip(hosts, answers)},
        "_etcd_own_answer": answers[0] or {},
    }
    take = tasks["Take the answer of another host on a host that lost its data"]
    templar = Templar(loader=loader, variables=variables)
    found = templar.template(take["ansible.builtin.set_fact"]["_etcd_observed"]) if holds(templar, take) else None
    assert found == taken
    if found is not None:
        variables["_etcd_observed"] = found
    templar = Templar(loader=loader, variables=variables)
    ask = tasks["Ask the cluster again where the member on this host sees no quorum"]
    assert (holds(templar, ask), holds(templar, tasks["Find the obstacles of the downgrade"])) == (asks, checks)
