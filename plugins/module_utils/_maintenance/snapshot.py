# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take one backup of the cluster in each interval, from the timers of all its hosts.

All timers elapse together. The cluster's lock admits one host, and the key ``/headroom/backup`` records that the backup
of this interval exists. A download blocks a defragmentation of the same member, and with it all requests, so both hold
the same lock. The copies are made without the lock, because a slow bucket or a share whose server does not answer would
keep it for hours.
"""

from __future__ import annotations

import base64
import contextlib
import json
import socket
import time
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import snapshot as backup_snapshot
from ansible_collections.etcdops.headroom.plugins.module_utils._base.durations import format_utc
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import lock
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import observe_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import failure_reason, run_etcdctl
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.configuration import Config
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.records import new_record, save_record
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.timers import next_runs, shortest_interval

KEY = "/headroom/backup"
OPERATION = "backup"
# Seconds for which the leader's host, and a host with an unhealthy member, leave the backup to other hosts.
YIELD_SECONDS = 60.0
# Another host's backup may be in progress.
WAIT_SECONDS = 3600.0
_POLL_SECONDS = 3.0
_HALF_DAY = 43200
_CLOCK_DIFFERENCE = 300  # seconds between the clocks of two hosts, at most


def run(config: Config, check: bool) -> dict[str, Any]:
    """Take the backup of this interval unless another host has. Returns the record. Raises ValueError."""
    window = due_window(shortest_interval(next_runs(config.snapshot.calendar)))
    newest = _read_newest_backup(config)
    if not _is_due(newest, window, time.time()):
        return _skipped_record(newest)
    cluster, _answered_by = observe_cluster(config.connection, config.endpoints)
    if cluster.members and cluster.member(config.member) is None:
        # The others would take this backup for theirs, and it goes with this host.
        raise ValueError(f"{cluster.absence(config.member)}: if it was removed, stop the timers on this host")
    if check:
        return _predict(config, cluster, newest)
    deadline = time.monotonic() + (YIELD_SECONDS if should_yield(cluster, config.member) else 0)
    while time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
        newest = _read_newest_backup(config)
        if not _is_due(newest, window, time.time()):
            return _skipped_record(newest)
    began = time.time()
    with contextlib.ExitStack() as stack:
        lease_keeper = _hold_lock(config, stack)
        newest = _read_newest_backup(config)
        if not _is_due(newest, window, time.time()):
            return _skipped_record(newest)
        saved = backup_snapshot.save_snapshot(_request(config), _tools(config), config.endpoints)
        problem = _announce(config, saved.metadata.taken_at) if lease_keeper is not None else ""
    _save_unfinished(config, saved, began)
    record = _saved_record(backup_snapshot.copy_snapshot(_request(config), saved))
    if problem:
        record["reason"] += f"; it could not be announced to the other hosts: {problem}"
    return record


def _save_unfinished(config: Config, saved: backup_snapshot.SavedSnapshot, began: float) -> None:
    """Save what the record is to be if this process is killed while it copies: the others count the backup as made."""
    if not (config.snapshot.copy_dir or config.snapshot.bucket):
        return
    reason = f"saved {saved.plan.path}, but its copies were not finished"
    unfinished = {**_saved_record(saved), "result": "failed", "reason": reason, "settled": False}
    with contextlib.suppress(OSError):  # run_operation reports a record that cannot be written
        save_record(config.state_dir, new_record("snapshot", config.cluster, began, time.time() - began, unfinished))


def due_window(seconds: int | None) -> int:
    """Return for how many seconds a backup counts for its interval: half of the interval, at most 12 hours."""
    return min(_HALF_DAY, (seconds or 2 * _HALF_DAY) // 2)


def should_yield(cluster: Cluster, member: str) -> bool:
    """Return whether to leave the backup to another host: this member leads or is unhealthy, and a follower is healthy."""
    this = cluster.member(member)
    others = [one for one in cluster.members if one.role == "follower" and one.healthy and one.name != member]
    return bool(others) and (this is None or this.role != "follower" or not this.healthy)


def _hold_lock(config: Config, stack: contextlib.ExitStack) -> lock.LeaseKeeper | None:
    """Hold the cluster's lock. Returns None if NOSPACE makes the lock unavailable, which must not prevent a backup."""
    holder = lock.Holder(socket.gethostname(), config.member, OPERATION)
    try:
        return stack.enter_context(lock.hold_lock(config.connection, config.endpoints, holder, wait=WAIT_SECONDS))
    except lock.NoSpaceError:
        return None


