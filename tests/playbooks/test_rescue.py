# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rescue: what it refuses before it stops etcd, and which data it restores. Without etcd."""

from __future__ import annotations

import fcntl
import itertools
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.playbooks.restoring import ID, PROJECT, ROLE, prepare, real_snapshot, run
from tests.playbooks.tls_host import Host, make_authority, openssl
from tests.playbooks.variables import evaluate
from tests.unit.plugins.module_utils.conftest import PAGE_SIZE, inline, leaf, meta

STOPS = "Stop etcd on all hosts"
HOSTS = ("h1", "h2", "h3")


def rescue(folder: Path, check: bool = True, **variables: Any) -> str:
    """Rescue data; no member answers."""
    variables = {"_etcd_restore_info": {"cluster": {"error": "https://h1:2379: certificate expired"}}, **variables}
    tasks = [{"name": "Rescue", "ansible.builtin.include_tasks": str(ROLE / "tasks" / "rescue.yml")}]
    variables = {
        "_etcd_restore_id": ID,
        "etcd_restore_rescue_dir": str(folder),
        "etcd_restore_client_name": "headroom",
        "etcd_cluster": {"members": {host: {"name": host, "peer_url": f"https://{host}:2380"} for host in HOSTS}},
        **variables,
    }
    return run(folder, tasks, *["--check"] * check, **variables)


def choose(folder: Path, results: dict[str, Any]) -> str:
    """Choose one of the snapshots, and print it. results: of etcd_rescue, by host."""
    tasks = yaml.safe_load((ROLE / "tasks" / "rescue.yml").read_text(encoding="utf-8"))
    [first] = [number for number, task in enumerate(tasks) if task["name"] == "Find the hosts whose data is usable"]
    chosen = {"msg": "restores {{ etcd_restore_snapshot }} of {{ _etcd_restore_host }}"}
    tasks = [*tasks[first:], {"name": "Print", "ansible.builtin.debug": chosen, "run_once": True}]
    rescued = "{{ _results[inventory_hostname] | default({'skipped': true}) }}"
    return run(folder, tasks, _results=results, _etcd_restore_rescued=rescued)


def survivor(folder: Path, host: str, log: bool) -> None:
    member = folder / host / "data" / "member"
    (member / "snap").mkdir(parents=True)
    (member / "snap" / "db").write_text("x")
    (folder / "etcd-3.6.16").mkdir(exist_ok=True)
    for program in ("etcd", "etcdctl", "etcdutl"):
        path = folder / "etcd-3.6.16" / program
        path.write_text("#!/bin/sh\necho 'etcd Version: 3.6.16'\n")
        path.chmod(0o755)
    if log:
        (member / "wal").mkdir()
        (member / "wal" / "0-0.wal").write_text("x")


def test_hosts_without_data_are_named(tmp_path: Path) -> None:
    survivor(tmp_path, "h2", log=True)
    said = rescue(tmp_path)
    assert "Would use the data of h2. Not used: h1: no data; h3: no data." in said, said
    assert "take a snapshot of the data of h2, and restore the one with the highest revision on h1, h2, h3." in said, (
        said
    )


def test_a_given_snapshot_is_refused(tmp_path: Path) -> None:
    """It would be restored instead of the survivors' newer data."""
    survivor(tmp_path, "h2", log=True)
    said = rescue(tmp_path, etcd_restore_snapshot="/var/backups/etcd/etcd-20261120T101500Z.db")
    assert "etcd_restore_snapshot is /var/backups/etcd/etcd-20261120T101500Z.db, but this playbook restores" in said
    assert "or run the playbook restore, which restores a given snapshot. Nothing was changed." in said, said
    assert "failed=1" in said and "Would use the data" not in said, said


def test_data_without_its_log_is_not_left_out(tmp_path: Path) -> None:
    """The log may be on a volume that is not mounted, and hold the newest writes."""
    survivor(tmp_path, "h1", log=False)
    survivor(tmp_path, "h2", log=True)
    said = rescue(tmp_path)
    assert re.search(r"/h1/data/member/wal/\*\.wal does not exist on this host: mount the volume", said), said
    assert "failed=1" in said and "Would use the data" not in said, said


