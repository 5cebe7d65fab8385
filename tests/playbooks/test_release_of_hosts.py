# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One host of a cluster cannot change the minor version on its own, and the first host checks the change that any host makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.playbooks.test_limit import FACTS, describe, role
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
    found = evaluate(tmp_path, "etcd", "_etcd_release_changes", {"n1": given}, ["-i", str(tmp_path / "hosts.yml")])
    assert found == {"n1": changes}
