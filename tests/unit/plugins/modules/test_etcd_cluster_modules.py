# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd_cluster_info and etcd_member as Ansible runs them, on a host without etcd and with a fake etcdctl."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import (
    member_start,
    member_view,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._host import systemd
from ansible_collections.etcdops.headroom.plugins.modules import etcd_cluster_info, etcd_member, etcd_membership

from tests.unit.plugins.modules.fake_cluster import run


def test_info_on_a_host_without_etcd(capsys: pytest.CaptureFixture[str]) -> None:
    result = run(etcd_cluster_info, capsys, endpoints=["https://127.0.0.1:1"], _ansible_check_mode=True)
    assert (result["changed"], result["member"]) == (False, "")
    assert result["cluster"]["error"] == "https://127.0.0.1:1: connection refused"
    assert result["cluster"]["quorum"] == {"voters": 0, "needed": 0, "healthy": 0, "ok": False}
    # The machine of the test may be a container, whose systemctl has no answer.
    assert result["process"]["load_state"] in ("not-found", "") and result["process"]["running"] is False


def test_info_without_etcdctl(capsys: pytest.CaptureFixture[str], cluster: dict[str, Any]) -> None:
    result = run(etcd_cluster_info, capsys, **{**cluster, "etcdctl_path": "/nowhere/etcdctl"})
    assert result["cluster"]["error"].startswith("/nowhere/etcdctl does not exist: install etcdctl")


def test_info_describes_the_cluster(capsys: pytest.CaptureFixture[str], cluster: dict[str, Any]) -> None:
    result = run(etcd_cluster_info, capsys, **cluster)
    assert result["member"] == "m1"
    assert [(item["name"], item["role"]) for item in result["cluster"]["members"]] == [
        ("m1", "leader"),
        ("m2", "follower"),
        ("m3", "follower"),
    ]


def test_info_asks_again_while_a_leader_is_elected(
    capsys: pytest.CaptureFixture[str], cluster: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [{"quorum": {"ok": False}}, {"quorum": {"ok": False}}, {"quorum": {"ok": True}}]
    monkeypatch.setattr(member_view, "describe_member", lambda _params: {"cluster": answers.pop(0)})
    monkeypatch.setattr(member_view, "ELECTION_PAUSE", 0)
    assert run(etcd_cluster_info, capsys, **cluster, quorum_timeout=30)["cluster"]["quorum"]["ok"]
    answers = [{"quorum": {"ok": False}}]
    assert not run(etcd_cluster_info, capsys, **cluster)["cluster"]["quorum"]["ok"], "asked once by default"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"request_timeout": 0}, "request_timeout is 0, but must be above 0 s"),
        ({"endpoints": ["10.0.0.1:2379"]}, "endpoints: ['10.0.0.1:2379']; write them like https://127.0.0.1:2379"),
        ({"endpoints": []}, "endpoints: the list is empty"),
    ],
)
@pytest.mark.parametrize("module", [etcd_cluster_info, etcd_member])
def test_invalid_arguments_are_refused(
    capsys: pytest.CaptureFixture[str], module: Any, arguments: dict[str, Any], text: str
) -> None:
    needed = {"name": "m1", "state": "drained"} if module is etcd_member else {}
    assert text in run(module, capsys, **needed, **arguments)["msg"]


def test_draining_a_follower(capsys: pytest.CaptureFixture[str], cluster: dict[str, Any]) -> None:
    result = run(etcd_member, capsys, name="m2", state="drained", **cluster)
    assert (result["changed"], result["moved_to"], result["interrupts"]) == (False, "", False)


def test_draining_the_leader(capsys: pytest.CaptureFixture[str], cluster: dict[str, Any], tmp_path: Path) -> None:
    arguments = {"name": "m1", "state": "drained", "prefer": ["m3"], **cluster}
    would = run(etcd_member, capsys, _ansible_check_mode=True, **arguments)
    assert (would["changed"], would["moved_to"], (tmp_path / "leader").read_text()) == (True, "m3", "1")
    moved = run(etcd_member, capsys, **arguments)
    assert (moved["changed"], moved["moved_to"], moved["cluster"]["leader"]) == (True, "m3", "m3")
    again = run(etcd_member, capsys, **arguments)
    assert (again["changed"], again["moved_to"]) == (False, "")


def test_draining_is_refused_next_to_an_unhealthy_member(
    capsys: pytest.CaptureFixture[str], cluster: dict[str, Any], tmp_path: Path
) -> None:
    listed = run(etcd_cluster_info, capsys, **cluster)["cluster"]["members"]
    (tmp_path / "ill").write_text(listed[2]["endpoint"])
    result = run(etcd_member, capsys, name="m1", state="drained", timeout=1, **cluster)
    assert result["failed"]
    assert result["msg"].startswith("stopping m1 would break quorum: not healthy: m3 (sick); 1 of the 2 other")
    assert result["msg"].endswith("(waited 1 s)")
    assert (tmp_path / "leader").read_text() == "1"


