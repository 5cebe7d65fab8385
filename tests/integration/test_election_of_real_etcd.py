# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A query during an election of real etcd is repeated, so that site.yml does not refuse a healthy cluster."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_view import describe_member_in_quorum

from bench.common.member import Member, binary, releases, running
from tests.integration.client import EVENT_SECONDS, REQUEST_SECONDS

PORT = 25950
# Long enough for the request to fall into the election, even on a busy machine.
ELECTION = ("--heartbeat-interval=500", "--election-timeout=5000")


def ask(member: Member, seconds: float, request_timeout: float) -> dict[str, Any]:
    """Ask one member, as site.yml does. request_timeout: each stopped member uses it up."""
    access = {
        "endpoints": [member.endpoint],
        "etcdctl_path": str(binary(member.version, "etcdctl")),
        "request_timeout": request_timeout,
    }
    nothing = {"ca_cert": None, "client_cert": None, "client_key": None, "data_dir": None, "wal_dir": None}
    found: dict[str, Any] = describe_member_in_quorum({**access, **nothing, "unit": "headroom-test.service"}, seconds)
    return found["cluster"]["quorum"] | {"leader": found["cluster"]["leader"]}


@pytest.mark.parametrize("version", [releases()[0], releases()[-1]])
def test_a_new_leader_is_waited_for(version: str, tmp_path: Path) -> None:
    ports = {f"m{number}": PORT + 10 * number for number in range(3)}
    members = [Member(version, tmp_path, port, ELECTION, {}, (), name, ports) for name, port in ports.items()]
    with running(members):
        leader = ask(members[0], EVENT_SECONDS, REQUEST_SECONDS)["leader"]
        others = [member for member in members if member.name != leader]
        stopped = next(member for member in members if member.name == leader)
        assert stopped.process and others[1].process
        stopped.process.send_signal(signal.SIGSTOP)
        try:
            assert not ask(others[0], 0, 0.5)["ok"], "the election takes five seconds at least"
            assert ask(others[0], EVENT_SECONDS, 2)["ok"]
            others[1].process.kill()
            others[1].process.wait()
            began = time.monotonic()
            assert not ask(others[0], 2, 0.5)["ok"], "one of three"
            assert 2 <= time.monotonic() - began < 30
        finally:
            stopped.process.send_signal(signal.SIGCONT)
