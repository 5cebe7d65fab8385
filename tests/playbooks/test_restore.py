# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts role etcd_restore prepares, which snapshot it chooses, and whose data it rescues; tests/hosts restores real clusters."""

from __future__ import annotations

import fcntl
import grp
import hashlib
import itertools
import json
import os
import pwd
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import store

from tests.playbooks.tls_host import Host, make_authority, openssl
from tests.playbooks.variables import evaluate

PROJECT = Path(__file__).resolve().parents[2]
ROLE = PROJECT / "roles" / "etcd_restore"
ID, OTHER_ID = "20261121T101500Z", "20261122T101500Z"
SNAPSHOT = {"member": "m2", "revision": 8123, "sha256": "ab12" * 16}
UNIT = {"load_state": "not-found", "active_state": "inactive"}
FACTS = {
    "files": {"/usr/local/bin/etcdctl": {"exists": False}},
    "unit": UNIT,
    "versions": ["3.6.16"],
}


def run(
    folder: Path,
    tasks: list[dict[str, Any]],
    *options: str,
    identities: dict[str, dict[str, str]] | None = None,
    active: Sequence[str] = (),
    loaded: Sequence[str] = (),
    unmounted: dict[str, list[dict[str, str]]] | None = None,
    **variables: Any,
) -> str:
    """Run tasks with the variables of the role on three hosts, each with its own folder; return the output with single blanks.

    identities: the ids in the write-ahead logs, by host. active: the hosts on which etcd runs. loaded: those with a unit of etcd.
    unmounted: entries of fstab, by host.
    """
    identities, unmounted = identities or {}, unmounted or {}
    hosts = {
        name: {
            "etcd_host_data_dir": str(folder / name / "data"),
            "etcd_host_restoring_file": str(folder / name / "restoring"),
            "etcd_name": name,
            "etcd_host_facts": {
                **FACTS,
                "unit": {
                    "load_state": "loaded" if name in loaded else "not-found",
                    "active_state": "active" if name in active else "inactive",
                    "starts": str(folder / "etcd-3.6.16" / "etcd"),
                },
                "mounts": {"/var/lib/etcd": {"unmounted": unmounted.get(name, [])}},
            },
            "etcd_member": {"has_data": (folder / name / "data").exists(), "identity": identities.get(name, {})},
        }
        for name in ("h1", "h2", "h3")
    }
    given = {
        **yaml.safe_load((ROLE / "defaults" / "main.yml").read_text(encoding="utf-8")),
        "ansible_connection": "local",
        "ansible_python_interpreter": "{{ ansible_playbook_python }}",
        "etcd_host_cluster_name": "example",
        "etcd_restore_confirm": "example",
        "etcd_host_wal_dir": "",
        "etcd_host_unit_file": "/none.service",
        **variables,
    }
    for name in hosts:
        (folder / name).mkdir(exist_ok=True)
    (folder / "hosts.yml").write_text(yaml.safe_dump({"etcd": {"hosts": hosts, "vars": given}}))
    play = {
        "name": "Run the tasks",
        "hosts": "etcd",
        "gather_facts": False,
        "any_errors_fatal": True,
        "vars_files": [str(ROLE / "vars" / "main.yml")],
        "tasks": tasks,
    }
    (folder / "play.yml").write_text(yaml.safe_dump([play]))
    command = ["ansible-playbook", "-i", str(folder / "hosts.yml"), str(folder / "play.yml"), *options]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300, check=False)
    return re.sub(r"\s+", " ", done.stdout + done.stderr)


def preflight(folder: Path, **variables: Any) -> str:
    """Run the preflight checks and print what they found."""
    found = (
        "prepares {{ _etcd_restore_unprepared | join(' ') }} from {{ etcd_restore_snapshot }} of {{ _etcd_restore_source | default('nobody') }}, "
        "{{ 'resumed' if _etcd_restore_resumed else 'new' }}. Starts later: {{ etcd_restore_start_later | join(' ') or 'none' }}."
    )
    tasks = [
        {"name": "Check", "ansible.builtin.include_tasks": str(ROLE / "tasks" / "preflight.yml")},
        {"name": "Print", "ansible.builtin.debug": {"msg": found}, "run_once": True},
    ]
    return run(folder, tasks, **variables)


def begun(
    folder: Path, host: str, name: str, restore: str, marked: bool = True, snapshot: dict[str, Any] = SNAPSHOT
) -> None:
    """Create new data of a restore on a host, in its data dir or prepared next to it, and the marker of a restore that replaces data."""
    member = folder / host / name / "member"
    member.mkdir(parents=True)
    record = {"id": restore, "snapshot": snapshot, "source": {"host": "h2", "path": str(folder / "etcd.db")}}
    (member / "headroom-restore.json").write_text(json.dumps(record))
    if marked:
        (folder / host / "restoring").write_text(json.dumps({"id": restore}))


