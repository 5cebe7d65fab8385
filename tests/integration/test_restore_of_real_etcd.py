# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Restoring members of real etcd from a snapshot, with interruptions at any point, and rescuing the data of a killed member."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import check as backup_check
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import rescue as backup_rescue
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import restore as backup_restore
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import (
    restore_folders,
    scratch_member,
    snapshot,
    snapshot_users,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.restore_folders import Restore, RestoreError
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import bbolt

from bench.common.member import Member, binary, releases, running
from tests.integration.client import connection, etcdctl, run, wait_until

PORT = 25050
KEYS = 40
ID = "20261121T101500Z"
BUMP = 1_000_000_000

# Prepares and places, and is killed at the STEP-th time that Python's own audit of what it does names the folder or a program.
KILLED = """
import json, os, signal, sys
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import restore as backup_restore
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import restore_folders
asked = json.loads(sys.argv[1])
steps = 0
def watch(event, arguments):
    global steps
    if event == "subprocess.Popen" or any(str(value).startswith(asked["folder"]) for value in arguments):
        steps += 1
        if steps == asked["step"]:
            os.kill(os.getpid(), signal.SIGKILL)
restore = restore_folders.Restore(*asked["restore"])
sys.addaudithook(watch)
backup_restore.prepare(restore, backup_restore.Request(**asked["request"]), asked["marker"])
backup_restore.activate(restore, asked["marker"])
backup_restore.finish(asked["marker"])
print(steps)
"""


@dataclass(frozen=True)
class Saved:
    """A cluster that has been stopped, and a snapshot of it."""

    version: str
    members: list[Member]
    path: str
    revision: int


@pytest.fixture(scope="module", params=releases())
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Saved]:
    """Three members with some keys, a snapshot, and a key that was written after it."""
    version: str = request.param
    folder = tmp_path_factory.mktemp(f"etcd-{version}")
    ports = {f"m{number}": PORT + 10 * number for number in range(3)}
    members = [Member(version, folder, port, (), {}, (), name, ports) for name, port in ports.items()]
    (folder / "backups").mkdir()
    with running(members):
        for number in range(KEYS):
            etcdctl(members[0], "put", f"key-{number}", "v" * 1000)
        asked = snapshot.Request(str(folder / "backups"), "etcd", "", keep=9, keep_days=None, reserve=0, timeout=60)
        tools = snapshot.Tools(connection(version), str(binary(version, "etcdutl")))
        done = snapshot.take_snapshot(asked, tools, [members[0].endpoint])
        etcdctl(members[0], "put", "after", "the snapshot")
    yield Saved(version, members, done.plan.path, done.metadata.revision)


def copies(saved: Saved, folder: Path, *flags: str) -> list[Member]:
    """The same members on copies of their data, which each test may change."""
    for member in saved.members:
        shutil.copytree(member.folder / member.name, folder / member.name)
    return [replace(member, folder=folder, flags=flags, process=None, sampler=None) for member in saved.members]


def request(saved: Saved, member: Member, **more: Any) -> backup_restore.Request:
    peers = ",".join(f"{one.name}=http://127.0.0.1:{one.port + 1}" for one in saved.members)
    base = backup_restore.Request(
        path=saved.path,
        name=member.name,
        peer_url=f"http://127.0.0.1:{member.port + 1}",
        initial_cluster=peers,
        token=f"test-{ID}",
        owner=os.geteuid(),
        group=os.getegid(),
        bump_revision=BUMP,
        reserve=0,
        etcdutl_path=str(binary(saved.version, "etcdutl")),
        timeout=60,
    )
    return replace(base, **more)


def restore(member: Member, wal: bool = False) -> Restore:
    return Restore(
        ID, str(member.folder / member.name), str(member.folder / f"{member.name}-wal/member/wal") if wal else ""
    )


def test_a_whole_cluster(saved: Saved, tmp_path: Path) -> None:
    members = copies(saved, tmp_path)
    markers = {member.name: str(tmp_path / f"restoring-{member.name}") for member in members}  # each on its own host
    for member in members:
        changed, metadata = backup_restore.prepare(restore(member), request(saved, member), markers[member.name])
        assert (changed, metadata.revision) == (True, saved.revision)
        assert not backup_restore.prepare(restore(member), request(saved, member), markers[member.name])[0]
    for member in members:
        assert backup_restore.activate(restore(member), markers[member.name]) == [
            f"{tmp_path / member.name}.before-{ID}"
        ]
        assert backup_restore.activate(restore(member), markers[member.name]) == []
        assert (tmp_path / f"{member.name}.before-{ID}" / "member" / "snap" / "db").exists()
    assert (backup_restore.read_marker(markers["m0"]) or {})["id"] == ID
    with running(members):
        answer = json.loads(etcdctl(members[1], "get", "", "--from-key", "--keys-only", "-w", "json"))
        assert answer["count"] == KEYS
        assert answer["header"]["revision"] == saved.revision + BUMP
        put = json.loads(etcdctl(members[2], "put", "new", "x", "-w", "json"))
        assert put["header"]["revision"] == saved.revision + BUMP + 1
        # A client's old watch is cancelled with an error instead of waiting for ever.
        watch = run(members[0], "watch", "--prefix", "key", f"--rev={saved.revision + 1}")
        assert "required revision has been compacted" in watch.stderr
    assert backup_restore.finish(markers["m0"])
    assert not backup_restore.finish(markers["m0"])


