# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What role etcd advises if certificates have expired and the inventory has another release. Without hosts and etcd."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import yaml

PROJECT = Path(__file__).resolve().parents[2]
FINE = {"expired": False, "not_yet_valid": False}
EXPIRED = {"expired": True, "not_yet_valid": False}


def facts(problems: list[str], starts: str) -> dict[str, Any]:
    """Return the facts of a host whose server certificate has expired."""
    certificates = {"ca": FINE, "peer_ca": {}, "certificates": {"server": EXPIRED}, "problems": problems}
    return {"certificates": certificates, "unit": {"starts": f"/opt/etcd/{starts}/etcd"}}


OWN = ["server: it expired on 2026-01-01"]
# By cluster: the facts of two members, and the advice. South's old CA has expired; west is being upgraded.
CASES: dict[str, tuple[list[dict[str, Any]], str]] = {
    "north": ([facts(OWN, "3.6.16"), facts(OWN, "3.6.16")], "the playbook site with -e etcd_version=3.6.16"),
    "south": (
        [facts([], "3.6.16"), facts([], "3.6.16")],
        "the playbook rotate_ca with -e etcd_version=3.6.16",
    ),
    "west": (
        [facts(OWN, "3.7.3"), facts(OWN, "3.6.16")],
        "the playbook site with -e etcd_version=3.7.3 -e etcd_release_check_enabled=false",
    ),
}


def test_the_certificates_are_replaced_before_the_release(tmp_path: Path) -> None:
    hosts = {}
    for cluster, (found, _advice) in CASES.items():
        names = [f"{cluster}-{number}" for number in (1, 2)]
        for name, one in zip(names, found):
            formed = {"members": {name: {} for name in names}, "former_client_urls": []}
            hosts[name] = {"etcd_host_facts": one, "etcd_cluster_name": cluster, "etcd_clusters": {cluster: formed}}
    shutil.copytree(PROJECT / "roles" / "etcd", tmp_path / "etcd")
    (tmp_path / "etcd" / "meta" / "main.yml").unlink()  # without the role that gathers the facts
    role = {"name": str(tmp_path / "etcd"), "tasks_from": "check_release"}
    given = {"etcd_version": "3.7.3", "_etcd_observed": {"cluster": {"members": [], "quorum": {"ok": False}}}}
    play = {
        "name": "Check the release",
        "hosts": "all",
        "connection": "local",
        "gather_facts": False,
        "vars": given,
        "tasks": [{"name": "Check the release", "ansible.builtin.import_role": role}],
    }
    (tmp_path / "hosts.yml").write_text(yaml.safe_dump({"all": {"hosts": hosts}}))
    (tmp_path / "play.yml").write_text(yaml.safe_dump([play]))
    command = ["ansible-playbook", "-i", str(tmp_path / "hosts.yml"), str(tmp_path / "play.yml")]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300, check=False)
    output = " ".join(done.stdout.split())
    for cluster, (_found, advice) in CASES.items():
        assert (
            f"Cluster {cluster}: no member answers, because certificates of {cluster}-1, {cluster}-2 have expired or are not valid yet. "
            f"To replace them, run {advice}, and change the release afterwards. Nothing was changed." in output
        ), output
