# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bytes of one member's database are flipped: the comparison finds it, and etcd's own check refuses to start it, on each release."""

from __future__ import annotations

import json
import subprocess
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import hash_requests, lock
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import observe_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.hashes import Comparison
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import integrity
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.configuration import Config, parse_config
from ansible_collections.etcdops.headroom.plugins.modules import etcd_membership

from bench.common.member import Member, binary, releases, running
from tests.integration.client import COMMAND_SECONDS, REQUEST_SECONDS, connection, etcdctl, wait_until

PORT = 26910
VALUE = "the-value-that-is-corrupted"
CHECKS = {"3.5": "--experimental-initial-corrupt-check=true"}
COMPACTION_CHECKS = {
    "3.5": ["--experimental-compact-hash-check-enabled=true", "--experimental-compact-hash-check-time=1s"],
    "3.6": ["--feature-gates=CompactHashCheck=true", "--compact-hash-check-time=1s"],
}
FIXTURE = Path(__file__).parents[1] / "unit" / "plugins" / "module_utils" / "fixtures" / "maintenance.json"


@pytest.fixture(params=releases())
def members(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Member]]:
    ports = {f"m{number}": PORT + 10 * number for number in (1, 2, 3)}
    started = [Member(request.param, tmp_path, port, name=name, peers=ports) for name, port in ports.items()]
    with running(started):
        for number in range(20):
            etcdctl(started[0], "put", f"/key/{number}", f"{VALUE}-{number}")
        yield started


def compare(members: list[Member]) -> Comparison:
    return hash_requests.compare_members(
        connection(members[0].version), [one.endpoint for one in members], 10, pause=0.1
    )


def corrupt(member: Member, number: int = 7) -> None:
    """Change a value in the database of a member that is stopped; pages of bbolt have no checksum."""
    database = member.folder / member.name / "member" / "snap" / "db"
    content = database.read_bytes()
    value = f"{VALUE}-{number}".encode()
    assert value in content
    database.write_bytes(content.replace(value, value.swapcase()))


def corrupted(member: Member) -> Member:
    """Restart a member with a changed value."""
    # It answers as soon as this member has applied the write, which another one acknowledged.
    etcdctl(member, "get", "/key/7")
    member.stop()
    corrupt(member)
    member.start()
    member.wait_ready()
    return member


def config(members: list[Member], name: str, tmp_path: Path) -> Config:
    """Return the configuration of the program on a member's host."""
    found = parse_config(json.loads(FIXTURE.read_text()))
    endpoints = [one.endpoint for one in members]
    return replace(
        found,
        member=name,
        connection=connection(members[0].version),
        endpoints=endpoints,
        state_dir=str(tmp_path),
        metrics_dir="",
    )


def test_a_member_whose_value_changed_is_found(members: list[Member], tmp_path: Path) -> None:
    before = compare(members)
    assert (before.verdict, before.agreeing, before.unknown) == ("agree", ["m1", "m2", "m3"], {})
    corrupted(members[2])
    found = compare(members)
    assert (found.verdict, found.agreeing, found.differing) == ("differ", ["m1", "m2"], ["m3"])
    assert found.sentence().startswith("m3 differs from the majority at revision ")
    cluster, _by = observe_cluster(connection(members[0].version), [one.endpoint for one in members])
    assert found.cluster_id == cluster.id
    record = integrity.run(config(members, cluster.leader, tmp_path), check=False)
    assert (
        record["result"] == "failed"
        and "'ansible-playbook etcdops.headroom.replace -e etcd_replace=m3'" in record["reason"]
    ), record
    other = next(one.name for one in members if one.name != cluster.leader)
    assert integrity.run(config(members, other, tmp_path), check=False)["result"] == "skipped"
    assert lock.read_lock(connection(members[0].version), [members[0].endpoint]) is None
    # A member that is down is unknown, and two that differ are not a majority.
    members[0].stop()
    undecided = compare(members[1:])
    assert (undecided.verdict, list(undecided.unknown)) == ("undecided", ["m1"])
    assert "no hash has a majority" in undecided.sentence()


def test_a_member_that_is_down_is_no_corruption(members: list[Member]) -> None:
    members[2].stop()
    found = compare(members[:2])
    assert (found.verdict, found.agreeing, list(found.unknown)) == ("agree", ["m1", "m2"], ["m3"])


def test_with_authentication_only_root_may_compare(members: list[Member]) -> None:
    """A user who may read all keys, as docs/audit.md needs it for the keys, may not ask for hashes."""
    etcdctl(members[0], "role", "add", "reader")
    etcdctl(members[0], "role", "grant-permission", "reader", "read", "--prefix=true", "")
    for words in (
        "user add reader:reader",
        "user grant-role reader reader",
        "user add root:root",
        "user grant-role root root",
        "auth enable",
    ):
        etcdctl(members[0], *words.split())
    endpoints = [one.endpoint for one in members]
    found = {
        name: hash_requests.compare_members(
            replace(connection(members[0].version), user=name, password=name), endpoints, 10, pause=0.1
        )
        for name in ("reader", "root")
    }
    assert (found["root"].verdict, found["root"].unknown) == ("agree", {})
    assert found["reader"].verdict == "unknown" and found["reader"].cluster_id == found["root"].cluster_id
    assert set(found["reader"].unknown.values()) == {hash_requests.DENIED}, found["reader"]