def test_check_mode_counts_members_as_healthy_that_the_play_would_have_started(
    capsys: pytest.CaptureFixture[str], cluster: dict[str, Any], tmp_path: Path
) -> None:
    """A play starts members that are down before it stops another one. In check mode they stay down, and no time helps."""
    listed = run(etcd_cluster_info, capsys, **cluster)["cluster"]["members"]
    (tmp_path / "ill").write_text(listed[2]["endpoint"])
    arguments = {"name": "m1", "state": "drained", "timeout": 600, **cluster}
    would = run(etcd_member, capsys, **arguments, prefer=["m3"], assume_healthy=["m3"], _ansible_check_mode=True)
    assert (would.get("failed", False), would.get("moved_to")) == (False, "m3"), would
    began = time.monotonic()
    refused = run(etcd_member, capsys, **arguments, assume_healthy=["m2"], _ansible_check_mode=True)
    assert refused["msg"].startswith("stopping m1 would break quorum: not healthy: m3 (sick)"), refused
    assert refused["msg"].endswith("repair or replace the unhealthy members first") and time.monotonic() - began < 300
    real = run(etcd_member, capsys, **{**arguments, "timeout": 1}, assume_healthy=["m3"])
    assert real["failed"] and real["msg"].endswith("(waited 1 s)")


def test_check_mode_assumes_that_a_cluster_answers_after_its_repair(
    capsys: pytest.CaptureFixture[str], cluster: dict[str, Any]
) -> None:
    """Its certificates have expired, for example: the play renews them on all hosts before it stops a member."""
    dead = {**cluster, "endpoints": ["http://127.0.0.1:1"], "name": "m1", "state": "drained", "timeout": 1}
    would = run(etcd_member, capsys, **dead, assume_healthy=["m1", "m2"], _ansible_check_mode=True)
    assert (would.get("failed", False), would.get("changed")) == (False, False), would
    for more in ({"assume_healthy": ["m2"], "_ansible_check_mode": True}, {"assume_healthy": ["m1", "m2"]}):
        assert run(etcd_member, capsys, **dead, **more)["msg"].startswith("no member of the cluster answers"), more


def test_check_mode_moves_a_member_next_to_one_that_the_play_would_have_started(
    capsys: pytest.CaptureFixture[str], cluster: dict[str, Any], tmp_path: Path
) -> None:
    listed = run(etcd_cluster_info, capsys, **cluster)["cluster"]["members"]
    (tmp_path / "ill").write_text(listed[2]["endpoint"])
    arguments = {"name": "m2", "state": "moved", "peer_url": "http://192.0.2.2:2380", "timeout": 1, **cluster}
    would = run(etcd_membership, capsys, **arguments, assume_healthy=["m3"], _ansible_check_mode=True)
    assert (would.get("failed", False), would.get("changed")) == (False, True), would
    assert run(etcd_membership, capsys, **arguments, _ansible_check_mode=True)["msg"].startswith("not healthy: m3")
    assert run(etcd_membership, capsys, **arguments, assume_healthy=["m3"])["msg"].startswith("not healthy: m3")


def test_draining_an_unknown_member(capsys: pytest.CaptureFixture[str], cluster: dict[str, Any]) -> None:
    result = run(etcd_member, capsys, name="m9", state="drained", timeout=60, **cluster)
    assert result["msg"] == "the cluster has no member named 'm9'; its members are m1, m2, m3"


def test_serving_without_a_unit(
    capsys: pytest.CaptureFixture[str], cluster: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(systemd, "show", lambda unit, _timeout: systemd.parse_show(unit, "LoadState=not-found\n"))
    text = "unit headroom-unit-test.service does not exist on this host; install etcd first"
    assert run(etcd_member, capsys, name="m1", state="serving", **cluster)["msg"] == text
    looked = run(etcd_member, capsys, name="m1", state="serving", _ansible_check_mode=True, **cluster)
    assert (looked["changed"], looked["problem"]) == (False, text)


def test_a_slow_systemctl_does_not_end_the_wait_for_a_member(
    capsys: pytest.CaptureFixture[str], cluster: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host that swaps after the restart does not answer within the time limit of a call."""
    running = f"LoadState=loaded\nActiveState=active\nMainPID={os.getpid()}\n"
    seen = ["", "", running]
    monkeypatch.setattr(systemd, "show", lambda unit, _timeout: systemd.parse_show(unit, seen.pop(0)))
    monkeypatch.setattr(member_start, "PAUSE", 0)
    result = run(etcd_member, capsys, name="m1", state="serving", **cluster)
    assert (result.get("failed", False), seen) == (False, []), result
    seen = [""]
    late = run(etcd_member, capsys, name="m1", state="serving", timeout=0, **cluster)
    assert late["msg"].startswith("systemctl does not report the state of headroom-unit-test.service"), late
    assert late["msg"].endswith(" (waited 0 s)")


def test_a_member_that_ends_just_after_its_start_is_looked_at_again(
    capsys: pytest.CaptureFixture[str], cluster: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its disk is full: it starts, writes, and ends. That its process has no digest of settings says nothing about its settings."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    shown = systemd.parse_show("etcd.service", "LoadState=loaded\nActiveState=active\nSubState=running\n")
    seen = [
        replace(shown, pid=ended.pid),
        replace(
            shown, active_state="activating", sub_state="auto-restart", restarts=3, result="exit-code", exit_status=1
        ),
    ]
    monkeypatch.setattr(systemd, "show", lambda _unit, _timeout: seen.pop(0))
    monkeypatch.setattr(systemd, "tail", lambda _unit, _lines, _timeout: [])
    monkeypatch.setattr(member_start, "PAUSE", 0)
    result = run(etcd_member, capsys, name="m1", state="serving", digest="d1", **cluster)
    assert result["msg"] == "etcd.service does not start (exit-code, exit status 1, restarted 3 times)"
