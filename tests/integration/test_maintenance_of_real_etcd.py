# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules of maintenance and the installed program with real etcd, as Ansible and a timer run them."""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import lock
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection
from ansible_collections.etcdops.headroom.plugins.modules import (
    etcd_defrag,
    etcd_maintenance,
    etcd_member,
    etcd_space_info,
)

from bench.common.member import Member, binary, leader_of, releases, running
from tests.integration.client import REQUEST_SECONDS, connection, etcdctl

PORT = 25750
# Longer than a busy machine takes between two steps of a test.
LOCK_SECONDS = 300
OTHER = lock.Holder("other-host", "m1", "backup")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Member]]:
    """Three members of the newest release."""
    version = releases()[-1]
    ports = {f"m{number}": PORT + 10 * number for number in range(3)}
    folder = tmp_path_factory.mktemp("etcd")
    members = [Member(version, folder, port, (), {}, (), name, ports) for name, port in ports.items()]
    with running(members):
        yield members


def reach(members: list[Member]) -> dict[str, Any]:
    """The arguments with which a module reaches the cluster."""
    path = str(binary(members[0].version, "etcdctl"))
    endpoints = [member.endpoint for member in members]
    return {"etcdctl_path": path, "endpoints": endpoints, "request_timeout": REQUEST_SECONDS}


def link(members: list[Member]) -> Connection:
    return connection(members[0].version)


def run(module: Any, capsys: pytest.CaptureFixture[str], arguments: dict[str, Any]) -> dict[str, Any]:
    """The module's result."""
    with patch_module_args(arguments), pytest.raises(SystemExit):
        module.main()
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def test_draining_waits_for_the_lock_and_keeps_it(cluster: list[Member], capsys: pytest.CaptureFixture[str]) -> None:
    access, asked = (
        reach(cluster),
        {**reach(cluster), "name": "m0", "state": "drained", "lock_seconds": LOCK_SECONDS, "timeout": 1},
    )
    lease = lock.acquire_lock(link(cluster), access["endpoints"], OTHER, LOCK_SECONDS)
    result = run(etcd_member, capsys, asked)
    assert result["failed"]
    assert "other-host holds the cluster's lock since" in result["msg"]
    # Check mode takes no lock, and says what it would do about the member itself.
    assert "failed" not in run(etcd_member, capsys, {**asked, "_ansible_check_mode": True})
    lock.release_lock(link(cluster), access["endpoints"], lease)
    for _attempt in range(2):  # the second one takes over what the first left
        assert "failed" not in run(etcd_member, capsys, {**asked, "timeout": 60})
        held = lock.read_lock(link(cluster), access["endpoints"])
        assert held is not None and (held.holder.member, held.holder.operation) == ("m0", "change by Ansible")
    result = run(etcd_defrag, capsys, {**access, "name": "m1", "free_share": 0, "free_size": "0", "wait": 0})
    assert (result["changed"], result["deferred"]) == (False, True)
    assert "for a change by Ansible of m0" in result["msg"]
    # There is no such unit, so the member does not serve: the lock is let go all the same.
    gone = {**asked, "state": "serving", "unit": "headroom-test.service"}
    assert run(etcd_member, capsys, gone)["failed"]
    assert lock.read_lock(link(cluster), access["endpoints"]) is None


def let_go(members: list[Member]) -> None:
    """Release the lock, whoever holds it."""
    held = lock.read_lock(link(members), reach(members)["endpoints"])
    assert held is not None
    lock.release_lock(link(members), reach(members)["endpoints"], held.lease)


def test_a_lock_is_taken_over_from_a_play_that_has_ended(
    cluster: list[Member], capsys: pytest.CaptureFixture[str]
) -> None:
    """The state after ansible-playbook was killed between draining a member and restarting it."""
    endpoints, here = reach(cluster)["endpoints"], "boot:pidns"
    killed = lock.Holder("host-of-m2", "m2", "change by Ansible", f"{here}:100:1")
    asked = {**reach(cluster), "name": "m0", "state": "drained", "lock_seconds": LOCK_SECONDS, "timeout": 1}
    asked["play"] = f"{here}:200:2"

    def holder() -> str:
        held = lock.read_lock(link(cluster), endpoints)
        return held.holder.play if held else ""

    lease = lock.acquire_lock(link(cluster), endpoints, killed, LOCK_SECONDS)
    result = run(etcd_member, capsys, asked)
    assert result["failed"] and result["unjudged_play"] == killed.play, "only the controller knows"
    assert holder() == killed.play
    assert "failed" not in run(etcd_member, capsys, {**asked, "ended_play": killed.play})
    assert holder() == asked["play"]
    let_go(cluster)
    assert lock.remaining_seconds(link(cluster), endpoints, lease) == 0