def _read_newest_backup(config: Config) -> dict[str, Any]:
    """Return host, member and time of the cluster's newest backup; empty if there is none, or no answer."""
    answer = run_etcdctl(config.connection, config.endpoints, "get", KEY)
    if answer.returncode != 0:
        return {}
    try:
        value = json.loads(base64.b64decode(json.loads(answer.stdout)["kvs"][0]["value"]))
        return {"host": str(value["host"]), "member": str(value["member"]), "taken": float(value["taken"])}
    except (KeyError, IndexError, TypeError, ValueError):
        return {}


def _announce(config: Config, taken: int) -> str:
    """Announce the backup to the other hosts through the cluster. Returns the error, empty if none."""
    value = {"host": socket.gethostname(), "member": config.member, "taken": taken}
    answer = run_etcdctl(config.connection, config.endpoints, "put", KEY, json.dumps(value))
    return "" if answer.returncode == 0 else failure_reason(answer)


def _is_due(newest: dict[str, Any], window: int, now: float) -> bool:
    """Return whether a backup is due. One dated further in the future than clocks differ does not count."""
    return not newest or not -_CLOCK_DIFFERENCE <= now - newest["taken"] < window


def _skipped_record(newest: dict[str, Any]) -> dict[str, Any]:
    taken = format_utc(newest["taken"])
    return {
        "result": "skipped",
        "reason": f"{newest['host']} took the backup of this interval at {taken}",
        "settled": True,
        "newest_at": taken,
    }


def _request(config: Config) -> backup_snapshot.Request:
    section = config.snapshot
    return backup_snapshot.Request(
        directory=section.directory,
        prefix=section.prefix,
        member="",
        keep=section.keep,
        keep_days=section.keep_days,
        reserve=section.reserve,
        timeout=section.timeout,
        encrypt_to=tuple(section.encrypt_to),
        copy_dir=section.copy_dir,
        bucket=section.bucket,
    )


def _tools(config: Config) -> backup_snapshot.Tools:
    return backup_snapshot.Tools(config.connection, config.etcdutl_path)


def _predict(config: Config, cluster: Cluster, newest: dict[str, Any]) -> dict[str, Any]:
    """Return the planned action. Raises ValueError if something would prevent it."""
    plan = backup_snapshot.plan_snapshot(_request(config), _tools(config), config.endpoints, time.time())
    backup_snapshot.check_copies(_request(config), plan.size)
    later = ", unless another host is first" if should_yield(cluster, config.member) else ""
    return {
        "result": "skipped",
        "reason": f"{format_size(plan.size)} of {plan.member.name} ({plan.member.role}) would be saved as {plan.path}, "
        f"and {len(plan.removed)} older removed{later}",
        "settled": False,
        "would": True,
        "path": plan.path,
        "removed": plan.removed,
        **({"newest_at": format_utc(newest["taken"])} if newest else {}),
    }


def _saved_record(saved: backup_snapshot.SavedSnapshot) -> dict[str, Any]:
    copied = f", copied to {' and '.join(saved.copies)}" if saved.copies else ""
    failed = f", but {'; '.join(saved.failures)}" if saved.failures else ""
    return {
        "result": "failed" if saved.failures else "done",
        "reason": f"saved {format_size(saved.metadata.size)} of {saved.metadata.member} at revision "
        f"{saved.metadata.revision} as {saved.plan.path}, removed {len(saved.removed)} older{copied}{failed}",
        "settled": not saved.failures,
        "path": saved.plan.path,
        "revision": saved.metadata.revision,
        "hash": saved.metadata.hash,
        "total_keys": saved.metadata.total_keys,
        "size": saved.metadata.size,
        "member": saved.metadata.member,
        "removed": saved.removed,
        "copies": saved.copies,
        "left_alone": saved.plan.left_alone,
        "newest_at": format_utc(saved.metadata.taken_at),
    }
