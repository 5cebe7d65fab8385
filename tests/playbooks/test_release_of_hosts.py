# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One host of a cluster cannot change the minor version on its own, and the first host checks the change that any host makes.

If neither a member nor a unit shows the release of a cluster, its data decides.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.playbooks.test_limit import FACTS, PROJECT, describe, role
from tests.playbooks.variables import evaluate

__all__ = ["role"]  # a fixture

PROBLEM = "cluster etcd: etcd_version is 3.5.35 on n1, n2, and 3.7.3 on n3; a change of the minor version is one change of the whole cluster"


def inventory(canary: str) -> dict[str, Any]:
    """Return three hosts of etcd 3.5.35; n3 has another release in its host variables."""
    names = ("n1", "n2", "n3")
    hosts = {name: {"etcd_address": f"192.0.2.{name[-1]}", "pinned": "3.5.35"} for name in names}
    hosts["n3"]["pinned"] = canary
    return {"etcd": {"hosts": hosts}}


@pytest.mark.parametrize(
    ("canary", "variables", "problem"),
    [
        ("3.7.3", {}, PROBLEM),
        ("3.5.34", {}, ""),
        ("3.7.3", {"_etcd_release_stays": "{{ true }}"}, ""),
        ("3.7.3", {"etcd_release_check_enabled": "{{ false }}"}, ""),
    ],
    ids=["another minor version", "another patch release", "a play that keeps the release", "checks switched off"],
)
def test_hosts_of_a_cluster_change_their_minor_version_together(
    tmp_path: Path, role: Path, canary: str, variables: dict[str, str], problem: str
) -> None:
    facts = {**FACTS["etcd_host_facts"], "versions": ["3.5.34", "3.5.35", "3.7.3"]}
    given = {"etcd_version": "{{ pinned }}", "etcd_host_facts": facts, **variables}
    code, output = describe(tmp_path, role, inventory(canary), "etcd", given)
    if problem:
        assert code == 2 and problem in output and ". Nothing was changed." in output, output
    else:
        assert code == 0 and "etcd:3;" in output, output


def answer(*versions: str | None) -> dict[str, Any]:
    """Return the facts of a host whose member sees these releases; None if a member did not answer it in time."""
    members = [{"name": f"n{number}", "version": version} for number, version in enumerate(versions, 1)]
    return {"etcd_host_facts": {"etcd": {"cluster": {"members": members, "quorum": {"ok": True}}}, "unit": {}}}


@pytest.mark.parametrize(
    ("seen", "changes"), [("3.6.16", True), ("3.7.2", False), (None, False)], ids=["minor", "patch", "unknown"]
)
def test_a_change_that_only_one_host_sees_is_one_of_the_cluster(
    tmp_path: Path, seen: str | None, changes: bool
) -> None:
    hosts: dict[str, dict[str, Any]] = {"n1": answer("3.7.3", "3.7.3", None), "n2": {"etcd_host_facts": {"etcd": None}}}
    hosts["n3"] = answer("3.7.3", "3.7.3", seen)
    (tmp_path / "hosts.yml").write_text(yaml.safe_dump({"etcd": {"hosts": hosts}}))
    given = {
        **hosts["n1"],
        "etcd_version": "3.7.3",
        "etcd_cluster_name": "etcd",
        "etcd_clusters": {"etcd": {"members": {host: {"name": host} for host in hosts}}},
    }
    found = evaluate(
        tmp_path, "etcd", "_etcd_minor_version_changes", {"n1": given}, ["-i", str(tmp_path / "hosts.yml")]
    )
    assert found == {"n1": changes}


def reinstalled(version: str | None, starts: str | None = None) -> dict[str, Any]:
    """Return the facts of a host without etcdctl: the version of the cluster in its database, and the program that its unit starts, if there is one."""
    unit = {"starts": starts, "active_state": "inactive"}
    return {"etcd_host_facts": {"etcd": None, "unit": unit, "versions": [], "member": {"cluster_version": version}}}