def preflights(playbook: str) -> list[tuple[str, str, Any]]:
    """Return the checks with which a playbook begins: role, entry point and condition of each."""
    plays = yaml.safe_load((PROJECT / "playbooks" / f"{playbook}.yml").read_text(encoding="utf-8"))
    tasks = [task for one in plays for task in one.get("tasks", [])]
    entries = [(task.get("ansible.builtin.import_role", {}), task.get("when")) for task in tasks]
    found = [(role.get("name", ""), role.get("tasks_from", "main"), when) for role, when in entries]
    return list(itertools.takewhile(lambda entry: entry[1] == "preflight", found))


def test_a_rescue_makes_the_checks_of_a_restore_before_etcd_stops() -> None:
    """Otherwise the restore that follows could refuse, and etcd would stay stopped."""
    assert preflights("restore_lost_quorum") == preflights("restore")
    assert len(preflights("restore")) == 4


# The members stop before anything is changed, so they cannot lose the trust in each other.
def test_the_middle_of_a_rotation_does_not_prevent_a_rescue(tmp_path: Path) -> None:
    ca = {"installed": False, "replaces": False, "problems": [], "trusted_keys": [], "parts": ["peer"]}
    info = {"readable": True, "clock": "2026-06-01T12:00:00Z", "ca": ca, "certificates": {}}
    half = {
        "etcd_host_facts": {"unit": {"active_state": "activating"}},
        "etcd_host_cluster_name": "etcd",
        "etcd_tls_ca_dir": "/x",
        "_etcd_tls_info": info,
        "_etcd_tls_to_issue": [],
        "_etcd_tls_cas_to_create": [],
        "_etcd_tls_run_members": [],
    }
    cases = {"site": half, "rescue": {**half, "etcd_restore_from_survivors": True}}
    found = evaluate(tmp_path, "etcd_tls", "_etcd_tls_all_ca_problems", cases)
    assert len(found["site"]) == 1 and "the installed certificate of peer" in found["site"][0]
    assert found["rescue"] == []


def test_expired_certificates_do_not_prevent_a_rescue(tmp_path: Path) -> None:
    host = Host(tmp_path)
    make_authority(host.authority)
    assert host.issue() > 0
    server, authority = host.installed / "server", host.authority / "ca"
    request = tmp_path / "server.csr"
    openssl("req", "-new", "-key", f"{server}.key", "-subj", "/CN=n1", "-out", request)
    signer = ("-CA", f"{authority}.crt", "-CAkey", f"{authority}.key")
    openssl("x509", "-req", "-in", request, *signer, "-days", "0", "-out", f"{server}.crt")
    rescue = {"etcd_restore_active": True, "etcd_restore_from_survivors": True}
    assert host.issue("preflight", **rescue) == 0
    assert host.issue(**rescue) > 0


def test_etcd_is_not_stopped_if_no_snapshot_can_be_taken(tmp_path: Path) -> None:
    survivor(tmp_path, "h1", log=True)
    said = rescue(tmp_path, loaded=["h1"], etcd_restore_rescue_dir=f"{tmp_path}/none")
    assert f"h1: dest {tmp_path}/none is not a directory" in said and "Stop etcd on all hosts" not in said, said
    assert "In the inventory, dest is etcd_restore_rescue_dir. Nothing was changed." in said, said


def test_a_failed_snapshot_leaves_etcd_stopped_and_says_so(tmp_path: Path) -> None:
    survivor(tmp_path, "h1", log=True)
    with (tmp_path / "h1/data/member/snap/db").open() as database:
        fcntl.flock(database, fcntl.LOCK_EX)
        said = rescue(tmp_path, check=False)
    assert f"h1: etcd is running on {tmp_path}/h1/data: stop every member" in said, said
    assert "The data was not changed, and etcd is stopped on all hosts: correct the reason" in said, said