def save_snapshot(folder: Path) -> Path:
    for name in ("etcd.db", "etcd.db.json", "etcd.db.sha256"):
        (folder / name).write_text("")
    return folder / "etcd.db"


def test_a_new_restore_prepares_all_hosts(tmp_path: Path) -> None:
    path = save_snapshot(tmp_path)
    said = preflight(tmp_path, etcd_restore_snapshot=str(path))
    assert f"prepares h1 h2 h3 from {path} of h1, new. Starts later: none." in said, said


def test_an_interrupted_restore_prepares_only_the_hosts_that_lack_its_data(tmp_path: Path) -> None:
    """One host has activated its data, one has only prepared it, and one was replaced. The record names the snapshot."""
    begun(tmp_path, "h1", "data", ID)
    begun(tmp_path, "h2", f"data.restore-{ID}", ID, marked=False)
    path = save_snapshot(tmp_path)
    said = preflight(tmp_path)
    assert f"prepares h3 from {path} of h2, resumed. Starts later: h3." in said, said


@pytest.mark.parametrize(
    ("generations", "later"),
    [
        ({}, []),
        ({"h1": 0, "h2": 0, "h3": 0}, []),
        ({"h1": 0, "h3": None}, ["h2"]),  # lost now; older releases recorded no generation
        ({"h1": 1, "h2": 0, "h3": 0}, ["h1"]),  # lost in an earlier run, which ended before the members started
        ({"h3": 0}, ["h2"]),  # with one survivor, just enough members for a majority: it wins the election
        ({"h1": 0, "h2": 2, "h3": 1}, ["h2"]),  # lost twice: the writes may be on h3 alone
        ({"h2": 2, "h3": 1}, ["h1"]),
        ({"h1": 1, "h2": 1, "h3": 1}, []),
    ],
)
def test_members_with_the_oldest_data_start_first(generations: dict[str, int | None], later: list[str]) -> None:
    loader, hosts = DataLoader(), ["h1", "h2", "h3"]
    tasks = loader.load_from_file(str(ROLE / "tasks" / "preflight.yml"), trusted_as_template=True)
    [task] = [one for one in tasks if "etcd_restore_start_later" in one.get("ansible.builtin.set_fact", {})]
    records = {host: {} if number is None else {"generation": number} for host, number in generations.items()}
    variables = {
        **task["vars"],
        "ansible_play_hosts_all": hosts,
        "_etcd_restore_unprepared": [host for host in hosts if host not in generations],
        "hostvars": {host: {"_etcd_restore_progress": {"record": record}} for host, record in records.items()},
    }
    found = Templar(loader=loader, variables=variables).template(task["ansible.builtin.set_fact"])
    assert found["etcd_restore_start_later"] == later
    assert found["_etcd_restore_generation"] == max((number or 0 for number in generations.values()), default=-1) + 1


def test_a_lost_snapshot_is_named(tmp_path: Path) -> None:
    begun(tmp_path, "h1", "data", ID)
    said = preflight(tmp_path)
    assert (
        f"{tmp_path}/etcd.db is neither on h1, h2, h3 nor on the controller. The interrupted restore {ID} has to prepare h2, h3 again"
        in said
    )
    assert "began with (of m2 at revision 8123, SHA-256 ab12ab12ab12…)" in said, said
    assert re.search(
        r"If that snapshot is lost, remove \S+/restoring on every host, and restore another one\.", said
    ), said


@pytest.mark.parametrize(
    ("variables", "text"),
    [
        ({"etcd_restore_confirm": "prod"}, r"Confirm it with -e etcd_restore_confirm=example \(it is prod\)"),
        ({"etcd_restore_snapshot": ""}, r"etcd_restore_snapshot is not set\. Name a snapshot"),
        ({"etcd_restore_snapshot": "/none.db"}, r"/none\.db is neither on h1, h2, h3 nor on the controller"),
        (
            {"etcd_restore_snapshot": "/etc/hostname"},
            r"/etc/hostname on h1 lacks /etc/hostname\.json and /etc/hostname\.sha256,",
        ),
    ],
    ids=["another cluster's name", "no snapshot", "nobody has it", "no backup of Headroom's"],
)
def test_an_invalid_request_is_refused(tmp_path: Path, variables: dict[str, str], text: str) -> None:
    said = preflight(tmp_path, **{"etcd_restore_snapshot": str(save_snapshot(tmp_path)), **variables})
    assert re.search(text, said), said


def test_hosts_in_different_restores_are_refused(tmp_path: Path) -> None:
    begun(tmp_path, "h1", "data", ID)
    begun(tmp_path, "h3", "data", OTHER_ID)
    said = preflight(tmp_path, etcd_restore_snapshot=str(save_snapshot(tmp_path)))
    assert f"The hosts are in different restores: h1 in {ID}, h3 in {OTHER_ID}. Remove" in said, said


