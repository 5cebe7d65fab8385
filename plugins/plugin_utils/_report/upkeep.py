# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Report the results of the maintenance timers: a failed backup, drill, defragmentation or comparison of the members, and the cluster's newest backup."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.durations import format_utc, parse_utc
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import hashes
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.member import Member

# After the record the program still ends, and after a defragmentation the service checks etcd's memory limit. After a backup systemd waits 4
# minutes for a process that waits for a share and cannot be killed.
_END_SECONDS = 300

_DAY = 86400
# Seconds, as in the example alert EtcdBackupTooOld. An unknown timer may be weekly.
_OLD_BACKUP = 2 * _DAY
_OLD_BACKUP_OF_UNKNOWN_TIMER = 7 * _DAY

# Operation of the timers → its name in the report.
LABELS = {
    "snapshot": "backup",
    "drill": "restore drill",
    "defrag": "defragmentation",
    "integrity": "comparison of the members",
}


def _records(member: Member) -> Mapping[str, Mapping[str, Any]]:
    """Return the last record of each operation that has a timer, empty for one that has not run."""
    return {operation: record or {} for operation, record in (member.get("maintenance") or {}).items()}


def upkeep_problems(member: Member) -> Iterator[str]:
    """Report each operation whose last run failed, and when it last succeeded.

    ``failure`` in a record is the state of the service, which may fail before the program writes a record.
    """
    for operation, record in _records(member).items():
        failure = record.get("failure") or {}
        failed = record.get("result") == "failed"
        # Dates in ISO 8601 sort as text.
        if failure and failure["at"] > (_latest_end(record) if failed else record.get("started_at", "")):
            unit = f"headroom-{operation}"
            recorded = (
                f"its last record is from {record['started_at']}" if record.get("started_at") else "it has no record"
            )
            yield (
                f"{unit}.service failed at {failure['at']} ({failure['result']}), and {recorded}: "
                f"`journalctl -u {unit}` on the host shows the cause"
            )
        elif failed:
            done = record.get("last_done") or {}
            before = f"the last success was at {done['started_at']}" if done else "none has succeeded on this host"
            yield f"the last {LABELS.get(operation, operation)} failed at {record['started_at']}: {record['reason']}; {before}{_kept(record)}"


def _kept(record: Mapping[str, Any]) -> str:
    """Return what an earlier comparison found, which the failed one neither confirmed nor refuted; empty without such a finding."""
    if not record.get("compared_at"):
        return ""
    return f"; the comparison at {record['compared_at']} found that {hashes.describe(record['comparison'])}"


def _latest_end(record: Mapping[str, Any]) -> str:
    """Return the time up to which a failure of the service belongs to the run of a record."""
    return format_utc(parse_utc(record["started_at"]) + float(record.get("seconds") or 0) + _END_SECONDS)


def backup_problems(members: Sequence[Member], now: float) -> Iterator[str]:
    """Report that the cluster's newest backup is too old, for example because nothing runs the timers. now: seconds since 1970."""
    records = _backup_records(members)
    newest = _newest_backup(records)
    intervals = [int(record["interval"]) for record in records if record.get("interval")]
    limit = max(_OLD_BACKUP, 2 * max(intervals)) if intervals else _OLD_BACKUP_OF_UNKNOWN_TIMER
    if newest and now - parse_utc(newest) > limit:
        yield (
            f"the newest backup of the cluster was taken at {newest}, more than {limit / _DAY:.3g} days ago: "
            "`systemctl list-timers headroom-snapshot.timer` and `headroom status` on its hosts show why"
        )


def backup_note(members: Sequence[Member]) -> list[str]:
    """Return a sentence about the cluster's newest backup; nothing without timers for backups."""
    records = _backup_records(members)
    if not records:
        return []
    newest = _newest_backup(records)
    return [f"the newest backup of the cluster was taken at {newest}." if newest else "no backup has succeeded yet."]


def _backup_records(members: Sequence[Member]) -> list[Mapping[str, Any]]:
    """Return the record of each host that has a timer for backups."""
    return [records["snapshot"] for records in map(_records, members) if "snapshot" in records]


def _newest_backup(records: Sequence[Mapping[str, Any]]) -> str:
    """Return the time of the newest backup in these records, empty without one."""
    # Dates in ISO 8601 sort as text.
    return max((found for record in records for found in _backup_times(record)), default="")


def _backup_times(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the times of backups in a host's records: its own, and those of other hosts."""
    done = record.get("last_done") or {}
    for time in (record.get("newest_at"), done.get("newest_at")):
        if time:
            yield str(time)
