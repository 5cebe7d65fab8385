# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What etcdctl prints, captured from clusters of three members of each version, and how it is run."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import ProcessResult
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import etcdctl

VERSIONS = ("3.5", "3.6", "3.7")


def captured(version: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(
        (Path(__file__).parent.parent / "fixtures" / f"etcdctl-{version}.json").read_text()
    )
    return data


def answer(version: str, what: str) -> ProcessResult:
    return ProcessResult(**captured(version)[what])


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("what", ["members", "members through the gateway"])
def test_parse_members(version: str, what: str) -> None:
    found = etcdctl.parse_members(answer(version, what).stdout)
    assert [member.name for member in found.members] == ["m1", "m2", "m3"]
    assert [len(member.client_urls) for member in found.members] == [1, 1, 1]
    assert not any(member.learner for member in found.members)
    assert found.answered_by == found.members[0].id
    assert found == etcdctl.parse_members(answer(version, "members").stdout)


def test_ids_are_hexadecimal_as_in_the_logs() -> None:
    found = etcdctl.parse_members(answer("3.5", "members").stdout)
    assert format(16305953383680178464, "x") == "e24a6235b655f920" == found.members[0].id
    assert found.members[1].id == "8c7bf4cb54e9775", "etcd prints no leading zero"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_learner_that_never_started(version: str) -> None:
    found = etcdctl.parse_members(answer(version, "members with a learner").stdout)
    assert [(member.name, member.learner, member.client_urls) for member in found.members if member.learner] == [
        ("", True, [])
    ]


@pytest.mark.parametrize(("version", "quota"), [("3.5", None), ("3.6", 1 << 30), ("3.7", 1 << 30)])
def test_parse_status(version: str, quota: int | None) -> None:
    members = etcdctl.parse_members(answer(version, "members").stdout)
    found = etcdctl.parse_status(answer(version, "status").stdout)
    assert sorted(found) == [member.client_urls[0] for member in members.members]
    for status in found.values():
        assert status.version.startswith(version)
        assert status.leader in {member.id for member in members.members}
        assert status.db_quota == quota
        assert 0 < status.db_size_in_use <= status.db_size
        assert status.raft_index >= status.raft_applied_index > 0
        assert (status.learner, status.errors) == (False, [])


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("3.6.16", "3.6.16"),
        ("3.6.16-acme", "3.6.16"),
        ("3.6.16+acme.1", "3.6.16"),
        ("3.7.0-rc.1", "3.7.0"),
        ("", ""),
        ("dev", ""),
    ],
)
def test_the_release_of_a_custom_build(text: str, release: str) -> None:
    found = etcdctl.parse_status(json.dumps([{"Endpoint": "x", "Status": {"version": text}}]))
    assert found["x"].version == release


@pytest.mark.parametrize("version", VERSIONS)
def test_parse_status_leaves_out_silent_endpoints(version: str) -> None:
    assert len(etcdctl.parse_status(answer(version, "status, one down").stdout)) == 2
    assert etcdctl.parse_status(answer(version, "status of a frozen member").stdout) == {}


@pytest.mark.parametrize("version", VERSIONS)
def test_status_without_quorum(version: str) -> None:
    status = next(iter(etcdctl.parse_status(answer(version, "status without quorum").stdout).values()))
    assert (status.leader, status.errors) == ("", ["etcdserver: no leader"])


@pytest.mark.parametrize("version", VERSIONS)
def test_parse_health(version: str) -> None:
    healthy = etcdctl.parse_health(answer(version, "health").stdout)
    assert [health.healthy for health in healthy.values()] == [True] * 3
    one_down = etcdctl.parse_health(answer(version, "health, one down").stdout)
    assert sorted(health.healthy for health in one_down.values()) == [False, True, True]
    alone = etcdctl.parse_health(answer(version, "health without quorum").stdout)
    assert next(iter(alone.values())) == etcdctl.Health(healthy=False, error="context deadline exceeded")