@pytest.mark.parametrize(
    ("name", "content", "refused"),
    [
        ("copy.db", "begun", ""),
        ("etcd.db", "other", r"etcd\.db \(SHA-256 d9298a10d1b0…\)"),
        ("other.db", "", r"other\.db \(neither on h1, h2, h3 nor on the controller\)"),
    ],
    ids=["a copy", "another file of that name", "nobody has it"],
)
def test_another_snapshot_is_not_ignored_if_all_hosts_are_ready(
    tmp_path: Path, name: str, content: str, refused: str
) -> None:
    digest = hashlib.sha256(b"begun").hexdigest()
    for host in ("h1", "h2", "h3"):
        begun(tmp_path, host, "data", ID, snapshot={**SNAPSHOT, "sha256": digest})
    if content:
        (tmp_path / name).write_text(content)
    said = preflight(tmp_path, etcd_restore_snapshot=str(tmp_path / name))
    assert ("failed=1" in said) == bool(refused), said
    expected = (
        rf"{refused}, but the interrupted restore {ID} began with another snapshot \(of m2 at revision 8123, SHA-256 "
        rf"{digest[:12]}…\)\. To resume it, leave etcd_restore_snapshot out\. To restore \S+ instead, remove \S+/restoring on every host"
    )
    assert re.search(expected if refused else "of nobody, resumed", said), said


# Makes of a snapshot what the real one does, as far as a restore looks at it.
ETCDUTL = """#!{python}
import sys
from pathlib import Path
flags = dict(word.partition("=")[::2] for word in sys.argv if word.startswith("--"))
if "status" in sys.argv:
    print('{{"hash":3016699658,"revision":8123,"totalKey":2000,"totalSize":8192,"version":"3.6.0"}}')
else:
    for name in ("snap", "wal"):
        Path(flags["--data-dir"], "member", name).mkdir(parents=True)
    Path(flags["--data-dir"], "member", "snap", "db").write_text("new")
"""


def real_snapshot(folder: Path) -> dict[str, Any]:
    """Save a snapshot with its record, and a program that restores it; return the variables."""
    (folder / "3.6.16").mkdir()
    (folder / "3.6.16" / "etcdutl").write_text(ETCDUTL.format(python=os.path.realpath(sys.executable)))
    (folder / "3.6.16" / "etcdutl").chmod(0o755)
    content = b"page" * 2048
    body = content + hashlib.sha256(content).digest()
    (folder / "work").write_bytes(body)
    digest = hashlib.sha256(body).hexdigest()
    metadata = store.Metadata("75cf", "m2", "2", "3.6.16", "3.6.0", 8123, "b3cf2f0a", 2000, len(body), digest, 0)
    store.publish(str(folder / "work"), str(folder / "etcd.db"), metadata)
    return {
        "saved": metadata.as_dict(),
        "etcd_version": "3.6.16",
        "etcd_host_install_dir": str(folder),
        "etcd_host_user": pwd.getpwuid(os.geteuid()).pw_name,
        "etcd_host_user_group": grp.getgrgid(os.getegid()).gr_name,
        "etcd_cluster": {
            "initial_cluster": "h1=http://h1:2380,h2=http://h2:2380,h3=http://h3:2380",
            "members": {name: {"peer_url": f"http://{name}:2380"} for name in ("h1", "h2", "h3")},
        },
    }


def prepare(folder: Path, *options: str, running: str = "", **variables: Any) -> str:
    """Run the preflight checks, and prepare the hosts that they found. running: the id of the cluster that answers."""
    answer = {"_etcd_restore_info": {"cluster": {"id": running}}}
    tasks = [
        {"name": "Check", "ansible.builtin.include_tasks": str(ROLE / "tasks" / "preflight.yml")},
        {"name": "Answer", "ansible.builtin.set_fact": answer},
        {"name": "Prepare", "ansible.builtin.include_tasks": str(ROLE / "tasks" / "prepare.yml")},
    ]
    return run(folder, tasks, *options, **variables)


def contents(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.glob("h?/*")}


def test_a_replaced_host_is_prepared_from_the_snapshot_of_a_host_that_is_done(tmp_path: Path) -> None:
    variables = real_snapshot(tmp_path)
    for host in ("h1", "h2"):
        begun(tmp_path, host, "data", ID, snapshot=variables["saved"])
    before = contents(tmp_path)
    said = prepare(tmp_path, "--check", **variables)
    assert "incomplete on h3: would prepare it again from" in said and "failed=1" not in said, said
    assert contents(tmp_path) == before
    said = prepare(tmp_path, **variables)
    assert f"incomplete on h3: preparing it again from {tmp_path}/etcd.db of h2." in said, said
    assert contents(tmp_path) - before == {f"h3/data.restore-{ID}"}, said
    record = json.loads((tmp_path / "h3" / f"data.restore-{ID}" / "member" / "headroom-restore.json").read_text())
    assert record["source"] == {"host": "h2", "path": str(tmp_path / "etcd.db")}


