# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Snapshots of real etcd of each series: content, kills at any point, and restoring them."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import check as backup_check
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import snapshot, store
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import ProcessResult
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import observe_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import run_etcd_tool

from bench.common.member import Member, binary, releases, running
from tests.integration.client import EVENT_SECONDS, connection, etcdctl, wait_until

PORT = 24650
KEYS = 120

# Saves one snapshot, as the argument says, and is killed at the STEP-th time that Python's own audit of what it does
# names the directory or a program: each file made, renamed or removed there, and each program started. Prints the number
# of those steps if it is not.
KILLED = """
import json, os, signal, sys
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import snapshot
from tests.integration.client import connection
asked = json.loads(sys.argv[1])
steps = 0
def watch(event, arguments):
    global steps
    if event == "subprocess.Popen" or any(str(value).startswith(asked["request"]["directory"]) for value in arguments):
        steps += 1
        if steps == asked["step"]:
            os.kill(os.getpid(), signal.SIGKILL)
request = snapshot.Request(**asked["request"])
tools = snapshot.Tools(connection(asked["version"]), asked["etcdutl"])
sys.addaudithook(watch)
snapshot.take_snapshot(request, tools, asked["endpoints"])
print(steps)
"""


@pytest.fixture(scope="module", params=releases())
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Member]]:
    """Three members of one release with some keys, some of them changed and deleted."""
    version: str = request.param
    folder = tmp_path_factory.mktemp(f"etcd-{version}")
    ports = {f"m{number}": PORT + 10 * number for number in range(3)}
    members = [Member(version, folder, port, (), {}, (), name, ports) for name, port in ports.items()]
    with running(members):
        for number in range(KEYS):
            etcdctl(members[0], "put", f"key-{number}", "v" * 20_000)
        etcdctl(members[0], "del", "key-0")
        wait_for_storage_version(members)
        yield members


def wait_for_storage_version(members: list[Member]) -> None:
    """Each member writes it into its own database, some time after the cluster has agreed on its version; 3.5 never does.

    Until then a member of 3.6 says 3.5.0, which is what it takes a database without one for.
    """
    wanted = kept_version(members[0].version)
    wait_until(
        lambda: not wanted or all(storage_version(member) == wanted for member in members),
        f"a member's storage version did not become {wanted}",
    )


def kept_version(version: str) -> str:
    """The storage version that a release writes; empty if it writes none."""
    return "" if version.startswith("3.5.") else f"{version.rpartition('.')[0]}.0"


def storage_version(member: Member) -> str:
    """The storage version that the member reports; empty if it reports none."""
    (status,) = json.loads(etcdctl(member, "endpoint", "status", "-w", "json"))
    return str(status["Status"].get("storageVersion", ""))


def tools(version: str) -> snapshot.Tools:
    return snapshot.Tools(connection(version), str(binary(version, "etcdutl")))


def asked(folder: Path, keep: int = 7) -> snapshot.Request:
    folder.mkdir(exist_ok=True)
    return snapshot.Request(str(folder), "etcd", "", keep=keep, keep_days=None, reserve=0, timeout=60)


def save(members: list[Member], folder: Path, keep: int = 7) -> snapshot.SavedSnapshot:
    return snapshot.take_snapshot(asked(folder, keep), tools(members[0].version), [members[0].endpoint])


def sound(folder: Path, version: str) -> list[str]:
    """Verify every visible snapshot and return their names."""
    found = sorted(folder.glob("*.db"))
    for path in found:
        backup_check.verify_snapshot(str(path), tools(version).etcdutl_path, 60)
    return [path.name for path in found]


def test_a_snapshot_and_its_records(cluster: list[Member], tmp_path: Path) -> None:
    version = cluster[0].version
    saved = save(cluster, tmp_path)
    metadata = saved.metadata
    assert saved.plan.member.role == "follower"
    assert metadata.etcd_version == version
    assert metadata.storage_version == kept_version(version)
    assert metadata.revision == KEYS + 2
    assert metadata.total_keys == KEYS - 1 if not version.startswith("3.5.") else metadata.total_keys > KEYS
    assert sorted(tmp_path.glob("*.db")) == [Path(saved.plan.path)]
    assert backup_check.verify_snapshot(saved.plan.path, tools(version).etcdutl_path, 60) == metadata
    backup_check.check_restorable(metadata, cluster_id=saved.plan.cluster_id, etcd_version=version)
    subprocess.run(["sha256sum", "--check", f"{saved.plan.path}.sha256"], cwd=tmp_path, check=True)


