# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Alarms of real etcd of each series: NOSPACE is disarmed, and CORRUPT never, even if it is raised at that moment."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag import one_member
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.decision import Thresholds
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import alarms, http_api
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import view_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Alarm, Connection, run_etcdctl
from ansible_collections.etcdops.headroom.plugins.modules import etcd_alarm

from bench.common.member import Member, releases, running
from bench.memory import load
from tests.integration.client import connection, tls_connection

PORT = 27110


@pytest.fixture(scope="module", params=releases())
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Member]:
    version: str = request.param
    with running([Member(version, tmp_path_factory.mktemp(f"etcd-{version}"), PORT)]) as [member]:
        yield member


@pytest.fixture
def member(server: Member) -> Iterator[Member]:
    """A member without alarms."""
    yield server
    for kind in ("NOSPACE", "CORRUPT"):
        change(server, "DEACTIVATE", kind)


def link(member: Member) -> Connection:
    return connection(member.version)


def member_id(member: Member) -> str:
    cluster = view_cluster(link(member), [member.endpoint]).cluster
    return cluster.members[0].id


def change(member: Member, action: str, kind: str) -> None:
    body = {"action": action, "memberID": str(int(member_id(member), 16)), "alarm": kind}
    request = urllib.request.Request(f"{member.endpoint}/v3/maintenance/alarm", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status == 200


def kinds(member: Member) -> list[str]:
    return sorted(alarm.type for alarm in alarms.list_alarms(link(member), [member.endpoint]))


def run_module(member: Member, capsys: pytest.CaptureFixture[str], **more: Any) -> dict[str, Any]:
    access = {"endpoints": [member.endpoint], "etcdctl_path": link(member).etcdctl_path}
    with patch_module_args({**access, **more}), pytest.raises(SystemExit):
        etcd_alarm.main()
    return dict(json.loads(capsys.readouterr().out))


def test_the_module_disarms_nospace(member: Member, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_module(member, capsys) == {**run_module(member, capsys), "changed": False, "disarmed": []}
    change(member, "ACTIVATE", "NOSPACE")
    would = run_module(member, capsys, _ansible_check_mode=True)
    assert (would["changed"], would["disarmed"], kinds(member)) == (True, [member_id(member)], ["NOSPACE"])
    done = run_module(member, capsys)
    assert (done["changed"], done["disarmed"], kinds(member)) == (True, [member_id(member)], [])


def test_the_module_refuses_while_corrupt_is_set(member: Member, capsys: pytest.CaptureFixture[str]) -> None:
    for kind in ("NOSPACE", "CORRUPT"):
        change(member, "ACTIVATE", kind)
    for check in (True, False):
        refused = run_module(member, capsys, _ansible_check_mode=check)
        assert refused["failed"] and f"the alarm CORRUPT of member {member_id(member)} is set" in refused["msg"]
        assert kinds(member) == ["CORRUPT", "NOSPACE"]


def test_corrupt_that_is_raised_at_that_moment_stays_set(member: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    change(member, "ACTIVATE", "NOSPACE")
    real = http_api.deactivate_alarm

    def then_deactivate(connection: Connection, url: str, alarm: Alarm) -> None:
        change(member, "ACTIVATE", "CORRUPT")
        real(connection, url, alarm)

    monkeypatch.setattr(http_api, "deactivate_alarm", then_deactivate)
    with pytest.raises(alarms.AlarmError, match=r"CORRUPT of member \w+ is set, and NOSPACE was disarmed"):
        alarms.disarm_nospace(link(member), [member.endpoint])
    assert kinds(member) == ["CORRUPT"]


def test_a_defragmentation_leaves_corrupt_that_was_raised_since_it_looked(member: Member) -> None:
    request = one_member.Request([member.endpoint], member.name, True, Thresholds(100, 1 << 40))
    change(member, "ACTIVATE", "NOSPACE")
    seen = view_cluster(link(member), [member.endpoint])
    seen.cluster.members[0] = replace(seen.cluster.members[0], db_quota=1 << 30)
    change(member, "ACTIVATE", "CORRUPT")
    with pytest.raises(alarms.AlarmError, match="and NOSPACE was not disarmed"):
        one_member._disarm(request, link(member), seen)
    assert kinds(member) == ["CORRUPT", "NOSPACE"]
    change(member, "DEACTIVATE", "CORRUPT")
    assert one_member._disarm(request, link(member), seen) and kinds(member) == []


@pytest.mark.parametrize("version", releases())
def test_nospace_is_disarmed_with_authentication(tmp_path: Path, version: str) -> None:
    """The gateway takes no user from a client certificate, so etcdctl disarms."""
    secured = Member(version, tmp_path, PORT + 10, tls=load.certificates(tmp_path / "tls"))
    own = tls_connection(secured, 20.0)
    with running([secured]):
        urls = [secured.endpoint]
        found = view_cluster(own, urls).cluster.members[0].id
        body = {"action": "ACTIVATE", "memberID": str(int(found, 16)), "alarm": "NOSPACE"}
        http_api._request(own, secured.endpoint, "POST", "/v3/maintenance/alarm", json.dumps(body))
        for words in (
            *(("user", "add", name, "--no-password") for name in ("root", "client")),
            *(("user", "grant-role", name, "root") for name in ("root", "client")),
            ("auth", "enable"),
        ):
            assert run_etcdctl(own, urls, *words).returncode == 0, words
        assert alarms.disarm_nospace(own, urls) == [Alarm(found, "NOSPACE")]
        assert alarms.list_alarms(own, urls) == []
