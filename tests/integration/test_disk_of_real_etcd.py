# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd_disk_live_info and etcd_disk_check beside a real member of each series, with client certificates."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.common.member import PROJECT, Member, metrics, releases, running
from bench.memory import load

VERSIONS = {version.rpartition(".")[0]: version for version in releases()}
PORT = 24790


@pytest.fixture(name="member", params=sorted(VERSIONS))
def real_member(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Member]:
    """A member that asks its clients for certificates."""
    found = Member(VERSIONS[request.param], tmp_path, PORT, tls=load.certificates(tmp_path / "tls"))
    with running([found]):
        yield found


def module(name: str, **arguments: Any) -> dict[str, Any]:
    """The result of a module, run as Ansible runs it."""
    done = subprocess.run(
        [sys.executable, str(PROJECT / f"plugins/modules/{name}.py"), json.dumps({"ANSIBLE_MODULE_ARGS": arguments})],
        capture_output=True,
        timeout=60,
        check=False,
        text=True,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_fsyncs_under_load(member: Member) -> None:
    files = {name: f"{member.tls}/{path}" for name, path in (("ca_cert", "ca.crt"), ("client_cert", "client.crt"))}
    ask = {"endpoint": member.endpoint, **files, "client_key": f"{member.tls}/client.key"}
    puts = ["--clients", "1", "--conns", "1", "put", "--total", "3000", "--rate", "500", "--val-size", "100"]
    writer = threading.Thread(target=load.benchmark, args=([member], puts))
    before = metrics(member.metrics_url)["etcd_disk_wal_fsync_duration_seconds_count"]
    writer.start()
    try:
        live = module("etcd_disk_live_info", interval=3, fsync_p99_max_ms=10000, commit_p99_max_ms=10000, **ask)
    finally:
        after = metrics(member.metrics_url)["etcd_disk_wal_fsync_duration_seconds_count"]
        writer.join()
    assert live["verdict"] in ("ok", "warn"), live
    # How many there are depends on the machine.
    assert 5 < live["wal_fsync"]["samples"] <= after - before and live["backend_commit"]["samples"] > 5
    assert 0 < live["wal_fsync"]["p50_us"] <= live["wal_fsync"]["p99_us"] and live["leader_changes"] == 0
    whole = module("etcd_disk_live_info", interval=0, **ask)
    assert whole["wal_fsync"]["samples"] > live["wal_fsync"]["samples"] and whole["leader_changes"] >= 1
    refused = module("etcd_disk_live_info", interval=0, **{**ask, "client_cert": "", "client_key": ""})
    assert refused["failed"] and refused["msg"].startswith(f"{member.endpoint}/metrics: ")


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_its_directory_is_not_loaded_unless_told(member: Member, tmp_path: Path) -> None:
    ask = {"state_dir": str(tmp_path / "state"), "timeout": 1, "fsync_p99_max_ms": 0.001, "fail_on_slow": False}
    for path in (member.folder, member.folder / member.name, member.folder / member.name / "member" / "wal"):
        refused = module("etcd_disk_check", path=str(path), **ask)
        assert "is the directory of a running member" in refused["msg"]
    told = module("etcd_disk_check", path=str(member.folder), allow_running_member=True, **ask)
    assert told["changed"] and told["samples"] > 0
    assert not list(member.folder.glob(".headroom-fio-*"))
