# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask the members of a cluster for their hashes of all keys at one revision, and compare them.

Writes wait while a member computes its hash, so the members are asked one after the other, the leader last.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import hashes
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, Member
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import observe_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    CORRUPT,
    Connection,
    EtcdctlError,
    Status,
    failure_reason,
    parse_status,
    run_etcdctl,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.hashes import Answer, Behind, Comparison, Hash

COMPACTED = "required revision has been compacted"
FUTURE = "required revision is a future revision"
# Source: HashKV of authMaintenanceServer in server/etcdserver/api/v3rpc/maintenance.go.
DENIED = "permission denied: with authentication on, only a user with the role root may ask for hashes"
# A difference counts only if it is found twice in succession.
_ROUNDS = 4
_PAUSE = 2.0
# Seconds that a member may take to apply what the leader has applied.
_CATCH_UP = 5.0
_POLL = 0.2


def compare_members(connection: Connection, endpoints: list[str], timeout: float, pause: float = _PAUSE) -> Comparison:
    """Compare the voting members. timeout: seconds that one member may take for its hash. Raises EtcdctlError."""
    before: Comparison | None = None
    for number in range(_ROUNDS):
        if number:
            time.sleep(pause)
        cluster, _answered_by = observe_cluster(connection, endpoints)
        if not cluster.members:
            raise EtcdctlError(f"no member answers: {cluster.error}")
        found = _compare_once(connection, cluster, timeout)
        settled = found.verdict == hashes.AGREE and not found.unknown
        if settled or (before and _is_same(before, found)):
            return found
        before = found
    reason = f"the answers of {_ROUNDS} comparisons contradict each other"
    names = {**before.hashes, **before.unknown} if before else {}
    corrupt, cluster_id = (before.corrupt, before.cluster_id) if before else ([], "")
    return Comparison(hashes.UNKNOWN, unknown=dict.fromkeys(names, reason), corrupt=corrupt, cluster_id=cluster_id)


def _is_same(one: Comparison, other: Comparison) -> bool:
    """Return whether two rounds found the same. Endpoints of two clusters may answer for either in each round."""
    found, again = ((it.cluster_id, it.verdict, it.differing, sorted(it.unknown)) for it in (one, other))
    return found == again


def _compare_once(connection: Connection, cluster: Cluster, timeout: float) -> Comparison:
    voters = [member for member in cluster.members if member.votes]
    names = [member.name or member.id for member in voters]
    corrupt = sorted(cluster.with_alarm(CORRUPT))
    leader = next((member for member in voters if member.role == "leader"), None)
    status = _status(connection, leader) if leader else None
    if status is None:
        reason = "the cluster has no leader" if leader is None else f"the leader {leader.name} returned no status"
        return Comparison(hashes.UNKNOWN, unknown=dict.fromkeys(names, reason), corrupt=corrupt, cluster_id=cluster.id)
    patient = replace(connection, timeout=max(timeout, connection.timeout))
    answers: dict[str, Answer] = {}
    for member in sorted(voters, key=lambda one: (one is leader, one.name)):
        answers[member.name or member.id] = _answer(connection, patient, member, status)
    return replace(hashes.judge(names, answers, status.revision), corrupt=corrupt, cluster_id=cluster.id)


def _answer(connection: Connection, patient: Connection, member: Member, leader: Status) -> Answer:
    """Return the hash of a member at the leader's revision, or why there is none."""
    if not member.endpoint or member.version is None:
        return member.status_error or "returned no status"
    deadline = time.monotonic() + _CATCH_UP
    status = _status(connection, member)
    while status is not None and status.raft_applied_index < leader.raft_applied_index:
        if time.monotonic() >= deadline:
            return f"is {leader.raft_applied_index - status.raft_applied_index} raft entries behind the leader"
        time.sleep(_POLL)
        status = _status(connection, member)
    if status is None:
        return "returned no status"
    found = request_hash(patient, member.endpoint, leader.revision)
    return Behind(status.revision) if found == FUTURE else found


def _status(connection: Connection, member: Member) -> Status | None:
    answer = run_etcdctl(connection, [member.endpoint], "endpoint", "status")
    return parse_status(answer.stdout or "null").get(member.endpoint)


def request_hash(connection: Connection, url: str, revision: int) -> Hash | str:
    """Return a member's hash of all keys up to a revision, or why there is none: ``COMPACTED``, ``FUTURE``, or a reason in words."""
    answer = run_etcdctl(connection, [url], "endpoint", "hashkv", f"--rev={revision}")
    if answer.returncode != 0:
        known: Sequence[str] = (COMPACTED, FUTURE)
        reason = DENIED if "permission denied" in answer.stderr else failure_reason(answer)
        return next((text for text in known if text in answer.stderr), reason)
    return parse_hash(answer.stdout)


def parse_hash(text: str) -> Hash | str:
    """Parse what ``etcdctl endpoint hashkv -w json`` prints for one endpoint."""
    try:
        found = json.loads(text)[0]["HashKV"]
        return Hash(format(int(found["hash"]), "x"), int(found.get("compact_revision", 0)))
    except (LookupError, TypeError, ValueError, AttributeError):
        return f"returned no hash, but {text[:80]!r}"
