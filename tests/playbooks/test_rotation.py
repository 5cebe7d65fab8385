# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a CA is replaced, and in which clusters of a run. Without etcd."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.campaign import in_campaign
from tests.playbooks.tls_host import PROJECT, Host, make_authority, provide
from tests.playbooks.variables import evaluate

WITHOUT_HOST = "the cluster has members that are on no host of this run (etcd-3)"


def listed(name: str, *client_urls: str) -> dict[str, Any]:
    """Return a member as the cluster lists it."""
    return {"id": f"1{name}", "name": name, "client_urls": list(client_urls)}


def view(*members: dict[str, Any], quorum: bool = True) -> dict[str, Any]:
    """Return the variable for a cluster of n1 and other members."""
    found = {"members": [listed("n1", "https://192.0.2.11:2379"), *members], "quorum": {"ok": quorum}}
    return {"_etcd_tls_view": found, "_etcd_tls_member_runs": True}


ETCD_3 = listed("etcd-3", "https://192.0.2.13:2379")


def test_no_ca_is_replaced_without_all_members(new: Host) -> None:
    before = sorted(new.authority.iterdir())
    message = new.refusal("rotate_trust", **view(ETCD_3))
    assert WITHOUT_HOST in message and "or remove them with scale.yml first. Nothing was changed" in message
    assert sorted(new.authority.iterdir()) == before
    # Neither a renewal nor another name changes the CA.
    assert new.issue(etcd_tls_extra_sans=["new.example.net"], **view(ETCD_3)) > 0


def test_members_that_the_hosts_of_the_run_have(tmp_path: Path) -> None:
    n1 = {"name": "n1", "id": "1n1", "cluster": "etcd"}
    cases: dict[str, tuple[dict[str, Any], list[str]]] = {
        "all": (view(), []),
        "one is on no host": (view(ETCD_3), ["etcd-3"]),
        "its host has the data": ({**view(ETCD_3), "_etcd_tls_run_members": [n1, {"name": "n3", "id": "1etcd-3"}]}, []),
        "its host lost the data": ({**view(ETCD_3), "_etcd_tls_run_members": [n1, {"name": "etcd-3", "id": ""}]}, []),
        "one was added and never started": (view(listed("")), []),
        "no quorum": (view(ETCD_3, quorum=False), []),
        "no answer": ({"_etcd_tls_view": {}}, []),
    }
    given = {name: {"_etcd_tls_run_members": [n1], **found} for name, (found, _) in cases.items()}
    found = evaluate(tmp_path, "etcd_tls", "_etcd_tls_members_without_host", given)
    assert found == {name: expected for name, (_, expected) in cases.items()}


def test_another_controller_does_not_undo_a_rotation(new: Host, tmp_path: Path) -> None:
    """It has a copy of the CAs from before the rotation."""

    def trusted() -> list[int]:
        return [(new.installed / f"{name}.crt").read_text().count("BEGIN CERTIFICATE") for name in ("ca", "peer-ca")]

    deploy, clients = "preflight main activate", {"etcd_rotate_ca_of": "clients", "_etcd_tls_member_runs": True}
    other = Host(new.folder)
    other.authority = tmp_path / "older"
    shutil.copytree(new.authority, other.authority)
    # The first controller died directly after it had activated the new key.
    assert new.issue("rotate_trust", deploy, "rotate_issue", **clients) > 0 and trusted() == [2, 1]
    before = sorted(other.authority.iterdir())
    for entry_points in ((), ("rotate_trust",)):
        message = other.refusal(*entry_points, **clients)
        assert f"n1: it also trusts a CA that is not in {other.authority}/ca.crt" in message, message
        assert (
            "has an older copy" in message and "confirm it with -e etcd_tls_new_ca=etcd. Nothing was changed" in message
        )
    assert sorted(other.authority.iterdir()) == before and trusted() == [2, 1]
    # The first one goes on. A host that missed the last step may do it after the end of the rotation.
    assert new.issue("rotate_trust", deploy, "rotate_issue", "rotate_retire", "rotate_end", deploy, **clients) > 0
    assert trusted() == [1, 1] and new.issue(**clients) == 0


@pytest.mark.parametrize("interrupted", [False, in_campaign(True)], ids=["undone", "undone and interrupted"])
def test_a_rotation_starts_again_if_its_trust_was_removed(new: Host, tmp_path: Path, interrupted: bool) -> None:
    """The new key signs already, but the hosts trust the old CA alone again."""
    deploy, clients = "preflight main activate", {"etcd_rotate_ca_of": "clients", "_etcd_tls_member_runs": True}
    key, kept = new.authority / "ca.key", tmp_path / "kept"
    shutil.copytree(new.authority, kept)
    assert new.issue("rotate_trust", deploy, "rotate_issue", **clients) > 0
    signs, other = key.read_text(), Host(new.folder)
    other.authority = kept
    assert other.issue(etcd_tls_new_ca="etcd", **clients) > 0
    assert "signed by a CA that this host does not trust yet" in new.refusal(**clients)
    if interrupted:
        shutil.copy(key, new.authority / "ca-next.key")
    assert new.issue("rotate_trust", **clients) > 0
    assert key.read_text() == (kept / "ca.key").read_text() != signs == (new.authority / "ca-next.key").read_text()
    assert new.issue("rotate_trust", deploy, "rotate_trust", "rotate_issue", deploy, **clients) > 0
    assert key.read_text() == signs and not (new.authority / "ca-next.key").exists()
    assert new.issue("rotate_trust", "rotate_issue", "rotate_retire", deploy, "rotate_end", **clients) > 0
    assert (new.installed / "ca.crt").read_text().count("BEGIN CERTIFICATE") == 1 and new.issue(**clients) == 0


