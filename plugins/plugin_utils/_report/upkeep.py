# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Report the results of the maintenance timers: a failed backup, drill, defragmentation or comparison of the members, and the cluster's newest backup."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.durations import format_utc, parse_utc
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.member import Member

# After the record the program still ends, and after a defragmentation the service checks etcd's memory limit. After a backup systemd waits 4
# minutes for a process that waits for a share and cannot be killed.
_END_SECONDS = 300

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
            yield f"the last {LABELS.get(operation, operation)} failed at {record['started_at']}: {record['reason']}; {before}"


def _latest_end(record: Mapping[str, Any]) -> str:
    """Return the time up to which a failure of the service belongs to the run of a record."""
    return format_utc(parse_utc(record["started_at"]) + float(record.get("seconds") or 0) + _END_SECONDS)


def backup_note(members: Sequence[Member]) -> list[str]:
    """Return a sentence about the cluster's newest backup; nothing without timers for backups."""
    known = [records["snapshot"] for records in map(_records, members) if "snapshot" in records]
    if not known:
        return []
    # Dates in ISO 8601 sort as text.
    newest = max((found for record in known for found in _backup_times(record)), default="")
    return [f"the newest backup of the cluster was taken at {newest}." if newest else "no backup has succeeded yet."]


def _backup_times(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the times of backups in a host's records: its own, and those of other hosts."""
    done = record.get("last_done") or {}
    for time in (record.get("newest_at"), done.get("newest_at")):
        if time:
            yield str(time)