@pytest.mark.parametrize("play", ["boot:pidns:100:1", "other:pidns:100:1", ""], ids=["running", "elsewhere", "older"])
def test_the_lock_of_a_play_that_may_run_is_waited_for(
    cluster: list[Member], capsys: pytest.CaptureFixture[str], play: str
) -> None:
    """Also beyond the timeout, until its lease expires."""
    endpoints = reach(cluster)["endpoints"]
    running = lock.Holder("host-of-m2", "m2", "change by Ansible", play)
    asked = {**reach(cluster), "name": "m0", "state": "drained", "lock_seconds": LOCK_SECONDS, "timeout": 1}
    asked |= {"play": "boot:pidns:200:2", "running_play": play}
    lease, began = lock.acquire_lock(link(cluster), endpoints, running, 5), time.monotonic()
    assert "failed" not in run(etcd_member, capsys, asked)
    assert time.monotonic() - began > 4 and lock.remaining_seconds(link(cluster), endpoints, lease) == 0
    let_go(cluster)


def test_space_and_defragmentation(cluster: list[Member], capsys: pytest.CaptureFixture[str]) -> None:
    access = reach(cluster)
    for number in range(40):
        etcdctl(cluster[0], "put", f"key-{number % 4}", "v" * 100_000)
    result = run(etcd_space_info, capsys, access)
    assert (result["no_space"], result["fits"], len(result["members"])) == ([], True, 3)
    space = result["members"][0]
    assert space["live"] + space["history"] + space["free"] == space["size"]
    assert space["history"] > 5 * space["live"]
    assert "mostly history: compact it" in result["explanations"][0]
    asked = {**access, "members": "all", "free_share": 0, "free_size": "0", "pause": 0}
    predicted = run(etcd_defrag, capsys, {**asked, "_ansible_check_mode": True})
    assert predicted["changed"] and not predicted["deferred"]
    assert all(member["would"] and member["result"] == "skipped" for member in predicted["members"])
    done = run(etcd_defrag, capsys, asked)
    assert done["changed"] and [member["result"] for member in done["members"]] == ["done"] * 3
    assert run(etcd_defrag, capsys, {**asked, "free_share": 45, "free_size": "100MB"})["changed"] is False


@pytest.fixture
def program(cluster: list[Member], tmp_path: Path) -> dict[str, Any]:
    """The arguments of etcd_maintenance for a host that is a folder."""
    access = reach(cluster)
    backups = tmp_path / "backups"
    backups.mkdir()
    config = {
        "cluster": "example",
        "member": "m0",
        "connection": {**access, "ca_cert": None, "client_cert": None, "client_key": None},
        "etcdutl_path": str(binary(cluster[0].version, "etcdutl")),
        "unit": "headroom-test.service",
        "data_dir": str(cluster[0].folder / "m0"),
        "state_dir": str(tmp_path / "state"),
        "metrics_dir": str(backups),
        "defrag": {
            "enabled": False,
            "calendar": "daily",
            "free_share": 45,
            "free_size": "100MB",
            "pause": 0,
            "wait": 0,
            "timeout": 60,
            "raise_memory": False,
        },
        "snapshot": {
            "enabled": False,
            "calendar": "daily",
            "directory": str(backups),
            "prefix": "etcd",
            "keep": 2,
            "keep_days": None,
            "encrypt_to": [],
            "copy_dir": "",
            "bucket": None,
            "reserve": 0,
            "timeout": 60,
        },
        "drill": {
            "enabled": False,
            "calendar": "weekly",
            "scratch_dir": str(tmp_path),
            "memory_max": "1GB",
            "timeout": 60,
        },
        "integrity": {"enabled": False, "calendar": "weekly", "timeout": 60},
    }
    return {
        "config": config,
        "units": {"headroom-test.service": "[Service]\n", "headroom-test.timer": "[Timer]\n"},
        "lib_dir": str(tmp_path / "lib"),
        "program": str(tmp_path / "sbin" / "headroom"),
        "config_file": str(tmp_path / "etc" / "maintenance.json"),
        "unit_dir": str(tmp_path / "units"),
    }