def test_the_users_of_the_snapshot_are_read_where_it_is(tmp_path: Path) -> None:
    """Not a database here, so the users are left to the restore. Nothing is read if all hosts are prepared."""
    tasks = [
        {"name": name, "ansible.builtin.include_tasks": str(ROLE / "tasks" / f"{name}.yml")}
        for name in ("preflight", "check_access")
    ]
    path = save_snapshot(tmp_path)
    said = run(tmp_path, tasks, etcd_restore_snapshot=str(path), etcd_restore_client_name="headroom")
    assert "failed=0" in said and "failed=1" not in said, said
    # The common names of their certificates may differ.
    assert sorted(
        re.findall(r"ok: \[(h\d)", said.partition("Check that etcd will accept")[2].partition("TASK")[0])
    ) == [
        "h1",
        "h2",
        "h3",
    ], said
    for host in ("h1", "h2", "h3"):
        begun(tmp_path, host, "data", ID)
    said = run(tmp_path, tasks, etcd_restore_client_name="headroom")
    assert (
        "failed=0" in said
        and "failed=1" not in said
        and re.findall(r"ok: \[(h\d)", said.partition("Check that etcd will accept")[2]) == []
    ), said


def test_a_snapshot_of_another_cluster_is_refused(tmp_path: Path) -> None:
    variables = {**real_snapshot(tmp_path), "etcd_restore_snapshot": str(tmp_path / "etcd.db")}
    said = prepare(tmp_path, running="99aa", **variables)
    assert (
        "The snapshot belongs to cluster 75cf, not to 99aa. To restore it anyway, set etcd_restore_other_cluster=true"
        in said
    ), said
    assert contents(tmp_path) == set(), "the copies of the snapshot are removed"


def test_a_snapshot_of_another_cluster_is_refused_although_no_member_answers(tmp_path: Path) -> None:
    """The write-ahead log on one host is enough to know the cluster; a host that was replaced has none."""
    variables = {**real_snapshot(tmp_path), "etcd_restore_snapshot": str(tmp_path / "etcd.db")}
    said = prepare(tmp_path, identities={"h2": {"member_id": "1", "cluster_id": "99aa"}}, **variables)
    assert "The snapshot belongs to cluster 75cf, not to 99aa." in said, said
    assert contents(tmp_path) == set(), "the copies of the snapshot are removed"
    ours = {"h2": {"member_id": "1", "cluster_id": "75cf"}}
    said = prepare(tmp_path, "--check", identities=ours, **variables)
    assert "The snapshot belongs" not in said and "the snapshot of m2 of cluster 75cf at revision 8123" in said, said


def test_another_snapshot_than_that_of_the_interrupted_restore_is_refused(tmp_path: Path) -> None:
    variables = real_snapshot(tmp_path)
    begun(tmp_path, "h1", "data", ID)
    before = contents(tmp_path)
    said = prepare(tmp_path, **variables)
    assert re.search(
        r"/etcd\.db of h2 is another snapshot \(of m2 at revision 8123, SHA-256 \w{12}…\)\. The interrupted", said
    ), said
    assert contents(tmp_path) - before <= {"h3"}, "the copies of the snapshot are removed"


def rescue(folder: Path, check: bool = True, **variables: Any) -> str:
    """Rescue data; no member answers."""
    variables = {"_etcd_restore_info": {"cluster": {"error": "https://h1:2379: certificate expired"}}, **variables}
    tasks = [{"name": "Rescue", "ansible.builtin.include_tasks": str(ROLE / "tasks" / "rescue.yml")}]
    variables = {
        "_etcd_restore_id": ID,
        "etcd_restore_rescue_dir": str(folder),
        "etcd_restore_client_name": "headroom",
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
        (folder / "etcd-3.6.16" / program).touch(mode=0o755)
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
    info = {"ca": {"installed": False, "replaces": False, "problems": []}}
    half = {
        "etcd_host_facts": {"unit": {"active_state": "activating"}},
        "etcd_tls_ca_dir": "/x",
        "_etcd_tls_info": info,
        "_etcd_tls_signers": {"ca": {"text": "", "file": "ca.crt"}},
        "_etcd_tls_partings": {"ca": ["the installed certificate of peer is not signed by a CA that would be trusted"]},
        "_etcd_tls_key_problems": {"ca": ""},
    }
    cases = {"site": half, "rescue": {**half, "etcd_restore_from_survivors": True}}
    found = evaluate(tmp_path, "etcd_tls", "_etcd_tls_ca_problems", cases)
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
