# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge why a request failed, and repeat it at the other members.

etcdctl sends a request to one of its endpoints. A member that is being defragmented accepts the connection and does not answer; a learner
refuses most requests. The other members answer then.
"""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import ProcessResult
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    Connection,
    failure_reason,
    run_etcdctl,
)

# etcd: api/v3rpc/rpctypes/error.go. A defragmentation, an election, a restart or a promotion ends these errors.
_PASSING = (
    "context deadline exceeded",
    "context canceled",
    "request canceled",
    "stream terminated by RST_STREAM",  # the member, at the time limit of the request
    "request timed out",
    "no leader",
    "leader changed",
    "server stopped",
    "unhealthy cluster",
    "too many requests",
    "not supported for learner",
    "revision of auth store is old",
    "invalid auth token",
)
# No endpoint accepted a connection, or the one that did closed it.
_DISCONNECTED = (
    "connection refused",
    "connection reset",
    "connection timed out",
    "i/o timeout",
    "no route to host",
    "network is unreachable",
    "transport is closing",
    "broken pipe",
    "EOF",
)
_TLS = ("x509:", "tls:")


def may_pass(answer: ProcessResult) -> bool:
    """Return whether a request that failed may succeed later. Missing permissions, a wrong password or an untrusted certificate stay wrong."""
    if answer.returncode is None:
        return True
    reason = failure_reason(answer)
    return not any(text in reason for text in _TLS) and any(text in reason for text in (*_PASSING, *_DISCONNECTED))


def was_received(answer: ProcessResult) -> bool:
    """Return whether a member may have received a request that failed: at least one accepted the connection."""
    return answer.returncode is None or not any(text in failure_reason(answer) for text in _DISCONNECTED)


def request_anywhere(connection: Connection, endpoints: list[str], *arguments: str, text: str = "") -> ProcessResult:
    """Run an etcdctl command; if the member that received it does not serve, repeat it at each endpoint until one succeeds.

    The first member may still carry out the request. Returns an answer of etcd where there is one, else the first failure. The repetitions share
    the connection's timeout, with a second for each endpoint at least: without a quorum none of them succeeds.
    """
    first = run_etcdctl(connection, endpoints, *arguments, text=text)
    if first.returncode == 0 or len(endpoints) == 1 or not (may_pass(first) and was_received(first)):
        return first
    refusal, share = first, replace(connection, timeout=max(connection.timeout / len(endpoints), 1.0))
    for endpoint in endpoints:
        answer = run_etcdctl(share, [endpoint], *arguments, text=text)
        if answer.returncode == 0:
            return answer
        if not may_pass(answer):
            refusal = answer
    return refusal