def test_a_rotation_is_given_up_only_if_that_is_confirmed(new: Host, tmp_path: Path) -> None:
    clients = {"etcd_rotate_ca_of": "clients", "_etcd_tls_member_runs": True}
    shutil.copytree(new.authority, tmp_path / "kept")
    assert new.issue("rotate_trust", "preflight main activate", **clients) > 0
    new.authority = tmp_path / "kept"
    assert "it also trusts a CA" in new.refusal(**clients)
    assert new.issue(etcd_tls_new_ca="etcd", **clients) > 0
    assert (new.installed / "ca.crt").read_text().count("BEGIN CERTIFICATE") == 1 and new.issue(**clients) == 0


@pytest.mark.campaign
def test_a_rotation_that_lost_a_member_waits_for_it(new: Host) -> None:
    """Its host left the inventory between two steps of the playbook rotate_ca."""
    deploy = "preflight main activate"
    assert new.issue("rotate_trust", deploy, "rotate_issue", **view()) > 0
    assert WITHOUT_HOST in new.refusal(deploy, **view(ETCD_3))
    # The playbook scale removes it.
    assert new.issue(deploy, etcd_clusters={"etcd": {"membership": {"removes": [ETCD_3]}}}, **view(ETCD_3)) > 0
    assert new.issue(deploy, **view(ETCD_3)) == 0


def test_no_provided_ca_is_replaced_without_all_members(host: Host) -> None:
    make_authority(host.folder / "new", "new")
    old, new = provide(host, "ca", host.folder / "1"), provide(host, "new", host.folder / "2")
    both = host.folder / "both.crt"
    both.write_text((host.authority / "ca.crt").read_text() + (host.folder / "new" / "ca.crt").read_text())

    def given(ca: Path, pairs: dict[str, Any]) -> dict[str, Any]:
        return {"etcd_tls_provided": {"ca": str(ca), **pairs}}

    assert host.issue(**given(host.authority / "ca.crt", old)) > 0
    assert WITHOUT_HOST in host.refusal(**given(both, old), **view(ETCD_3))
    assert host.issue(**given(both, old), **view()) > 0
    assert WITHOUT_HOST in host.refusal(**given(both, new), **view(ETCD_3))


@pytest.mark.parametrize(
    ("expired", "expected"), [(["a1", "a2"], "b1,b2"), (["a1"], "a1,a2,b1,b2"), (["a1", "a2", "b1", "b2"], "")]
)
def test_only_clusters_that_can_start_take_the_first_step(tmp_path: Path, expired: list[str], expected: str) -> None:
    """A cluster leaves out the first run of site.yml if all its members need certificates of the new CA."""
    hosts = {
        name: {"etcd_cluster_name": "north" if name < "b" else "south", "expired": name in expired}
        for name in ("a1", "a2", "b1", "b2")
    }
    common = {
        "ansible_connection": "local",
        "ansible_become": False,
        "ansible_python_interpreter": "{{ ansible_playbook_python }}",
        "etcd_data_dir": str(tmp_path / "data"),
    }
    for name in ("rotate_ca", "_targets"):
        shutil.copy(PROJECT / "playbooks" / f"{name}.yml", tmp_path)
    task = {
        "name": "Name the hosts",
        "ansible.builtin.debug": {"msg": "site of {{ ansible_play_hosts_all | sort | join(',') }}"},
    }
    play = {"name": "Deploy", "hosts": "{{ etcd_deploy_hosts | default('etcd_targets') }}", "gather_facts": False}
    (tmp_path / "lint.yml").write_text(yaml.safe_dump([{"name": "Lint", "hosts": "localhost", "gather_facts": False}]))
    (tmp_path / "site.yml").write_text(yaml.safe_dump([{**play, "tasks": [{**task, "run_once": True}]}]))
    (tmp_path / "hosts.yml").write_text(yaml.safe_dump({"etcd": {"hosts": hosts, "vars": common}}))
    extra = {
        "etcd_rotate_ca_until": "trust",
        "_etcd_tls_installed_fit": True,
        "_etcd_tls_info": {"certificates": {"server": {"expired": "{{ expired }}"}}},
        "_etcd_tls_rotated": [],
        "_etcd_tls_rotation_problems": [],
    }
    command = ["ansible-playbook", "-i", str(tmp_path / "hosts.yml"), str(tmp_path / "rotate_ca.yml")]
    command += ["-e", json.dumps(extra)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("site of ") == bool(expected) and f"site of {expected}" in done.stdout + "site of ", (
        done.stdout
    )