def test_installing_the_program(program: dict[str, Any], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    predicted = run(etcd_maintenance, capsys, {**program, "_ansible_check_mode": True})
    assert predicted["changed"] and sorted(tmp_path.rglob("*")) == before
    installed = run(etcd_maintenance, capsys, program)
    assert installed["changed"] and installed["reload"]
    assert installed["files"] == predicted["files"]
    assert installed["timers"]["headroom-test.timer"]["changed"]
    assert os.stat(program["config_file"]).st_mode & 0o777 == 0o640
    assert os.stat(program["program"]).st_mode & 0o777 == 0o755
    again = run(etcd_maintenance, capsys, program)
    assert (again["changed"], again["files"], again["reload"]) == (False, [], False)
    modules = Path(program["lib_dir"]) / "ansible_collections/etcdops/headroom/plugins/module_utils"
    obsolete = [modules / "_etcd_lock.py", modules / "_snapshot.py"]
    for path in obsolete:
        path.write_text("")
    (modules / "_etcd" / "lock.py").write_text("broken")
    repaired = run(etcd_maintenance, capsys, program)
    assert repaired["files"] == [str(modules / "_etcd" / "lock.py")]
    assert repaired["removed"] == [str(path) for path in obsolete]
    bad = copy.deepcopy(program)
    bad["config"]["snapshot"]["keep"] = 0
    before = sorted(tmp_path.rglob("*"))
    failed = run(etcd_maintenance, capsys, bad)
    assert "etcd_maintenance_backup_keep is 0" in failed["msg"] and "The maintenance was not changed" in failed["msg"]
    assert sorted(tmp_path.rglob("*")) == before


def headroom(program: dict[str, Any], *words: str) -> tuple[int, str]:
    """Exit status and output of the program, run as a timer does: without this project on its path."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [program["program"], "--config", program["config_file"], *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, cwd="/", check=False)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def test_running_the_installed_program(
    program: dict[str, Any], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run(etcd_maintenance, capsys, program)
    metrics = tmp_path / "backups" / "headroom.prom"
    enable(program, "defrag", "integrity")
    for operation in ("integrity", "defrag"):
        status, text = headroom(program, operation)
    record = json.loads(text)
    assert (status, record["result"], record["settled"]) == (0, "skipped", True)
    assert json.loads((tmp_path / "state" / "defrag.json").read_text())["last_settled_at"]
    assert 'operation="defrag"' in metrics.read_text() and 'operation="integrity"' in metrics.read_text()
    status, text = headroom(program, "status")
    assert status == 0
    assert text.splitlines()[:2] == ["etcd cluster example, member m0", "nobody holds the cluster's lock"]
    assert "m0 does not need defragmentation" in text
    # A run that was killed had written the configuration, and not the metrics.
    enable(program, "defrag")
    program["config"] = json.loads(Path(program["config_file"]).read_text())
    if shutil.which("systemd-analyze"):  # reads the calendar
        assert run(etcd_maintenance, capsys, program)["files"][-1:] == [str(metrics)]
        assert 'operation="defrag"' in metrics.read_text() and 'operation="integrity"' not in metrics.read_text()
        assert run(etcd_maintenance, capsys, program)["changed"] is False
    program["config"]["defrag"]["enabled"] = False
    assert run(etcd_maintenance, capsys, program)["removed"] == [str(metrics)] and not metrics.exists()
    headroom(program, "defrag")
    assert not metrics.exists()
    assert run(etcd_maintenance, capsys, program)["changed"] is False


def enable(program: dict[str, Any], *operations: str) -> None:
    """Switch on these operations in the installed configuration, and all others off."""
    path = Path(program["config_file"])
    config = json.loads(path.read_text())
    for name in ("defrag", "snapshot", "drill", "integrity"):
        config[name]["enabled"] = name in operations
    path.write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd reads the calendar")
def test_one_backup_per_interval(
    cluster: list[Member], program: dict[str, Any], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    leader = leader_of(cluster)  # its host would leave the backup to the others for a minute
    program["config"]["member"] = next(member.name for member in cluster if member is not leader)
    run(etcd_maintenance, capsys, program)
    status, text = headroom(program, "snapshot")
    first = json.loads(text)
    assert (status, first["result"]) == (0, "done")
    status, text = headroom(program, "snapshot")
    second = json.loads(text)
    assert (status, second["result"], second["settled"]) == (0, "skipped", True)
    assert second["newest_at"] == first["newest_at"]
    assert len(list((tmp_path / "backups").glob("*.db"))) == 1
