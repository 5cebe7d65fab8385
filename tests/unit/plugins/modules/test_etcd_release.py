# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd_release as Ansible runs it, where no cluster answers; tests/integration has real etcd."""

from __future__ import annotations

import json
import os
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from ansible.module_utils.testing import patch_module_args
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, Member, Quorum
from ansible_collections.etcdops.headroom.plugins.module_utils._release.view import MemberRelease
from ansible_collections.etcdops.headroom.plugins.modules import etcd_release

NOBODY = {"endpoints": ["http://127.0.0.1:1"], "timeout": 0, "request_timeout": 0.5}
MEMBER = {"workload": {}, "members": 3, "budget": "1GB", "pinned": {}, "base": {"name": "a"}, "extra": {}}


def run(capsys: pytest.CaptureFixture[str], **arguments: Any) -> dict[str, Any]:
    with patch_module_args({**NOBODY, **arguments}), pytest.raises(SystemExit):
        etcd_release.main()
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def test_a_cluster_that_does_not_answer_is_a_blocker(capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, state="checked", release="3.7.3", problems=["no SHA-256 is known"], configuration=MEMBER)
    assert result["blockers"][0] == "no SHA-256 is known"
    assert "no member of the cluster answers" in result["blockers"][1]
    assert len(result["blockers"]) == 2
    assert result["direction"] == "none"
    assert result["changed"] is False
    documented = set(yaml.safe_load(etcd_release.RETURN))
    assert set(result) - {"changed", "invocation"} <= documented


def test_a_later_step_is_judged_without_the_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    extra = {"experimental-initial-corrupt-check": True}
    result = run(capsys, state="checked", release="3.7.3", previous="3.6.10", configuration={**MEMBER, "extra": extra})
    floor, settings = result["blockers"]
    assert "from 3.6.11 on" in floor
    assert "experimental-initial-corrupt-check" in settings
    assert len(result["changes"]) == 1


def test_a_later_step_is_judged_by_the_databases_of_today(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = []
    monkeypatch.setattr(etcd_release, "plan_change", lambda *arguments: given.append(arguments[1:]) or ([], []))
    later = {"previous": "3.6.16", "databases": {"m0": 1024}}
    assert run(capsys, state="checked", release="3.7.3", configuration=MEMBER, **later)["blockers"] == []
    run(capsys, state="checked", release="3.7.3", configuration=MEMBER)
    assert given == [("3.6.16", "3.7.3", {"m0": 1024}), ("", "3.7.3", None)]


@pytest.mark.parametrize("state", ["settled", "enabled", "flushed", "cancelled"])
def test_the_other_states_fail_without_a_cluster(state: str, capsys: pytest.CaptureFixture[str]) -> None:
    result = run(capsys, state=state, release="3.6.16", etcdctl_path="/does/not/exist")
    assert result["failed"] is True
    assert "no member of the cluster answers" in result["msg"]


@pytest.mark.parametrize("state", ["checked", "enabled", "settled"])
def test_the_release_is_required(state: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "release" in run(capsys, state=state)["msg"]


@pytest.mark.parametrize(
    ("running", "release", "later", "needed"),
    [
        ("3.6.16", "3.7.3", 0, "for a backup and its drill (/), 700003072 bytes"),
        ("3.5.30", "3.6.16", 1, "for 2 backups and their drills (/), 700004096 bytes"),
        ("3.6.16 3.7.3", "3.7.3", 0, ""),  # an earlier run took the backup before its first member changed
        ("3.5.30 3.6.16", "3.6.16", 1, "for a backup and its drill (/), 700003072 bytes"),
        ("3.7.3", "3.7.3", 0, ""),
        ("3.7.2", "3.7.3", 0, ""),  # a patch release takes no backup
        ("3.7.3", "3.6.16", 0, "for a backup and its drill (/), 700003072 bytes"),
    ],
)
def test_space_is_required_for_the_backups_that_are_taken(
    running: str,
    release: str,
    later: int,
    needed: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    releases = [MemberRelease(f"m{number}", "", server=version) for number, version in enumerate(running.split())]
    members = [
        Member(one.name, one.name, "follower", True, "", "http://x", [], ["http://x"], one.server, db_size=1024, lag=0)
        for one in releases
    ]
    cluster = Cluster("75cf", "m0", members, Quorum(1, 1, 1, True), [])
    monkeypatch.setattr(etcd_release.Steps, "observe", lambda _self: (cluster, releases))
    monkeypatch.setattr(etcd_release, "refusal", lambda _steps, _release: [])
    monkeypatch.setattr(os, "statvfs", lambda _path: SimpleNamespace(f_bavail=0, f_frsize=1))
    monkeypatch.setattr(
        "ansible_collections.etcdops.headroom.plugins.module_utils._release.free_space.format_sizes_distinctly",
        lambda *sizes: [f"{size} bytes" for size in sizes],
    )
    result = run(
        capsys, state="checked", release=release, backup_dir="/", later_backups=later, downgrade=True, started={}
    )
    blockers = " ".join(result["blockers"])
    assert needed in blockers if needed else "free" not in blockers, blockers