UNSEEN = {"cluster": {"members": [], "quorum": {"ok": False}}}
UNKNOWN = "the release that wrote its data is unknown, because no member answers and no unit names it"
OLDER = "its data was written by etcd 3.5, no member answers, and etcd_version is 3.7.3. Set etcd_version to a release of 3.5"
# By case: the facts of the hosts, the variables, and the start of the problem.
DATA: dict[str, tuple[list[dict[str, Any]], dict[str, Any], str]] = {
    "older_data": ([reinstalled("3.5.0"), reinstalled("3.5.0")], {}, OLDER),
    "newer_data": ([reinstalled("3.10.0"), reinstalled("3.9.0")], {}, "its data was written by etcd 3.10, no member"),
    "same_minor_version": ([reinstalled("3.7.0"), reinstalled(None)], {}, ""),
    "one_database_is_behind": ([reinstalled("3.6.0"), reinstalled("3.7.0")], {}, ""),
    "unknown": ([reinstalled(None), reinstalled(None)], {}, UNKNOWN),
    # The check of the release has it.
    "a_unit_is_left": ([reinstalled("3.5.0"), reinstalled("3.5.0", "/opt/etcd/3.5.35/etcd")], {}, ""),
    "a_member_answers": ([reinstalled("3.5.0"), answer("3.5.35", None)], {}, ""),
    "first_start": ([reinstalled(None), reinstalled(None)], {"state": "new"}, ""),
    "restore": ([reinstalled("3.5.0"), reinstalled("3.5.0")], {"etcd_restore_active": True}, ""),
}


def cluster_of(name: str, hosts: list[dict[str, Any]], state: str = "existing", **more: Any) -> dict[str, Any]:
    """Return the variables of the first host of a cluster, whose hosts are NAME-1, NAME-2."""
    names = [f"{name}-{number}" for number, _found in enumerate(hosts, 1)]
    members = {host: {"host": host, "name": host, "client_url": "https://127.0.0.1:1"} for host in names}
    formed = {"state": state, "members": members, "first_host": names[0], "former_client_urls": []}
    return {
        **hosts[0],
        "_etcd_observed": UNSEEN,
        "etcd_version": "3.7.3",
        "etcd_cluster_name": name,
        "etcd_clusters": {name: formed},
        **more,
    }


def write_inventory(path: Path, clusters: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Write the hosts of these clusters with their facts, and return the options of ansible-playbook."""
    hosts = {f"{name}-{number}": found for name, own in clusters.items() for number, found in enumerate(own, 1)}
    path.write_text(yaml.safe_dump({"etcd": {"hosts": hosts}}))
    return ["-i", str(path)]


def test_a_release_that_may_not_start_on_the_data_is_refused(tmp_path: Path) -> None:
    options = write_inventory(tmp_path / "hosts.yml", {case: hosts for case, (hosts, _more, _problem) in DATA.items()})
    given = {case: cluster_of(case, hosts, **more) for case, (hosts, more, _problem) in DATA.items()}
    found = evaluate(tmp_path, "etcd", "_etcd_data_release_problem", given, options)
    for case, (_hosts, _more, problem) in DATA.items():
        assert found[case].startswith(problem) and bool(found[case]) is bool(problem), (case, found[case])


@pytest.mark.parametrize(("checks", "refused"), [(True, True), (False, False)])
def test_reinstalled_hosts_are_refused_before_they_are_changed(
    tmp_path: Path, role: Path, checks: bool, refused: bool
) -> None:
    """No etcdctl is installed, so the cluster is asked in vain."""
    hosts = [reinstalled("3.5.0"), reinstalled("3.5.0")]
    options = write_inventory(tmp_path / "hosts.yml", {"north": hosts})
    given = {**cluster_of("north", hosts), "etcd_release_check_enabled": checks, "etcd_tls_enabled": False}
    given["ansible_python_interpreter"] = "{{ ansible_playbook_python }}"
    tasks = [{"name": "Check", "ansible.builtin.import_role": {"name": str(role), "tasks_from": "check_cluster"}}]
    play = {
        "name": "Check",
        "hosts": "etcd",
        "connection": "local",
        "gather_facts": False,
        "vars": given,
        "tasks": tasks,
    }
    (tmp_path / "play.yml").write_text(yaml.safe_dump([play]))
    command = ["ansible-playbook", *options, str(tmp_path / "play.yml")]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300, check=False)
    output = " ".join((done.stdout + done.stderr).split())
    assert (f"Cluster north: {OLDER}" in output, done.returncode) == ((True, 2) if refused else (False, 0)), output
