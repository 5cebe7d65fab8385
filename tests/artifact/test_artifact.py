# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The built collection works without the repository: it installs into an empty path and deploys two clusters of one member."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent.parent
LAB = "artifact"


def run(*command, cwd, env, timeout=400):
    """Run a command and return its output; fail the test with the output if the command fails."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, f"{command}:\n{done.stdout}"
    return done.stdout


@pytest.fixture(scope="module")
def user(tmp_path_factory):
    """Install the collection into an empty folder; return it with an environment that does not refer to the repository."""
    folder = tmp_path_factory.mktemp("user")
    env = {key: value for key, value in os.environ.items() if not key.startswith(("ANSIBLE_", "PYTHONPATH"))}
    env |= {
        "ANSIBLE_COLLECTIONS_PATH": str(folder / "collections"),
        "ANSIBLE_HOME": str(folder / "home"),
        "ANSIBLE_NOCOLOR": "1",
    }
    run("ansible-galaxy", "collection", "build", "--output-path", folder, PROJECT, cwd=folder, env=env)
    [artifact] = folder.glob("etcdops-headroom-*.tar.gz")
    run(
        "ansible-galaxy",
        "collection",
        "install",
        artifact,
        "-p",
        folder / "collections",
        "--no-deps",
        "--offline",
        cwd=folder,
        env=env,
    )
    return folder, env


@pytest.fixture(scope="module")
def clusters(user):
    """Create two bare lab hosts and an inventory in which each is a cluster."""
    folder, _ = user
    lab = {**os.environ, "LAB_NAME": LAB}
    define = ["-e", json.dumps({"lab_hosts": ["solo", "other"]})]
    run("ansible-playbook", "lab/destroy.yml", *define, cwd=PROJECT, env=lab)  # an interrupted run may have left it
    run("ansible-playbook", "lab/create.yml", *define, cwd=PROJECT, env=lab)
    try:
        hosts = json.loads(run("lab/inventory.py", cwd=PROJECT, env=lab))["_meta"]["hostvars"]
        for name, variables in hosts.items():
            variables |= {"ansible_ssh_pipelining": True, "etcd_cluster_name": f"of-{name}"}
        inventory = {
            "etcd": {
                "hosts": hosts,
                "vars": {
                    "etcd_version": "3.6.16",
                    "etcd_workload": {"value_size": "1KB", "keys": 10000},
                    "etcd_memory_budget": "1GB",
                    "etcd_storage_data_device": "/dev/disk/by-id/virtio-etcd-data",
                    "etcd_maintenance_defrag_enabled": True,
                },
            }
        }
        (folder / "inventory").mkdir()
        (folder / "inventory" / "hosts.json").write_text(json.dumps(inventory))
        yield list(hosts)
    finally:
        run("ansible-playbook", "lab/destroy.yml", *define, cwd=PROJECT, env=lab)


def test_the_artifact_holds_nothing_of_the_development_tree(user):
    folder, _ = user
    collection = folder / "collections/ansible_collections/etcdops/headroom"
    names = {path.name for path in collection.iterdir()}
    assert {"plugins", "roles", "playbooks", "meta", "README.md", "LICENSE", "policies"} <= names
    assert not names & {"lab", "tools", "tests", "bench", "molecule", "model", ".collections", ".headroom", "inventory"}
    assert not [path for path in collection.rglob("*") if path.is_symlink()]


def test_an_estimate_needs_no_host(user):
    folder, env = user
    question = json.dumps({"version": "3.6.16", "workload": {"value_size": "100KB"}})
    output = run(
        "ansible", "localhost", "-m", "etcdops.headroom.etcd_memory_estimate", "-a", question, cwd=folder, env=env
    )
    assert re.search(r'"?rss_anon_peak"?: \d+', output), output


def test_deploys_two_clusters_side_by_side(user, clusters):
    folder, env = user
    site = ["ansible-playbook", "etcdops.headroom.site", "-i", "inventory"]
    output = run(*site, cwd=folder, env=env)
    for name in clusters:
        assert re.search(rf"etcd cluster of-{name}, 3\.6\.16: 1 of 1 members healthy", output), output
    again = run(*site, cwd=folder, env=env)
    assert set(re.findall(r"changed=(\d+)", again)) == {"0"}, again
    changed = run(*site, "-e", "etcd_snapshot_catchup_entries=123", cwd=folder, env=env)
    # One update step for both, since they belong to different clusters.
    assert len(re.findall(r"included: .*update_member\.yml", changed)) == 1, changed
    assert all(re.search(rf"{name} +: ok=\d+ +changed=[1-9]", changed) for name in clusters), changed


def test_lints(user, clusters):
    folder, env = user
    output = run("ansible-playbook", "etcdops.headroom.lint", "-i", "inventory", cwd=folder, env=env)
    assert "failed=0" in output
