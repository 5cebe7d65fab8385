# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which members a downgrade can be cancelled without: a lost one, but not the only one that still has the higher release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from tests.playbooks.variables import evaluate

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
    """A host that lost its data, and perhaps etcdctl, takes the answer of another host, and checks nothing itself."""
    loader = DataLoader()
    tasks = {task["name"]: task for task in loader.load_from_file(str(TASKS), trusted_as_template=True)}
    hosts = [f"etcd-{number}" for number in range(3)]
    variables: dict[str, Any] = {
        "etcd_cluster": {"state": state, "members": {host: {} for host in hosts}},
        "etcd_host_facts": {"member": {"present": present}},
        "hostvars": {host: {"etcd_host_facts": {"etcd": answer}} for host, answer in zip(hosts, answers)},
        "_etcd_own_answer": answers[0] or {},
    }
    take = tasks["Use the answer of another host on a host that lost its data"]
    templar = Templar(loader=loader, variables=variables)
    found = templar.template(take["ansible.builtin.set_fact"]["_etcd_observed"]) if holds(templar, take) else None
    assert found == taken
    if found is not None:
        variables["_etcd_observed"] = found
    templar = Templar(loader=loader, variables=variables)
    ask = tasks["Query the cluster again where the member on this host sees no quorum"]
    assert (holds(templar, ask), holds(templar, tasks["Find the obstacles of the downgrade"])) == (asks, checks)


def host(starts: str, seen: list[str | None], present: bool = True) -> dict[str, Any]:
    """Return the facts of a host: the release that its unit starts, and the releases that its member sees, None of one that does not answer."""
    members = [{"name": f"n{number}", "version": version} for number, version in enumerate(seen, 1)]
    facts = {"member": {"present": present}, "unit": {"starts": f"/opt/etcd/{starts}/etcd" if starts else ""}}
    cluster = {"members": members, "quorum": {"ok": any(seen)}}
    return {"etcd_host_facts": {**facts, "etcd": {"cluster": cluster if any(seen) else {**cluster, "members": []}}}}


SILENT: list[str | None] = [None, None, None]
LOWER: list[str | None] = ["3.6.16", "3.6.16", None]
MIXED: list[str | None] = ["3.6.16", "3.7.3", None]
CASES = {
    "the last member of the higher release is down": (
        [host("3.6.16", LOWER), host("3.6.16", LOWER), host("3.7.3", SILENT)],
        ["n3 (3.7.3)"],
        "3.6.16",
    ),
    "another one of the higher release answers": (
        [host("3.6.16", MIXED), host("3.7.3", MIXED), host("3.7.3", SILENT)],
        [],
        "3.7.3",
    ),
    "only another host saw its answer": (
        [host("3.6.16", LOWER), host("3.6.16", ["3.6.16", "3.6.16", "3.7.3"]), host("3.7.3", SILENT)],
        [],
        "3.7.3",
    ),
    "only another host saw an answer, and no unit names a release": (
        [host("", SILENT), host("", ["3.5.35", "3.5.35", None]), host("", SILENT)],
        [],
        "3.5.35",
    ),
    "it lost its data": (
        [host("3.6.16", LOWER), host("3.6.16", LOWER), host("3.7.3", SILENT, present=False)],
        [],
        "3.6.16",
    ),
    "another patch release": ([host("3.6.16", LOWER), host("3.6.16", LOWER), host("3.6.17", SILENT)], [], "3.6.16"),
    "none answers": ([host("3.6.16", SILENT), host("", SILENT), host("3.7.3", SILENT)], [], "3.7.3"),
}


def test_a_downgrade_is_not_completed_by_its_cancellation(tmp_path: Path) -> None:
    """While the only member of the higher release is down, all members would "return" to the lower one."""
    cases, inventory = {}, {}
    for number, (name, (hosts, _higher, _newest)) in enumerate(CASES.items()):
        own = {f"n{place}-{number}": facts for place, facts in enumerate(hosts, 1)}
        inventory.update(own)
        members = {found: {"name": found.partition("-")[0]} for found in own}
        given = {"etcd_cluster_name": "etcd", "etcd_clusters": {"etcd": {"members": members}}, "etcd_version": "3.6.16"}
        cases[name] = {**given, **next(iter(own.values()))}
    (tmp_path / "hosts.yml").write_text(yaml.safe_dump({"etcd": {"hosts": inventory}}))
    options = ["-i", str(tmp_path / "hosts.yml")]
    found = evaluate(tmp_path, "etcd", "[_etcd_higher_members, _etcd_newest_release]", cases, options)
    assert found == {name: [higher, newest] for name, (_hosts, higher, newest) in CASES.items()}


def test_a_cancellation_names_the_member_to_start() -> None:
    loader = DataLoader()
    tasks = loader.load_from_file(str(TASKS), trusted_as_template=True)
    names = [task["name"] for task in tasks]
    [refusal] = [task for task in tasks if task["name"].startswith("Refuse to cancel")]
    variables = {
        "etcd_downgrade_cancel": "true",
        "etcd_cluster_name": "etcd",
        "_etcd_higher_members": ["n3 (3.7.3)"],
        "_etcd_answered_releases": ["3.6.16"],
        "_etcd_newest_release": "3.6.16",
    }
    templar = Templar(loader=loader, variables=variables)
    assert holds(templar, refusal) and names.index(refusal["name"]) < names.index("Choose the target release")
    text = templar.template(refusal["ansible.builtin.fail"]["msg"])
    assert "start n3 (3.7.3) first, or finish the downgrade with -e etcd_downgrade_to=3.6.16" in text
    templar = Templar(loader=loader, variables={**variables, "_etcd_higher_members": []})
    assert not holds(templar, refusal)
