# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which failures of etcdctl pass by themselves, with its own output."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import ProcessResult
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import answers
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.answers import may_pass, was_received
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection

DIALLED = 'rpc error: code = DeadlineExceeded desc = latest balancer error: connection error: desc = "transport: {}"'
GRANT = "Error: failed to grant lease (context deadline exceeded)"


def logged(error: str) -> str:
    return f"{json.dumps({'msg': 'retrying of unary invoker failed', 'error': error})}\n{GRANT}\n"


@pytest.mark.parametrize(
    ("stderr", "passes", "received"),
    [
        (GRANT, True, True),
        ("Error: context deadline exceeded", True, True),
        ("Error: stream terminated by RST_STREAM with error code: CANCEL", True, True),
        ("Error: etcdserver: request canceled", True, True),
        ("Error: etcdserver: request timed out, possibly due to previous leader failure", True, True),
        ("Error: etcdserver: no leader", True, True),
        ("Error: etcdserver: leader changed", True, True),
        ("Error: etcdserver: rpc not supported for learner", True, True),
        (
            logged(DIALLED.format("Error while dialing: dial tcp 10.0.0.1:2379: connect: connection refused")),
            True,
            False,
        ),
        (logged(DIALLED.format("Error while dialing: dial tcp 10.0.0.1:2379: i/o timeout")), True, False),
        (logged(DIALLED.format("authentication handshake failed: EOF")), True, False),
        (logged(DIALLED.format("authentication handshake failed: context deadline exceeded")), True, True),
        (
            logged(
                DIALLED.format(
                    "authentication handshake failed: tls: failed to verify certificate: x509: certificate signed by unknown authority"
                )
            ),
            False,
            True,
        ),
        (logged(DIALLED.format("authentication handshake failed: remote error: tls: bad certificate")), False, True),
        ("Error: etcdserver: permission denied", False, True),
        ("Error: etcdserver: user name is empty", False, True),
        ("Error: etcdserver: authentication failed, invalid user ID or password", False, True),
        ("Error: etcdserver: mvcc: database space exceeded", False, True),
        ("", False, True),
    ],
)
def test_failures_that_pass(stderr: str, passes: bool, received: bool) -> None:
    answer = ProcessResult(1, "", stderr)
    assert (may_pass(answer), was_received(answer)) == (passes, received)


def test_an_etcdctl_that_was_killed_at_its_time_limit_may_succeed_later() -> None:
    answer = ProcessResult(None, "", "")
    assert may_pass(answer) and was_received(answer)


@pytest.mark.parametrize(("timeout", "shares"), [(12.0, [12, 4, 4, 4]), (3.0, [3, 1, 1, 1]), (1.5, [1.5, 1, 1, 1])])
def test_repetitions_share_the_time_of_one_request(
    timeout: float, shares: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a quorum no member can answer, and an outage must not last longer for each endpoint."""
    asked: list[tuple[float, list[str]]] = []

    def refuse(connection: Connection, endpoints: list[str], *_arguments: str, **_more: Any) -> ProcessResult:
        asked.append((connection.timeout, endpoints))
        return ProcessResult(1, "", GRANT)

    monkeypatch.setattr(answers, "run_etcdctl", refuse)
    connection = Connection("etcdctl", None, None, None, timeout)
    assert answers.request_anywhere(connection, ["a", "b", "c"], "lease", "grant", "60").stderr == GRANT
    assert [seconds for seconds, _endpoints in asked] == shares
    assert [endpoints for _seconds, endpoints in asked] == [["a", "b", "c"], ["a"], ["b"], ["c"]]
