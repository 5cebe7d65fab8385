# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What members of real etcd answer while their first start is interrupted, and what the topology makes of it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import observe_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import observed, topology

from bench.common.member import Member, metrics, releases
from tests.integration.client import EVENT_SECONDS, REQUEST_SECONDS, connection, wait_until

PORT = 25850


def view(member: Member, seconds: float = REQUEST_SECONDS) -> dict[str, Any]:
    """Return the member's view of the cluster, as a play requests it. seconds: the timeout, which a member without quorum uses up."""
    return observe_cluster(connection(member.version, seconds), [member.endpoint])[0].as_dict()


def serves_metrics(member: Member) -> bool:
    """Return whether the process is far enough to serve its metrics, which it does without quorum."""
    try:
        return not metrics(member.metrics_url)["etcd_server_has_leader"]
    except OSError:
        return False


def answer(member: Member, *, quorum: bool) -> dict[str, Any]:
    """Wait until the member answers, with or without quorum."""
    deadline = time.monotonic() + EVENT_SECONDS
    while True:
        found = view(member, REQUEST_SECONDS if quorum else 2)
        if found["members"] and found["quorum"]["ok"] is quorum:
            return found
        assert time.monotonic() < deadline, found
        time.sleep(0.2)


def state(members: list[Member], views: dict[str, dict[str, Any]], without_data: tuple[str, ...] = ()) -> str:
    """The state of the cluster while the mark of the first start is on every host."""
    described = [
        {"host": member.name, "cluster": "c", "name": member.name, "address": "127.0.0.1", "client_port": member.port}
        | {"peer_port": member.port + 1, "tls": False, "has_data": member.name not in without_data, "forming": True}
        | {"view": views.get(member.name, {})}
        for member in members
    ]
    found: str = topology.form_clusters(described)["c"]["state"]
    return found


@pytest.mark.parametrize("version", [releases()[0], releases()[-1]])
def test_the_answers_decide_whether_the_cluster_exists(version: str, tmp_path: Path) -> None:
    ports = {f"m{number}": PORT + 10 * number for number in range(3)}
    members = [Member(version, tmp_path, port, (), {}, (), name, ports) for name, port in ports.items()]
    first, second, third = members
    try:
        first.start()
        wait_until(lambda: serves_metrics(first), "m0 did not start")
        alone = view(first, 2)
        assert not observed.was_formed(alone), "one of three has started, and answers only once it has had quorum"
        assert state(members, {"m0": alone}, ("m1", "m2")) == "new"

        second.start()
        formed = answer(first, quorum=True)
        assert observed.never_started(formed, "m2", f"http://127.0.0.1:{third.port + 1}")
        assert state(members, {"m0": formed, "m1": view(second)}, ("m2",)) == "existing"

        third.start()
        third.wait_ready()
        assert not observed.never_started(answer(first, quorum=True), "m2", f"http://127.0.0.1:{third.port + 1}")
        second.stop()
        third.stop()
        assert state(members, {"m0": answer(first, quorum=False)}) == "existing", "it lost its quorum"
    finally:
        for member in members:
            if member.process:
                member.stop()
