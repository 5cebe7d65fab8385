# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts role etcd_restore prepares, and which snapshot it chooses; tests/hosts restores real clusters."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
import uuid
from pathlib import Path

import pytest

from tests.playbooks.restoring import (
    ID,
    OTHER_ID,
    ROLE,
    SNAPSHOT,
    begun,
    contents,
    encrypted_snapshot,
    preflight,
    prepare,
    real_snapshot,
    run,
    save_snapshot,
)


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


def test_a_volume_that_a_reboot_left_unmounted_is_not_lost_data(tmp_path: Path) -> None:
    """Only on h3 is the new data of an interrupted restore missing. The data of a new restore is prepared once its volumes are mounted."""
    path = save_snapshot(tmp_path)
    volume = {"mount": "/var/lib/etcd", "source": "UUID=5c14", "mounted": False, "format": False}
    unmounted = {"etcd_restore_snapshot": str(path), "etcd_storage_plan": {"volumes": [volume]}}
    assert "prepares h1 h2 h3" in preflight(tmp_path, **unmounted)
    begun(tmp_path, "h1", "data", ID)
    begun(tmp_path, "h2", f"data.restore-{ID}", ID)
    said = preflight(tmp_path, **unmounted)
    assert (
        "h3: /var/lib/etcd: not mounted, but the device has a filesystem" in said and "h1: /var/lib/etcd" not in said
    ), said
    assert "Mount it (mount UUID=5c14 /var/lib/etcd), and run the playbook again. Nothing was changed." in said, said
    blank = {"volumes": [{**volume, "format": True}]}
    assert "prepares h3" in preflight(tmp_path, etcd_storage_plan=blank)


def test_a_member_that_was_prepared_again_in_an_earlier_run_starts_later(tmp_path: Path) -> None:
    """That run ended before the members started. Older releases recorded no generation."""
    for host in ("h1", "h2", "h3"):
        begun(tmp_path, host, "data", ID)
    path = tmp_path / "h1" / "data" / "member" / "headroom-restore.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "generation": 1}))
    said = preflight(tmp_path)
    assert "of nobody, resumed. Starts later: h1." in said, said


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


def test_different_snapshots_of_the_same_name_are_refused(tmp_path: Path) -> None:
    """Each host is a folder here, so its path of the snapshot is its own. On the controller it is that of the first host."""
    for host, content in (("h1", "x"), ("h2", "x"), ("h3", "y")):
        (tmp_path / host).mkdir()
        save_snapshot(tmp_path / host).write_text(content)
    of_host = {"etcd_restore_snapshot": f"{tmp_path}/{{{{ inventory_hostname }}}}/etcd.db"}
    said = preflight(tmp_path, **of_host)
    one, other = (hashlib.sha256(content).hexdigest()[:12] for content in (b"x", b"y"))
    named = f"h1 (SHA-256 {one}…), h2 (SHA-256 {one}…), h3 (SHA-256 {other}…), the controller (SHA-256 {one}…)"
    assert f"etcd.db is a different file on {named}. Copy the one to restore, with its .json" in said, said
    assert "No data was changed." in said and "prepares" not in said, said
    # A rescue chooses the host, and so does an interrupted restore.
    assert f"from {tmp_path}/h1/etcd.db of h3, new." in preflight(tmp_path, _etcd_restore_host="h3", **of_host)
    (tmp_path / "h3" / "etcd.db").write_text("x")
    assert f"from {tmp_path}/h1/etcd.db of h1, new." in preflight(tmp_path, **of_host)


def test_another_snapshot_of_that_name_on_the_controller_is_refused(tmp_path: Path) -> None:
    """Only h3 and the controller have the path. Each host's Python sees a folder of its own there."""
    shared = tmp_path / "shared"
    shared.mkdir()
    save_snapshot(shared).write_text("new")
    for host in ("h1", "h2", "h3"):
        view = tmp_path / f"view-{host}"
        view.mkdir()
        python = tmp_path / f"python-{host}"
        mount = f"mount --bind {view} {shared}"
        python.write_text(f'#!/bin/sh\nexec unshare -m sh -c \'{mount}; exec {sys.executable} "$@"\' sh "$@"\n')
        python.chmod(0o755)
    save_snapshot(tmp_path / "view-h3").write_text("left there")
    own = {"ansible_python_interpreter": f"{tmp_path}/python-{{{{ inventory_hostname }}}}"}
    said = preflight(tmp_path, etcd_restore_snapshot=str(shared / "etcd.db"), **own)
    here, there = (hashlib.sha256(content).hexdigest()[:12] for content in (b"new", b"left there"))
    named = f"h3 (SHA-256 {there}…), the controller (SHA-256 {here}…)"
    assert f"etcd.db is a different file on {named}. Copy the one to restore, with its .json and .sha256, to" in said, (
        said
    )
    assert "No data was changed." in said and "prepares" not in said, said


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


@pytest.mark.parametrize(("options", "name"), [(("--check",), "etcd.db.age"), ((), "renamed.db")])
def test_an_encrypted_snapshot_is_refused_before_it_is_copied(
    tmp_path: Path, options: tuple[str, ...], name: str
) -> None:
    path = encrypted_snapshot(tmp_path, name)
    said = prepare(tmp_path, *options, **{**real_snapshot(tmp_path), "etcd_restore_snapshot": str(path)})
    assert f"{path} of h1 is encrypted. Decrypt it on a host with the secret key: ansible HOST" in said, said
    assert f"state=decrypted path={path} identity_file=KEY', then restore the .db. No data was changed." in said, said
    assert "Would replace" not in said and "staging directory" not in said and contents(tmp_path) == set(), said


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


def test_the_copies_of_a_killed_run_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the hosts and on the controller, but not those of another cluster."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "controller"))
    cluster = f"test-{uuid.uuid4().hex}"
    named = {"etcd_host_cluster_name": cluster, "etcd_restore_confirm": cluster}
    variables = {**real_snapshot(tmp_path), **named, "etcd_restore_snapshot": str(tmp_path / "etcd.db")}
    left = [Path(parent, f"headroom-restore-{cluster}-abcdefg_") for parent in ("/var/tmp", tmp_path / "controller")]
    other = tmp_path / "controller" / f"headroom-restore-{cluster}-2-abcdefg_"
    try:
        for folder in (*left, other):
            folder.mkdir(parents=True)
            (folder / "etcd.db").write_text("all keys")
        said = prepare(tmp_path, "--check", **variables)
        assert "failed=1" not in said and all(folder.exists() for folder in left), said
        said = prepare(tmp_path, **variables)
        assert "failed=1" not in said and not any(folder.exists() for folder in left), said
        assert list((tmp_path / "controller").iterdir()) == [other] and (other / "etcd.db").exists()
        assert not list(Path("/var/tmp").glob(f"headroom-restore-{cluster}*"))
        assert any(name.startswith("h3/data.restore-") for name in contents(tmp_path)), said
    finally:
        shutil.rmtree(left[0], ignore_errors=True)


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
