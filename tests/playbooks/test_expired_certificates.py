# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How role etcd repairs a cluster whose certificates have expired, and what it advises if the inventory has another release. Without hosts and etcd."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
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


def run_role(tmp_path: Path, entry_point: str, hosts: dict[str, Any], given: dict[str, Any]) -> str:
    """Run an entry point of role etcd on hosts with these variables; return the output in one line."""
    shutil.copytree(PROJECT / "roles" / "etcd", tmp_path / "etcd")
    (tmp_path / "etcd" / "meta" / "main.yml").unlink()  # without the role that gathers the facts
    role = {"name": str(tmp_path / "etcd"), "tasks_from": entry_point}
    play = {
        "name": f"Run {entry_point}",
        "hosts": "all",
        "connection": "local",
        "gather_facts": False,
        "vars": given,
        "tasks": [{"name": f"Run {entry_point}", "ansible.builtin.import_role": role}],
    }
    (tmp_path / "hosts.yml").write_text(yaml.safe_dump({"all": {"hosts": hosts}}))
    (tmp_path / "play.yml").write_text(yaml.safe_dump([play]))
    command = ["ansible-playbook", "-i", str(tmp_path / "hosts.yml"), str(tmp_path / "play.yml")]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300, check=False)
    return " ".join(done.stdout.split())


def test_the_certificates_are_replaced_before_the_release(tmp_path: Path) -> None:
    hosts = {}
    for cluster, (found, _advice) in CASES.items():
        names = [f"{cluster}-{number}" for number in (1, 2)]
        for name, one in zip(names, found):
            formed = {"members": {name: {"name": name} for name in names}, "former_client_urls": []}
            hosts[name] = {"etcd_host_facts": one, "etcd_cluster_name": cluster, "etcd_clusters": {cluster: formed}}
    given = {"etcd_version": "3.7.3", "_etcd_observed": {"cluster": {"members": [], "quorum": {"ok": False}}}}
    output = run_role(tmp_path, "check_release", hosts, given)
    for cluster, (_found, advice) in CASES.items():
        assert (
            f"Cluster {cluster}: no member answers, because certificates of {cluster}-1, {cluster}-2 have expired or are not valid yet. "
            f"To replace them, run {advice}, and change the release afterwards. Nothing was changed." in output
        ), output


NO_QUORUM = {"cluster": {"members": [], "quorum": {"ok": False, "healthy": 0}, "error": "tls: expired certificate"}}
QUORUM = {"cluster": {"members": [], "quorum": {"ok": True, "healthy": 3}}}


def running(host: str, ca: dict[str, bool], answer: dict[str, Any], renewing: bool) -> dict[str, Any]:
    """Return the variables of a member that runs: whether the CA in its file has expired, and whether its host has the mark."""
    found = {"ca": ca, "peer_ca": FINE, "certificates": {"server": FINE}, "problems": []}
    formed = {"members": {host: {}}, "state": "existing", "former_client_urls": []}
    return {
        "etcd_host_facts": {"certificates": found, "unit": {"active_state": "active"}, "mounts": {}, "etcd": answer},
        "etcd_cluster_name": host,
        "etcd_clusters": {host: formed},
        "etcd_member": {"renewing": renewing},
    }


def test_a_cluster_is_repaired_after_its_repair_was_interrupted(tmp_path: Path) -> None:
    """Once the new CA is activated, only the mark shows that the members still trust the expired one."""
    hosts = {
        "expired": running("expired", EXPIRED, NO_QUORUM, False),
        "activated": running("activated", FINE, NO_QUORUM, True),
        "failed": running("failed", FINE, NO_QUORUM, False),
    }
    output = run_role(tmp_path, "check_change", hosts, {"_etcd_needs_archive": False, "_etcd_upgrade_problems": []})
    assert "Cluster failed has no quorum" in output, output
    assert "Cluster expired" not in output and "Cluster activated" not in output, output


@pytest.mark.parametrize(
    ("ca", "answer", "marked", "restarts"),
    [(EXPIRED, NO_QUORUM, False, True), (FINE, NO_QUORUM, True, True), (FINE, QUORUM, True, False)],
    ids=["expired", "interrupted", "interrupted after the repair"],
)
def test_a_member_restarts_after_an_interruption(
    tmp_path: Path, ca: dict[str, bool], answer: dict[str, Any], marked: bool, restarts: bool
) -> None:
    """With a quorum, the rolling update restarts it if its digest is old."""
    mark, fails, calls = (tmp_path / name for name in ("renewing", "fails", "calls"))
    fails.touch()
    if marked:
        mark.touch()
    shutil.copytree(PROJECT / "roles" / "etcd", tmp_path / "etcd")
    (tmp_path / "etcd" / "meta" / "main.yml").unlink()  # without the role that gathers the facts
    (tmp_path / "tools").mkdir()
    tool = tmp_path / "tools" / "systemctl"
    shown = "LoadState=loaded\\nActiveState=active\\nSubState=running\\n"
    tool.write_text(
        f"#!/bin/sh\ncase $* in *show*) printf '{shown}';; *restart*) test ! -e {fails} || exit 1; echo $* >> {calls};; *) echo running;; esac\n"
    )
    tool.chmod(0o755)
    role = {"name": str(tmp_path / "etcd"), "tasks_from": "update"}
    task = {"name": "Update the members", "ansible.builtin.import_role": role}
    play = {"name": "Update", "hosts": "localhost", "gather_facts": False, "tasks": [task]}
    (tmp_path / "play.yml").write_text(yaml.safe_dump([play]))
    given = {
        **running("localhost", ca, answer, marked),
        "etcd_host_renewing_file": str(mark),
        "etcd_tls_staged": False,
        "etcd_version": "3.7.3",
        "_etcd_minor_version_changes": False,
        "_etcd_update_steps": 0,
        "_etcd_changed": False,
        "ansible_python_interpreter": "{{ ansible_playbook_python }}",
    }
    if ca["expired"]:
        # The activation itself is tested with role etcd_tls; here the set is staged, and there is nothing to activate.
        tls = {"etcd_tls_staged": True, "etcd_tls_dir": str(tmp_path), "ansible_become": False}
        given |= {**tls, "_etcd_expired_hosts": ["localhost"]}

    def update() -> subprocess.CompletedProcess[str]:
        command = [
            "ansible-playbook",
            "-i",
            "localhost,",
            "-c",
            "local",
            str(tmp_path / "play.yml"),
            "-e",
            json.dumps(given),
        ]
        path = f"{tmp_path / 'tools'}:{os.environ['PATH']}"
        env = {**os.environ, "PATH": path, "ANSIBLE_CONFIG": str(PROJECT / "ansible.cfg")}
        return subprocess.run(command, cwd=PROJECT, env=env, capture_output=True, text=True, timeout=300, check=False)

    # A run that dies before the restart leaves the mark.
    first = update()
    assert first.returncode == (2 if restarts else 0) and mark.exists() and not calls.exists(), first.stdout
    fails.unlink()
    second = update()
    assert second.returncode == 0, second.stdout + second.stderr
    assert calls.exists() is restarts and mark.exists() is not restarts, second.stdout