def test_old_members_cannot_join(saved: Saved, tmp_path: Path) -> None:
    """A member that was unreachable during the restore belongs to another cluster for the new one."""
    members = copies(saved, tmp_path)
    for member in members[:2]:
        backup_restore.prepare(restore(member), request(saved, member), str(tmp_path / f"restoring-{member.name}"))
        backup_restore.activate(restore(member), str(tmp_path / f"restoring-{member.name}"))
    with running(members[:2]):
        members[2].start()
        try:
            log = tmp_path / "m2.log"
            wait_until(lambda: "cluster ID mismatch" in log.read_text(), "the old member was not refused")
            listed = json.loads(
                etcdctl(members[0], "endpoint", "status", "-w", "json", "--cluster", check=False) or "[]"
            )
            assert {one["Endpoint"] for one in listed} == {member.endpoint for member in members[:2]}
        finally:
            members[2].stop()


def test_the_log_on_a_volume_of_its_own(saved: Saved, tmp_path: Path) -> None:
    member = saved.members[0]
    member = replace(member, folder=tmp_path, peers={}, process=None, sampler=None)
    member = replace(member, flags=(f"--wal-dir={tmp_path / 'm0-wal/member/wal'}",))
    with running([member]):
        etcdctl(member, "put", "old", "x")
    alone = f"m0=http://127.0.0.1:{member.port + 1}"
    backup_restore.prepare(
        restore(member, wal=True), request(saved, member, initial_cluster=alone), str(tmp_path / "restoring")
    )
    aside = backup_restore.activate(restore(member, wal=True), str(tmp_path / "restoring"))
    assert aside == [f"{tmp_path}/m0-wal/member.before-{ID}", f"{tmp_path}/m0.before-{ID}"]
    with running([member]):
        assert json.loads(etcdctl(member, "get", "", "--from-key", "-w", "json"))["count"] == KEYS
    assert not (tmp_path / "m0" / "member" / "wal").exists()


@pytest.mark.parametrize("wal", ["wal", "m0/wal", "m0/member/wal"])
def test_a_wal_dir_next_to_the_data_dir_or_in_it(saved: Saved, tmp_path: Path, wal: str) -> None:
    """The old data and the old log are kept, and etcd starts on the new data with the same WAL dir."""
    folder = tmp_path / wal
    member = replace(saved.members[0], folder=tmp_path, peers={}, process=None, sampler=None)
    member = replace(member, flags=(f"--wal-dir={folder}",))
    with running([member]):
        etcdctl(member, "put", "old", "x")
    asked = restore_folders.resolve_restore(ID, str(tmp_path / "m0"), str(folder))
    alone = f"m0=http://127.0.0.1:{member.port + 1}"
    backup_restore.prepare(asked, request(saved, member, initial_cluster=alone), str(tmp_path / "restoring"))
    aside = backup_restore.activate(asked, str(tmp_path / "restoring"))
    kept = f"wal.before-{ID}" if wal == "wal" else f"m0.before-{ID}{wal.removeprefix('m0')}"
    assert f"{tmp_path}/m0.before-{ID}" in aside and list((tmp_path / kept).glob("*.wal"))
    assert (tmp_path / f"m0.before-{ID}" / "member" / "snap" / "db").exists()
    with running([member]):
        assert json.loads(etcdctl(member, "get", "", "--from-key", "-w", "json"))["count"] == KEYS


def test_a_running_member_is_refused(saved: Saved, tmp_path: Path) -> None:
    (member, *_others) = copies(saved, tmp_path)
    member = replace(member, peers={}, flags=("--force-new-cluster",))
    with running([member]):
        backup_restore.prepare(restore(member), request(saved, member), str(tmp_path / "restoring"))
        with pytest.raises(RestoreError, match=r"etcd is running on .*: stop every member of the cluster first"):
            backup_restore.activate(restore(member), str(tmp_path / "restoring"))
        assert etcdctl(member, "get", "after", "--print-value-only").strip() == "the snapshot"
    assert not (tmp_path / "restoring").exists()