def test_etcd_refuses_to_start_a_member_that_differs(members: list[Member]) -> None:
    """The spelling that role etcd writes works, also where all members start at once.

    A member that has not saved a raft snapshot yet knows no peers while it checks, and passes.
    """
    flag = CHECKS.get(members[0].version[:3], "--feature-gates=InitialCorruptCheck=true,CompactHashCheck=true")
    for member in members:
        member.stop()
        member.flags = [flag, "--snapshot-count=10", "--log-level=info"]
    for member in members:
        member.start()
    for member in members:
        member.wait_ready()
    for number in range(30):
        etcdctl(members[0], "put", f"/more/{number}", "x")
    members[2].stop()
    corrupt(members[2])
    members[2].start()
    process = members[2].process
    assert process is not None
    wait_until(lambda: process.poll() is not None, "m3 did not end")
    log = (members[2].folder / "m3.log").read_text(errors="replace")
    assert process.poll() != 0 and "found data inconsistency with peers" in log


def test_etcds_check_after_a_compaction_sets_the_alarm_that_a_removal_disarms(
    members: list[Member], capsys: pytest.CaptureFixture[str]
) -> None:
    """The alarm of the whole cluster, which then refuses every write, ends when the member that differs leaves."""
    for member in members:
        member.stop()
        member.flags = COMPACTION_CHECKS.get(members[0].version[:3], COMPACTION_CHECKS["3.6"])
    corrupt(members[2])
    for member in members[:2]:
        member.start()
    members[0].wait_ready()
    members[2].start()
    members[2].wait_ready()
    revision = json.loads(etcdctl(members[0], "get", "/key/7", "-w", "json"))["header"]["revision"]
    etcdctl(members[0], "compact", str(revision), "--physical")
    wait_until(lambda: etcdctl(members[0], "alarm", "list"), "etcd set no alarm")
    cluster, _by = observe_cluster(connection(members[0].version), [members[0].endpoint])
    victim = cluster.member("m3")
    # etcd names no member if it compared only two hashes.
    assert (
        victim is not None
        and "alarm:CORRUPT" in etcdctl(members[0], "alarm", "list")
        and cluster.with_alarm("CORRUPT") in (["m3"], ["the cluster"])
    )
    with pytest.raises(subprocess.CalledProcessError):
        etcdctl(members[0], "put", "/key/7", "another")
    assert remove(capsys, members[0], victim.id)["changed"]
    assert etcdctl(members[0], "alarm", "list").strip() == ""
    assert "OK" in etcdctl(members[0], "put", "/key/7", "another")


def remove(capsys: pytest.CaptureFixture[str], member: Member, victim: str) -> dict[str, Any]:
    """Remove m3 with the module, through another member."""
    asked = {
        "name": "m3", "member_id": victim, "state": "absent", "timeout": 60, "endpoints": [member.endpoint],
        "etcdctl_path": str(binary(member.version, "etcdctl")), "request_timeout": REQUEST_SECONDS,
    }  # fmt: skip
    with patch_module_args(asked), pytest.raises(SystemExit):
        etcd_membership.main()
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert "changed" in result, result
    return result


def raise_alarm(member: Member, member_id: str) -> None:
    """Set the alarm CORRUPT for a member, as etcd's check after a compaction does."""
    body = {"action": "ACTIVATE", "memberID": str(int(member_id, 16)), "alarm": "CORRUPT"}
    request = urllib.request.Request(f"{member.endpoint}/v3/maintenance/alarm", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=COMMAND_SECONDS) as answer:
        assert answer.status == 200


@pytest.mark.parametrize(
    ("corrupt_members", "disarmed"), [([2], True), ([1, 2], False)], ids=["the others agree", "the others differ"]
)
def test_the_alarm_is_disarmed_only_if_the_members_that_stay_agree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], corrupt_members: list[int], disarmed: bool
) -> None:
    ports = {f"m{number}": PORT + 10 * number for number in (1, 2, 3)}
    members = [Member(releases()[-1], tmp_path, port, name=name, peers=ports) for name, port in ports.items()]
    with running(members):
        etcdctl(members[0], "put", "/key/7", f"{VALUE}-7")
        for number in corrupt_members:
            corrupted(members[number])
        cluster, _by = observe_cluster(connection(members[0].version), [members[0].endpoint])
        victim = cluster.member("m3")
        assert victim is not None
        raise_alarm(members[0], victim.id)
        result = remove(capsys, members[0], victim.id)
        alarms = etcdctl(members[0], "alarm", "list")
        assert (alarms.strip() == "") is disarmed
        assert bool(result.get("warnings")) is not disarmed