def test_a_snapshot_restores(cluster: list[Member], tmp_path: Path) -> None:
    version = cluster[0].version
    saved = save(cluster, tmp_path / "backups")
    port = PORT + 50
    restored = Member(version, tmp_path, port, (), {}, (), "default", {})
    command = [str(binary(version, "etcdutl")), "snapshot", "restore", saved.plan.path]
    command += [f"--data-dir={tmp_path / 'default'}", f"--initial-cluster=default=http://127.0.0.1:{port + 1}"]
    command += [f"--initial-advertise-peer-urls=http://127.0.0.1:{port + 1}"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    with running([restored]):
        answer = json.loads(etcdctl(restored, "get", "key-", "--prefix", "--keys-only", "-w", "json"))
        assert (answer["count"], answer["header"]["revision"]) == (KEYS - 1, saved.metadata.revision)
        # A restored cluster has an id of its own: its backups do not push out those from before.
        after = save([restored], tmp_path / "backups", keep=1)
    assert after.removed == []
    assert [item["path"] for item in after.plan.left_alone] == [saved.plan.path]
    with pytest.raises(store.SnapshotError, match=f"belongs to the cluster {saved.metadata.cluster_id} "):
        backup_check.check_restorable(saved.metadata, cluster_id=after.plan.cluster_id, etcd_version=version)


def test_killed_at_every_step(cluster: list[Member], tmp_path: Path) -> None:
    """With one snapshot kept, so that the steps of removing the one before are among them."""
    version = cluster[0].version
    save(cluster, tmp_path)

    def attempt(step: int) -> subprocess.CompletedProcess[str]:
        argument = {
            "request": vars(asked(tmp_path, keep=1)),
            "step": step,
            "version": version,
            "etcdutl": tools(version).etcdutl_path,
            "endpoints": [cluster[0].endpoint],
        }
        command = [sys.executable, "-c", KILLED, json.dumps(argument)]
        return subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)

    whole = attempt(0)
    assert whole.returncode == 0, whole.stderr
    steps = int(whole.stdout)
    assert steps > 20
    for step in range(1, steps + 1):
        killed = attempt(step)
        # What a killed run left behind can be more than a whole run finds: a step more or less to clean up.
        assert killed.returncode == -signal.SIGKILL, f"step {step} of {steps}: {killed.stderr}"
        assert sound(tmp_path, version), f"no snapshot is left after step {step} of {steps}"
    saved = save(cluster, tmp_path, keep=1)
    assert sound(tmp_path, version) == [Path(saved.plan.path).name]
    beside = {path.name for path in tmp_path.iterdir()} - {".headroom-snapshot.lock"}
    assert beside == {Path(saved.plan.path).name + suffix for suffix in ("", *store.RECORDS)}


def test_killed_while_the_snapshot_arrives(cluster: list[Member], tmp_path: Path) -> None:
    """etcdctl and its parent at once, at random moments."""
    version, chance = cluster[0].version, random.Random(1)
    first = save(cluster, tmp_path)
    argument = {
        "request": vars(asked(tmp_path)),
        "step": 0,
        "version": version,
        "etcdutl": tools(version).etcdutl_path,
        "endpoints": [cluster[0].endpoint],
    }
    for _attempt in range(8):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, json.dumps(argument)], stdout=subprocess.DEVNULL, start_new_session=True
        )
        deadline = time.monotonic() + EVENT_SECONDS
        while process.poll() is None and not list(tmp_path.glob(".headroom-snapshot-*/snapshot*")):
            assert time.monotonic() < deadline
            time.sleep(0.001)
        time.sleep(chance.random() * 0.1)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert Path(first.plan.path).name in sound(tmp_path, version)
    save(cluster, tmp_path)
    assert not list(tmp_path.glob(".headroom-snapshot-*"))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a filesystem of its own, which only root can mount")
