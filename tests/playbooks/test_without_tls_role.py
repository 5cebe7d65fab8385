# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Role etcd refuses a play in which role etcd_tls or etcd_storage has not run, before it writes anything. Without etcd."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.playbooks.variables import PROJECT, evaluate

FACTS: dict[str, Any] = {
    "etcd_cluster_name": "etcd",
    "etcd_clusters": {"etcd": {"members": {"localhost": {}}, "former_client_urls": []}},
    "etcd_host_facts": {"certificates": None, "files": {}},
    "etcd_host_directories": [],
}


def certificates(of_clients: bool, **of_peers: bool) -> dict[str, Any]:
    """Return facts: whether the CA certificates on the host differ from those of the controller."""
    found = {"ca": {"differs": of_clients}, "peer_ca": of_peers, "certificates": {}, "problems": []}
    return {"etcd_host_facts": {"certificates": found, "files": {}}, "_etcd_expired_hosts": []}


def directories(*existing: str) -> dict[str, Any]:
    """Return facts and results of a host on which these directories of etcd exist."""
    files = {path: {"exists": path in existing} for path in ("/data", "/wal")}
    return {
        **READY,
        "etcd_host_directories": ["/data", "/wal"],
        "etcd_host_facts": {"certificates": None, "files": files},
    }


READY: dict[str, Any] = {"etcd_tls_fingerprint": "f1", "etcd_tls_peer_ca": True}
# In a run of only the members: its configuration would name a file that the host does not have, or its digest a CA that the member does not know.
OTHER_CA = "it does not have the CA certificates of the controller yet. Run site.yml without --tags"
NO_STORAGE = "does not exist: role etcd_storage creates it, and has to run before role etcd in this play"
REFUSAL = "role etcd_tls has not run before role etcd in this play"
# By case: the variables, and the start of the problem.
CASES: dict[str, tuple[dict[str, Any], str]] = {
    "alone": ({}, f"etcd_tls_enabled is true, but {REFUSAL}"),
    "in an earlier play": ({"etcd_tls_fingerprint": "f1"}, f"etcd_tls_enabled is true, but {REFUSAL}"),
    "later in this play": ({"etcd_tls_peer_ca": True}, f"etcd_tls_enabled is true, but {REFUSAL}"),
    "before": ({"etcd_tls_fingerprint": "f1", "etcd_tls_peer_ca": True}, ""),
    "without certificates": (
        {"etcd_tls_fingerprint": "", "etcd_tls_peer_ca": True},
        "it has no certificates. Run site",
    ),
    "same CAs": ({**READY, **certificates(False, differs=False)}, ""),
    "same CA": ({**READY, **certificates(False)}, ""),
    "another CA": ({**READY, **certificates(True, differs=False)}, OTHER_CA),
    "no CA of peers yet": ({**READY, **certificates(False, differs=True)}, OTHER_CA),
    "staged": ({**READY, **certificates(False, differs=True), "etcd_tls_staged": True}, ""),
    "without TLS": ({"etcd_tls_enabled": False}, ""),
    "without storage": (directories(), f"/data {NO_STORAGE}; /wal {NO_STORAGE}. Run site.yml"),
    "without the folder of the WAL": (directories("/data"), f"/wal {NO_STORAGE}. Run site.yml"),
    "with directories": (directories("/data", "/wal"), ""),
    "with storage": ({**directories(), "etcd_storage_directories": {"changed": True}}, ""),
}


def test_when_a_play_is_refused(tmp_path: Path) -> None:
    given = {case: {**FACTS, **variables} for case, (variables, _problem) in CASES.items()}
    found = evaluate(tmp_path, "etcd", "_etcd_unready_problem", given)
    for case, (_variables, problem) in CASES.items():
        assert found[case].startswith(problem) and bool(found[case]) is bool(problem), (case, found[case])


NO_CERTIFICATES = {**FACTS, "etcd_tls_fingerprint": "", "etcd_tls_peer_ca": True}
NO_VOLUMES = {**FACTS, **READY, "etcd_storage_ready": False}
# By the options of a dry run: the prerequisites that the run itself would not bring about.
DRY_RUNS: dict[str, list[str]] = {
    "": [],
    "--tags storage,tls,members": [],
    "--tags deploy": [],  # of a play that gives the roles tags of its own
    "--tags members": ["certificates", "volumes"],
    "--tags tls,members": ["volumes"],
    "--skip-tags tls": ["certificates"],
    "--tags storage,tls,members --skip-tags storage": ["volumes"],
}


@pytest.mark.parametrize("options", DRY_RUNS)
def test_a_dry_run_refuses_what_the_run_would(tmp_path: Path, options: str) -> None:
    cases = {"certificates": NO_CERTIFICATES, "volumes": NO_VOLUMES}
    found = evaluate(tmp_path, "etcd", "_etcd_unready_problem", cases, ["--check", *options.split()])
    assert [case for case, problem in found.items() if problem] == DRY_RUNS[options], found


@pytest.mark.parametrize("options", [[], ["--check"]], ids=["run", "check mode"])
def test_a_play_with_only_role_etcd_changes_nothing(tmp_path: Path, options: list[str]) -> None:
    shutil.copytree(PROJECT / "roles" / "etcd", tmp_path / "etcd")
    (tmp_path / "etcd" / "meta" / "main.yml").unlink()  # without the role that gathers the facts
    play = {
        "name": "Deploy etcd",
        "hosts": "localhost",
        "connection": "local",
        "gather_facts": False,
        "vars": {
            **FACTS,
            "etcd_plan": {},
            "_etcd_planned_version": "{{ etcd_version }}",
            "etcd_config_file": str(tmp_path / "etc" / "etcd.yml"),
        },
        "roles": [str(tmp_path / "etcd")],
    }
    (tmp_path / "play.yml").write_text(yaml.safe_dump([play]))
    command = ["ansible-playbook", "-i", "localhost,", *options, str(tmp_path / "play.yml")]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300, check=False)
    output = " ".join(done.stdout.split())
    assert done.returncode == 2 and re.search(r"changed=0 .* failed=1", output), output
    assert f"localhost: etcd_tls_enabled is true, but {REFUSAL}" in output and "No member was changed" in output
    assert not (tmp_path / "etc").exists()