def test_data_that_etcd_cannot_read_is_not_used(tmp_path: Path) -> None:
    results = {
        "h1": {"unusable": True, "msg": "etcd does not start with it: CRC mismatch"},
        "h2": {"path": "/srv/rescued.db", "revision": 7},
    }
    survivor(tmp_path, "h1", log=True)
    said = choose(tmp_path, results)
    reasons = "h1: etcd does not start with it: CRC mismatch; h2: no data; h3: no data"
    assert f"No host has data that etcd can use: {reasons}. Restore a backup" in said, said
    survivor(tmp_path, "h2", log=True)
    said = choose(tmp_path, results)
    assert "Not used: h1: etcd does not start with it: CRC mismatch; h3: no data." in said, said
    assert "restores /srv/rescued.db of h2" in said, said


def test_a_majority_that_runs_is_not_rescued(tmp_path: Path) -> None:
    """It only does not accept Headroom. One of three members that still runs is a survivor."""
    survivor(tmp_path, "h1", log=True)
    said = rescue(tmp_path, active=["h1", "h3"])
    assert "etcd runs on h1, h3, which is a majority" in said and "https://h1:2379: certificate expired" in said, said
    assert "snapshot of the data of h1" in rescue(tmp_path, active=["h1"])


def test_a_minority_of_the_voting_members_is_rescued(tmp_path: Path) -> None:
    """The inventory no longer has the hosts of the lost members, so only the cluster knows how many members vote."""
    survivor(tmp_path, "h1", log=True)
    survivor(tmp_path, "h2", log=True)
    answer = {"error": "", "members": [], "quorum": {"voters": 5, "needed": 3, "healthy": 0, "ok": False}}
    # h3 is new, and has no etcdctl to ask the cluster with.
    info = "{{ {'skipped': true} if inventory_hostname == 'h3' else {'cluster': _answer} }}"
    said = rescue(tmp_path, active=["h1", "h2"], _answer=answer, _etcd_restore_info=info)
    assert "take a snapshot of the data of h1, h2" in said, said


def test_an_unmounted_volume_is_not_lost_data(tmp_path: Path) -> None:
    """It may hold the newest data. A blank device holds none."""
    survivor(tmp_path, "h2", log=True)
    volume = {"mount": "/var/lib/etcd", "source": "UUID=5c14", "mounted": False, "format": False}
    said = rescue(tmp_path, etcd_storage_plan={"volumes": [volume]})
    assert "h1: /var/lib/etcd: not mounted" in said and "(mount UUID=5c14 /var/lib/etcd)" in said, said
    entry = {"mount_point": "/var/lib/etcd", "source": "UUID=01d0"}  # of the disk that the blank one replaces
    plan = {"volumes": [{**volume, "format": True}]}
    assert "not mounted" not in rescue(tmp_path, etcd_storage_plan=plan, unmounted={"h1": [entry]})


def test_an_unmounted_volume_of_the_user_is_not_lost_data(tmp_path: Path) -> None:
    survivor(tmp_path, "h2", log=True)
    said = rescue(tmp_path, unmounted={"h3": [{"mount_point": "/var/lib", "source": "LABEL=var"}]})
    assert "h3: /var/lib: not mounted" in said and "(mount LABEL=var /var/lib), and run the playbook again." in said, (
        said
    )
    assert "If it is lost, remove its entry from /etc/fstab. Nothing was changed." in said, said


def test_data_of_another_cluster_is_refused(tmp_path: Path) -> None:
    """The log of a third survivor is unreadable, so its cluster is unknown."""
    for host in ("h1", "h2", "h3"):
        survivor(tmp_path, host, log=True)
    ids = {"h1": {"cluster_id": "75cf"}, "h2": {"cluster_id": "99aa"}, "h3": {"cluster_id": ""}}
    said = rescue(tmp_path, identities=ids, loaded=["h1"])
    assert "data of different clusters: h1 of cluster 75cf, h2 of cluster 99aa. The data with" in said, said
    assert "move its data dir and its WAL dir away" in said and "Nothing was changed." in said and STOPS not in said, (
        said
    )
    ids["h2"]["cluster_id"] = "75cf"
    said = rescue(tmp_path, identities=ids)
    assert "take a snapshot of the data of h1, h2, h3" in said, said