def test_a_disk_that_fills_up(cluster: list[Member], tmp_path: Path) -> None:
    """The disk has enough room at the check, and fills up before the snapshot is written."""
    version = cluster[0].version
    folder = tmp_path / "volume"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", str(folder)], check=True)
    try:
        first = save(cluster, folder)

        def fill(argv: list[str], timeout: float, name: str) -> ProcessResult:
            room = os.statvfs(folder)
            (folder / "filler").write_bytes(bytes((room.f_bavail - 64) * room.f_frsize))
            return run_etcd_tool(argv, timeout, name)

        with pytest.raises(
            store.SnapshotError,
            match=r"no snapshot of m\d: .*no space left on device; existing snapshots are unchanged",
        ):
            snapshot.take_snapshot(asked(folder, keep=1), tools(version), [cluster[0].endpoint], run=fill)
        assert sound(folder, version) == [Path(first.plan.path).name]
        with pytest.raises(store.SnapshotError, match="free, but the snapshot needs"):
            save(cluster, folder, keep=1)
        (folder / "filler").unlink()
        assert save(cluster, folder, keep=1).removed == [first.plan.path]
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_an_unreachable_member(cluster: list[Member], tmp_path: Path) -> None:
    """A member that is unreachable from the start, and one that ends between the choice and the download."""
    version = cluster[0].version
    first = save(cluster, tmp_path)
    with pytest.raises(store.SnapshotError, match="no member of the cluster answers"):
        snapshot.take_snapshot(asked(tmp_path, keep=1), tools(version), ["http://127.0.0.1:1"])

    def elsewhere(argv: list[str], timeout: float, name: str) -> ProcessResult:
        moved = ["--endpoints=http://127.0.0.1:1" if word.startswith("--endpoints=") else word for word in argv]
        return run_etcd_tool([word.replace("=2s", "=1s") for word in moved], timeout, name)

    hasty = snapshot.Request(str(tmp_path), "etcd", "", keep=1, keep_days=None, reserve=0, timeout=2)
    with pytest.raises(store.SnapshotError, match=r"no snapshot of m\d: .*; existing snapshots are unchanged"):
        snapshot.take_snapshot(hasty, tools(version), [cluster[0].endpoint], run=elsewhere)
    assert sound(tmp_path, version) == [Path(first.plan.path).name]


def test_damage_that_only_etcdutl_detects(cluster: list[Member], tmp_path: Path) -> None:
    """Inconsistent pages with a correct digest."""
    version = cluster[0].version

    def corrupt(argv: list[str], timeout: float, name: str) -> ProcessResult:
        answer = run_etcd_tool(argv, timeout, name)
        if name == "etcdctl":
            path = Path(argv[argv.index("save") + 1])
            body = path.read_bytes()[:-32]
            page = 4096
            torn = body[: 4 * page] + b"\xff" * (len(body) - 4 * page)
            path.write_bytes(torn + hashlib.sha256(torn).digest())
        return answer

    with pytest.raises(store.SnapshotError, match="is damaged: "):
        snapshot.take_snapshot(asked(tmp_path), tools(version), [cluster[0].endpoint], run=corrupt)
    assert sound(tmp_path, version) == []


def test_the_leader_only_if_asked(cluster: list[Member], tmp_path: Path) -> None:
    planned = snapshot.plan_snapshot(asked(tmp_path), tools(cluster[0].version), [cluster[0].endpoint], time.time())
    assert planned.member.role == "follower"
    seen, _answered_by = observe_cluster(tools(cluster[0].version).connection, [cluster[0].endpoint])
    request = snapshot.Request(str(tmp_path), "etcd", seen.leader, 1, None, 0, 60)
    saved = snapshot.take_snapshot(request, tools(cluster[0].version), [cluster[0].endpoint])
    assert (saved.metadata.member, saved.plan.member.role) == (seen.leader, "leader")