@pytest.mark.parametrize("version", VERSIONS)
def test_an_alarm_does_not_make_a_member_unhealthy(version: str) -> None:
    found = etcdctl.parse_health(answer(version, "health with an alarm").stdout)
    assert next(iter(found.values())) == etcdctl.Health(healthy=True, error="", alarms=("NOSPACE",))
    status = next(iter(etcdctl.parse_status(answer(version, "status with an alarm").stdout).values()))
    assert etcdctl.parse_alarms(status.errors) == [etcdctl.Alarm(member_id=status.member_id, type="NOSPACE")]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("move-leader to no member", "etcdserver: bad leader transferee"),
        ("members without quorum", "context deadline exceeded"),
        ("status of a frozen member", "context deadline exceeded while waiting for connections to become ready"),
    ],
)
def test_failure_reason(version: str, what: str, reason: str) -> None:
    assert etcdctl.failure_reason(answer(version, what)) == reason


@pytest.mark.parametrize("version", VERSIONS)
def test_failure_reason_names_the_connection(version: str) -> None:
    assert "connect: connection refused" in etcdctl.failure_reason(answer(version, "status, one down"))
    assert "no leader endpoint given" in etcdctl.failure_reason(answer(version, "move-leader through a follower"))


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (ProcessResult(None, "", ""), "etcdctl did not end in time and was killed"),
        (ProcessResult(3, "", ""), "etcdctl ended with exit status 3"),
        (ProcessResult(1, "", "{broken\nError: plain words"), "plain words"),
    ],
)
def test_failure_reason_without_a_logged_cause(given: ProcessResult, reason: str) -> None:
    assert etcdctl.failure_reason(given) == reason


@pytest.mark.parametrize("text", ["", "Error: unknown flag", '"text"', "[}"])
def test_output_that_is_not_etcdctls(text: str) -> None:
    for parse in (etcdctl.parse_members, etcdctl.parse_status, etcdctl.parse_health):
        with pytest.raises(etcdctl.EtcdctlError, match=r"^(member list|endpoint status|endpoint health): "):
            parse(text)


def program(folder: Path, text: str) -> str:
    path = folder / "etcdctl"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def link(path: str, timeout: float = 60.0) -> etcdctl.Connection:
    return etcdctl.Connection(path, "/ca.crt", "/client.crt", None, timeout)


def test_run_etcdctl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ETCDCTL_ENDPOINTS", "http://elsewhere")
    path = program(tmp_path, 'echo "$@"; env | grep -c ^ETCDCTL_; echo wrong >&2; exit 7')
    done = etcdctl.run_etcdctl(link(path), ["https://a:1", "https://b:2"], "member", "list")
    flags = "--endpoints=https://a:1,https://b:2 --command-timeout=60s --dial-timeout=60s"
    assert done.stdout == f"{flags} --cacert=/ca.crt --cert=/client.crt -w json member list\n0\n"
    assert (done.returncode, done.stderr) == (7, "wrong\n")
    plain = etcdctl.run_etcdctl(link(path), ["http://a:1"], "alarm", "list")
    assert "--cacert" not in plain.stdout


def test_run_etcdctl_kills_after_the_timeout(tmp_path: Path) -> None:
    began = time.monotonic()
    done = etcdctl.run_etcdctl(link(program(tmp_path, "exec sleep 30"), timeout=0.2), ["http://a:1"], "member", "list")
    assert done.returncode is None
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(("mode", "text"), [(None, "does not exist"), (0o644, "may not be run")])
def test_run_etcdctl_that_cannot_be_started(tmp_path: Path, mode: int | None, text: str) -> None:
    path = tmp_path / "etcdctl"
    if mode is not None:
        path.write_text("#!/bin/sh\n")
        path.chmod(mode)
    with pytest.raises(etcdctl.EtcdctlError, match=text):
        etcdctl.run_etcdctl(link(str(path)), ["http://a:1"], "member", "list")


def test_an_alarm_for_the_whole_cluster_has_no_member() -> None:
    assert etcdctl.parse_alarms(["alarm:CORRUPT", "memberID:255  alarm:NOSPACE", "etcdserver: no leader"]) == [
        etcdctl.Alarm("0", "CORRUPT"),
        etcdctl.Alarm("ff", "NOSPACE"),
    ]