def test_killed_at_every_step(saved: Saved, tmp_path: Path) -> None:
    """The next run completes the restore from any intermediate state, and never loses the old data."""
    steps, step = 0, 0
    while step <= steps:
        folder = tmp_path / str(step)
        old = folder / "data" / "member" / "snap"
        old.mkdir(parents=True)
        (old / "db").write_text("precious")
        argument = {
            "folder": str(folder),
            "restore": [ID, str(folder / "data"), str(folder / "wal" / "member" / "wal")],
            "request": vars(request(saved, saved.members[0])),
            "marker": str(folder / "restoring"),
            "step": step,
        }
        (folder / "wal" / "member" / "wal").mkdir(parents=True)
        command = [sys.executable, "-c", KILLED, json.dumps(argument)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
        if step == 0:
            steps = int(done.stdout)
            assert steps > 20
        else:
            assert done.returncode == -signal.SIGKILL, f"step {step} of {steps}: {done.stderr}"
            again = [*command[:-1], json.dumps({**argument, "step": 0})]
            subprocess.run(again, check=True, capture_output=True, timeout=120)
        names = {path.name for path in folder.iterdir()}
        assert names == {"data", "wal", f"data.before-{ID}"}, f"step {step} of {steps}"
        assert {path.name for path in (folder / "wal").iterdir()} == {"member", f"member.before-{ID}"}
        assert (folder / f"data.before-{ID}" / "member" / "snap" / "db").read_text() == "precious"
        assert (restore_folders.read_record(str(folder / "data")) or {})["id"] == ID
        assert list((folder / "wal" / "member" / "wal").glob("*.wal"))
        shutil.rmtree(folder)
        step += 1 if step < 12 else 3


def test_another_snapshot_halfway(saved: Saved, tmp_path: Path) -> None:
    member = copies(saved, tmp_path)[0]
    backup_restore.prepare(restore(member), request(saved, member), str(tmp_path / "restoring"))
    other = tmp_path / "other"
    shutil.copytree(Path(saved.path).parent, other)
    record = other / f"{Path(saved.path).name}.json"
    record.write_text(record.read_text().replace('"member": "', '"member": "x'))
    with pytest.raises(RestoreError, match="was started with another snapshot than"):
        backup_restore.prepare(
            restore(member),
            request(saved, member, path=str(other / Path(saved.path).name)),
            str(tmp_path / "restoring"),
        )


def rescue_request(member: Member, folder: Path) -> backup_rescue.Request:
    return backup_rescue.Request(member.name, str(member.folder / member.name), "", str(folder), 512 << 20, 60)


def rescue_tools(version: str) -> backup_rescue.Tools:
    return backup_rescue.Tools(*(str(binary(version, name)) for name in ("etcd", "etcdctl", "etcdutl")))


def with_small_quota(tools: backup_rescue.Tools, folder: Path) -> backup_rescue.Tools:
    """Return the tools with an etcd whose default quota is smaller than any database."""
    program = folder / "etcd-with-small-quota"
    program.write_text(f'#!/bin/sh\nexec {tools.etcd_path} --quota-backend-bytes=1000 "$@"\n')
    program.chmod(0o755)
    return replace(tools, etcd_path=str(program))


def alarms(path: str) -> list[bbolt.Item]:
    """Return the alarms in a snapshot."""
    with open(path, "rb", buffering=0) as stream:
        return list(bbolt.items(stream, bbolt.newest_meta(stream), b"alarm"))


def test_a_snapshot_from_the_files_of_killed_members(saved: Saved, tmp_path: Path) -> None:
    """Writes that etcd acknowledged just before all members were killed: they are in the WAL of a majority, but in no database.

    The database is larger than etcd's default quota. Of the very last write a killed member may not know that it was committed: raft notes that
    with the one after it.
    """
    members = copies(saved, tmp_path)
    with tempfile.TemporaryDirectory(prefix="rescue", dir="/var/tmp") as short:
        with running(members):
            for number in range(10):
                etcdctl(members[0], "put", f"acknowledged-{number}", "x" * 100)
            for member in members:
                assert member.process
                member.process.kill()
            for member in members:
                assert member.process
                member.process.wait()
        before = {path: path.read_bytes() for path in (tmp_path / "m0").rglob("*") if path.is_file()}
        tools = with_small_quota(rescue_tools(saved.version), tmp_path)
        found = [backup_rescue.rescue_snapshot(rescue_request(member, Path(short)), tools) for member in members]
        assert [alarms(path) for path, _metadata in found] == [[], [], []]
        names = [Path(path).name.rpartition("-")[0] for path, _metadata in found]
        assert names == ["rescued-m0", "rescued-m1", "rescued-m2"]
        assert {path: path.read_bytes() for path in before} == before
        best_path, best = max(found, key=lambda one: one[1].revision)
        assert best.revision >= saved.revision + 1 + 9
        assert backup_check.verify_snapshot(best_path, str(binary(saved.version, "etcdutl")), 60) == best
        member = members[0]
        backup_restore.prepare(
            restore(member),
            request(saved, member, path=best_path, initial_cluster=alone(member)),
            str(tmp_path / "restoring"),
        )
        backup_restore.activate(restore(member), str(tmp_path / "restoring"))
        with running([replace(member, peers={}, process=None, sampler=None)]):
            for number in range(9):
                assert etcdctl(member, "get", f"acknowledged-{number}", "--print-value-only").strip() == "x" * 100
        assert not list(Path(short).glob(".*"))


def alone(member: Member) -> str:
    return f"{member.name}=http://127.0.0.1:{member.port + 1}"


@pytest.mark.parametrize("version", releases())
def test_a_snapshot_from_the_files_of_a_member_with_authentication(tmp_path: Path, version: str) -> None:
    """The rescue needs no credentials, and the result has the users with authentication on, and they can be read.

    etcd of an older minor release is refused before it starts on the data.
    """
    member = Member(version, tmp_path, PORT + 60)
    with tempfile.TemporaryDirectory(prefix="rescue", dir="/var/tmp") as short:
        with running([member]):
            etcdctl(member, "user", "add", "root:secret")
            etcdctl(member, "user", "grant-role", "root", "root")
            etcdctl(member, "user", "add", "ops", "--no-password")
            etcdctl(member, "put", "key", "x")
            (status,) = json.loads(etcdctl(member, "endpoint", "status", "-w", "json"))
            etcdctl(member, "auth", "enable")
            assert member.process
            member.process.kill()
            member.process.wait()
        for older in releases()[: releases().index(version)]:
            with pytest.raises(
                backup_rescue.SnapshotError,
                match=rf"is etcd {older}, but \S+ is of a cluster of version {version[:3]}\.0",
            ):
                backup_rescue.rescue_snapshot(rescue_request(member, Path(short)), rescue_tools(older))
        path, metadata = backup_rescue.rescue_snapshot(rescue_request(member, Path(short)), rescue_tools(version))
        header = status["Status"]["header"]
        found = (metadata.cluster_id, metadata.member_id, metadata.etcd_version)
        assert found == (format(header["cluster_id"], "x"), format(header["member_id"], "x"), version)
        assert snapshot_users.read_administrators(path) == (["root"], ["ops"])
        whole = [str(binary(version, "etcdutl")), "snapshot", "restore", path, f"--data-dir={tmp_path}/restored"]
        subprocess.run(whole, check=True, capture_output=True)
        with running([replace(member, name="restored", process=None, sampler=None)]) as (copy,):
            assert "user name is empty" in failure(copy, "get", "key")
            assert etcdctl(copy, "--user=root:secret", "get", "key").split() == ["key", "x"]


def failure(member: Member, *words: str) -> str:
    """Return what etcdctl says when it fails."""
    done = run(member, *words)
    assert done.returncode != 0, done.stdout
    return done.stderr


def test_a_damaged_log_is_unusable_data_and_a_missing_one_is_not(saved: Saved, tmp_path: Path) -> None:
    """The playbook goes on with the data of other members only in the first case."""
    member = copies(saved, tmp_path)[0]
    (log, *_more) = sorted((tmp_path / "m0" / "member" / "wal").glob("*.wal"))
    with tempfile.TemporaryDirectory(prefix="rescue", dir="/var/tmp") as short:
        with pytest.raises(scratch_member.ScratchMemberError, match="dest /nowhere is not a directory") as other:
            backup_rescue.rescue_snapshot(rescue_request(member, Path("/nowhere")), rescue_tools(saved.version))
        assert not isinstance(other.value, backup_rescue.UnusableDataError)
        with log.open("r+b") as stream:
            stream.seek(200)
            stream.write(b"damaged" * 100)
        with pytest.raises(backup_rescue.UnusableDataError, match=r"no snapshot was made from .*: etcd does not start"):
            backup_rescue.rescue_snapshot(rescue_request(member, Path(short)), rescue_tools(saved.version))
        for path in log.parent.glob("*.wal"):
            path.unlink()
        with pytest.raises(ValueError, match=r"wal/\*\.wal does not exist on this host") as missing:
            backup_rescue.rescue_snapshot(rescue_request(member, Path(short)), rescue_tools(saved.version))
        assert not isinstance(missing.value, backup_rescue.UnusableDataError), "its volume may only be unmounted"


def test_nothing_to_rescue(saved: Saved, tmp_path: Path) -> None:
    member = replace(saved.members[0], folder=tmp_path)
    with pytest.raises(ValueError, match="correct data_dir or wal_dir"):
        backup_rescue.rescue_snapshot(rescue_request(member, tmp_path), rescue_tools(saved.version))
