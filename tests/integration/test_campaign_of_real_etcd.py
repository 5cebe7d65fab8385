# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The client of `make bench-chaos` against real members that are killed: what it counts as failed and as lost."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.common.campaign.client import Client, read_back
from bench.common.gateway import Endpoint, Refused, Session, encode, tls_context
from bench.common.member import Member, releases, running
from bench.memory import load
from tests.integration.client import etcdctl, wait_until

PORT = 25910
PREFIX = "/chaos/test/"


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[list[Member]]:
    folder = load.certificates(tmp_path / "tls")
    peers = {f"m{number}": PORT + 10 * number for number in range(3)}
    members = [
        Member(releases()[-1], tmp_path, port, name=name, peers=peers, tls=folder) for name, port in peers.items()
    ]
    with running(members):
        yield members


def leads(member: Member) -> bool:
    [answer] = json.loads(etcdctl(member, "endpoint", "status", "-w", "json"))
    return bool(answer["Status"]["leader"] == answer["Status"]["header"]["member_id"])


def kill(member: Member) -> None:
    assert member.process
    member.process.kill()
    member.process.wait()


def wait_for_token(session: Session, url: str, known: str = "") -> str:
    """Return the session's token for a member as soon as it is another one than `known`."""
    token = known

    def is_another() -> bool:
        nonlocal token
        token = session.tokens.get(url, known)
        return token != known

    wait_until(is_another, f"no other token for {url}")
    return token


def wait_for_writes(client: Client, since: float, number: int) -> None:
    """Wait until the cluster has acknowledged writes that were due since a time; how long a busy machine takes for them is not the question."""

    def acknowledged() -> int:
        return sum(write.acknowledged and write.due > since for write in list(client.record.writes))

    wait_until(lambda: acknowledged() >= number, f"no {number} writes were acknowledged")


def test_what_a_client_loses_when_members_are_killed(cluster: list[Member]) -> None:
    urls = [member.endpoint for member in cluster]
    assert cluster[0].tls
    context = tls_context(cluster[0].tls)
    client = Client(PREFIX, urls, lambda: context)
    client.start()
    try:
        wait_for_writes(client, 0, 20)
        followers = [member for member in cluster if not leads(member)]
        kill(followers[0])
        wait_for_writes(client, time.time(), 40)
        kill(followers[1])  # no majority
        alone = time.time()
        wait_until(lambda: client.record.failed()[1] > 10, "no writes failed without a majority")
        restarted = time.time()
        followers[1].start()
        followers[1].wait_ready()
        wait_for_writes(client, time.time(), 20)
    finally:
        record = client.stop()
    # How many failed beside a majority depends on what else keeps the machine busy.
    _beside_majority, without_majority = record.failed()
    assert without_majority > 10, record.failed()
    assert record.longest_pause() > restarted - alone - 1
    assert sum(write.acknowledged for write in record.writes) > 20
    found = read_back(PREFIX, urls, context)
    assert record.lost(found, lambda write: True) == []

    last = max(write.number for write in record.writes if write.acknowledged)
    etcdctl(followers[1], "del", f"{PREFIX}{last:08d}")
    assert record.lost(read_back(PREFIX, urls, context), lambda write: True) == [last]


def test_a_client_with_a_password_goes_on_after_a_member_restarts(cluster: list[Member]) -> None:
    """A restarted member knows none of the tokens that it gave. A certificate with a common name is refused in any case."""
    folder = cluster[0].tls
    assert folder
    named = tls_context(folder)
    load.issue(folder, "client", "/O=client", load.SIGNED)
    context = tls_context(folder)
    urls = [member.endpoint for member in cluster]
    session = Session("root", "a-password-of-the-test")
    etcdctl(cluster[0], "user", "add", "root:a-password-of-the-test")
    etcdctl(cluster[0], "user", "grant-role", "root", "root")
    etcdctl(cluster[0], "auth", "enable")
    client = Client(PREFIX, urls, lambda: context, session)
    client.start()
    try:
        first = wait_for_token(session, urls[0])
        put = {"key": encode("/other"), "value": encode("value")}
        Endpoint(urls[0], context).post("/v3/kv/put", put, 10, {"Authorization": first})
        with pytest.raises(Refused, match="CommonName of client"):
            Endpoint(urls[0], named).post("/v3/kv/put", put, 10, {"Authorization": first})
        cluster[0].stop()
        cluster[0].start()
        cluster[0].wait_ready()
        wait_for_token(session, urls[0], first)
        wait_for_writes(client, time.time(), 20)
    finally:
        record = client.stop()
    assert record.lost(read_back(PREFIX, urls, context, session), lambda write: True) == []
