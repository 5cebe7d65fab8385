# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare the members' hashes of all keys, from the timer on the leader's host.

All timers elapse together, and the host of the leader acts. Writes wait while a member computes its hash, so the comparison holds the
cluster's lock: no other member is defragmented or changed at the same time.
"""

from __future__ import annotations

import contextlib
import socket
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import hashes, lock
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import observe_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.hash_requests import compare_members
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.hashes import Comparison
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.configuration import Config
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.recovery import REPLACE

OPERATION = "comparison of hashes"
# Another operation may be in progress.
WAIT_SECONDS = 3600.0


def run(config: Config, check: bool) -> dict[str, Any]:
    """Compare the members if the one on this host leads. Returns the record. Raises ValueError."""
    cluster, _answered_by = observe_cluster(config.connection, config.endpoints)
    if not cluster.leader:
        raise ValueError(
            f"the cluster has no leader, so its members cannot be compared: {cluster.error or 'no quorum'}"
        )
    voters = [member for member in cluster.members if member.votes]
    if cluster.leader != config.member:
        return _skipped(f"{cluster.leader} leads, and its host compares the members")
    if len(voters) == 1:
        # A comparison from the time when there were more members would look overdue for ever.
        reason = f"{config.member} is the only voting member, so there is nothing to compare"
        return {**_skipped(reason), "last_done": None}
    if check:
        names = ", ".join(sorted(member.name for member in voters))
        return {**_skipped(f"{names} would be compared"), "settled": False, "would": True}
    with contextlib.ExitStack() as stack:
        _hold_lock(config, stack)
        found = compare_members(config.connection, config.endpoints, config.integrity.timeout)
    return record_of(found)


def record_of(found: Comparison) -> dict[str, Any]:
    """Return the record of a comparison: failed if the members differ, could not be compared, or have the alarm CORRUPT."""
    reasons = [found.sentence()]
    if found.corrupt:
        reasons.append(f"the alarm CORRUPT is set for {', '.join(found.corrupt)}")
    if found.verdict == hashes.DIFFER:
        reasons.append(f"replace it: '{REPLACE.format(names=','.join(found.differing))}'")
    elif found.verdict == hashes.UNDECIDED:
        reasons.append("restore a backup that passed its drill: the playbook etcdops.headroom.restore")
    done = found.verdict == hashes.AGREE and not found.corrupt
    return {
        "result": "done" if done else "failed",
        "reason": "; ".join(reasons),
        "settled": done and not found.unknown,
        "comparison": found.as_dict(),
    }


def _skipped(reason: str) -> dict[str, Any]:
    return {"result": "skipped", "reason": reason, "settled": True}


def _hold_lock(config: Config, stack: contextlib.ExitStack) -> None:
    """Hold the cluster's lock; while the alarm NOSPACE or CORRUPT is set, continue without it."""
    holder = lock.Holder(socket.gethostname(), config.member, OPERATION)
    with contextlib.suppress(lock.NoSpaceError, lock.CorruptError):
        stack.enter_context(lock.hold_lock(config.connection, config.endpoints, holder, wait=WAIT_SECONDS))