@pytest.mark.parametrize("missing", ["etcd", "etcdctl", "etcdutl"])
def test_a_survivor_without_its_release_is_refused(tmp_path: Path, missing: str) -> None:
    survivor(tmp_path, "h1", log=True)
    (tmp_path / "etcd-3.6.16" / missing).unlink()
    said = rescue(tmp_path, loaded=["h1"])
    path = f"{tmp_path}/etcd-3.6.16/{missing}"
    assert f"h1: {path} is not an executable program on this host: put etcd, etcdctl and etcdutl of the" in said, said
    assert "Nothing was changed." in said and STOPS not in said, said


def test_a_damaged_program_ends_the_rescue_before_etcd_stops(tmp_path: Path) -> None:
    """After a power failure the program may be empty. The data is usable with another one, and may be the newest."""
    survivor(tmp_path, "h1", log=True)
    (tmp_path / "etcd-3.6.16" / "etcd").write_text("")
    said = rescue(tmp_path, loaded=["h1"])
    assert f"h1: {tmp_path}/etcd-3.6.16/etcd --version does not print the version of etcd" in said, said
    assert "Nothing was changed." in said and STOPS not in said, said


def test_the_release_is_the_one_that_the_unit_starts(tmp_path: Path) -> None:
    starts = {"unit": "/opt/etcd/3.5.24/etcd", "none": None}
    cases = {name: {"etcd_host_facts": {"unit": {"starts": path}}} for name, path in starts.items()}
    cases["no unit"] = {"etcd_host_facts": {"unit": {}}}
    found = evaluate(tmp_path, "etcd_restore", "_etcd_restore_tools", cases)
    assert found == {"unit": "/opt/etcd/3.5.24", "none": "/usr/local/bin", "no unit": "/usr/local/bin"}


def test_a_survivor_that_would_lock_headroom_out_is_refused(tmp_path: Path) -> None:
    """One that would not is enough, because the users of another may be older."""
    survivor(tmp_path, "h1", log=True)
    users = {b"authEnabled": b"\x01"}, {b"root": b"\x0a\x04root\x1a\x04root"}
    buckets = {b"auth": users[0], b"authUsers": users[1]}
    pages = [meta(7, 2), meta(8, 3), leaf(2, inline({})), leaf(3, inline(buckets))]
    database = b"".join(page.ljust(PAGE_SIZE, b"\0") for page in pages)
    (tmp_path / "h1" / "data" / "member" / "snap" / "db").write_bytes(database)
    said = rescue(tmp_path, loaded=["h1"])
    assert f"h1: {tmp_path}/h1/data/member/snap/db has authentication on, but user headroom" in said, said
    assert "does not exist" in said and "etcd was not stopped." in said and STOPS not in said, said
    survivor(tmp_path, "h2", log=True)
    assert "take a snapshot of the data of h1, h2" in rescue(tmp_path)


def test_a_refusal_for_space_says_that_etcd_is_stopped(tmp_path: Path) -> None:
    variables = {**real_snapshot(tmp_path), "etcd_restore_snapshot": str(tmp_path / "etcd.db")}
    variables["etcd_plan"] = {"settings": {"quota_backend_bytes": 8192}}
    twice = re.compile(r"No data was changed\.+ No data was changed")
    said = prepare(tmp_path, _etcd_restore_rescued={"path": "x"}, **variables)
    assert "No data was changed, but etcd is stopped on all hosts: correct the reason" in said, said
    assert f"older rescued-*.db files in {tmp_path}/h1 may be removed, but not {tmp_path}/etcd.db." in said, said
    assert not twice.search(said), said
    said = prepare(tmp_path, **variables)
    assert "No data was changed." in said and "etcd is stopped" not in said and not twice.search(said), said
