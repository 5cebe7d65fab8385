# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Save the last record of each operation, and format the records as metrics and as text.

A record is a mapping: ``operation``, ``result`` (done, skipped, failed), ``reason`` (a sentence), ``started_at`` (UTC in
ISO 8601), ``seconds``, ``settled`` (nothing is left to be done), ``cluster``, and entries of the operation. The saved record
also has ``last_done`` (the newest record with the result done) and ``last_settled_at``. Records that a host made as a member of
another cluster, or of the same one under another name, do not count.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.durations import format_utc, parse_utc
from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import write_atomically
from ansible_collections.etcdops.headroom.plugins.module_utils._base.prometheus import format_gauge
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import hashes

OPERATIONS = ("defrag", "snapshot", "drill", "integrity")
# The role etcd_maintenance writes this file, and configures this directory.
CONFIG_FILE = "/etc/etcd/maintenance.json"
STATE_DIR = "/var/lib/headroom"
METRICS_FILE = "headroom.prom"
ENABLED_METRIC = "headroom_maintenance_enabled"
INTERVAL_METRIC = "headroom_maintenance_interval_seconds"
EXPIRY_METRIC = "headroom_certificate_expiry_timestamp_seconds"


def _ended(record: Mapping[str, Any]) -> float:
    return round(parse_utc(record["started_at"]) + float(record["seconds"]))


# Name, help, and a function that returns the value for a record, None if the record lacks it.
_GAUGES = (
    ("last_run_timestamp_seconds", "When the operation last ended, whatever its result.", _ended),
    ("last_run_failed", "Whether the last run failed.", lambda one: int(one["result"] == "failed")),
    (
        "last_done_timestamp_seconds",
        "When the operation last did its work.",
        lambda one: _ended(one["last_done"]) if one.get("last_done") else None,
    ),
    (
        "last_settled_timestamp_seconds",
        "When the operation last left nothing to be done.",
        lambda one: float(parse_utc(one["last_settled_at"])) if one.get("last_settled_at") else None,
    ),
    ("last_run_duration_seconds", "How long the last run took.", lambda one: one["seconds"]),
)


def new_record(operation: str, cluster: str, began: float, seconds: float, found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of what an operation found on this host. began: seconds since the epoch; seconds: how long it took."""
    return {
        "operation": operation,
        "result": found["result"],
        "reason": found["reason"],
        "started_at": format_utc(began),
        "seconds": round(seconds, 3),
        "cluster": cluster,
        "host": os.uname().nodename,
        **found,
    }


def save_record(state_dir: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """Save a record as the last one of its operation. Returns the saved record.

    It keeps from earlier ones ``last_done`` (unless the record has it), ``last_settled_at``, the newest backup that is known,
    whether that failed its drill, and members that differed. It keeps nothing from those of another cluster.
    """
    path = os.path.join(state_dir, f"{record['operation']}.json")
    before, cluster = read_record(path) or {}, record.get("cluster", "")
    if not (_is_of(before, cluster) and _is_of(before.get("last_done") or {}, cluster)):
        before = {}
    saved = {
        **record,
        "last_done": dict(record) if record["result"] == "done" else record.get("last_done", before.get("last_done")),
        "last_settled_at": format_utc(_ended(record)) if record.get("settled") else before.get("last_settled_at"),
    }
    if "newest_at" not in record and before.get("newest_at"):
        saved["newest_at"] = before["newest_at"]  # the age of the newest backup grows while backups fail
    if "backup_bad" not in record and before.get("backup_bad"):
        saved["backup_bad"] = True  # a drill that could not be carried out refutes nothing
    if record["operation"] == "integrity" and before:
        saved.update(_kept_comparison(record, before))
    write_atomically(path, json.dumps(saved, indent=2) + "\n")
    return saved


def _kept_comparison(record: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries that keep what an earlier comparison found wrong, for a record that neither confirms nor refutes it.

    ``comparison``, and ``compared_at`` (when it was made), while this host is the one that compares. Once another host compares, its metrics
    are the ones that count: ``former_comparison`` has both entries, and only the plans of new members read it.
    """
    own, kept = record.get("comparison") or {}, before.get("comparison") or {}
    # A single voting member sets last_done: there is nothing to compare with.
    if "last_done" in record or own.get("verdict", hashes.UNKNOWN) != hashes.UNKNOWN:
        return {}
    earlier = {"comparison": kept, "compared_at": before.get("compared_at", before["started_at"])}
    former = {"former_comparison": before["former_comparison"]} if before.get("former_comparison") else {}
    found_difference = kept.get("verdict") in (hashes.DIFFER, hashes.UNDECIDED)
    if record["result"] == "skipped":
        return {"former_comparison": earlier} if found_difference else former
    # A member that returns no status does not report its alarms either.
    corrupt = sorted({*kept.get("corrupt", []), *own.get("corrupt", [])})
    if found_difference or (corrupt and not own):
        return {**({} if found_difference else former), **earlier, "comparison": {**kept, "corrupt": corrupt}}
    return {**former, "comparison": {**own, "corrupt": corrupt}} if own else former


def read_record(path: str) -> dict[str, Any] | None:
    """Return the record at ``path``, None if it is missing or invalid."""
    try:
        with open(path, encoding="utf-8") as stream:
            data = json.load(stream)
    except (OSError, ValueError):
        return None
    needed = ("operation", "result", "reason", "started_at", "seconds")
    return data if isinstance(data, dict) and all(name in data for name in needed) else None


def read_records(state_dir: str, cluster: str = "") -> dict[str, dict[str, Any]]:
    """Return the last record of each operation that has run. cluster: leave out the records of other clusters; empty to return all."""
    found = {name: read_record(os.path.join(state_dir, f"{name}.json")) for name in OPERATIONS}
    return {name: record for name, record in found.items() if record is not None and _is_of(record, cluster)}


def _is_of(record: Mapping[str, Any], cluster: str) -> bool:
    """Return whether a record counts for a cluster; one without a cluster does."""
    return not cluster or record.get("cluster", cluster) == cluster


def installed_cluster(path: str = CONFIG_FILE) -> str:
    """Return the name of the cluster in the installed configuration, empty without a valid one."""
    try:
        with open(path, encoding="utf-8") as stream:
            found = json.load(stream)["cluster"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return found if isinstance(found, str) else ""


def format_metrics(
    cluster: str,
    member: str,
    records: Mapping[str, Mapping[str, Any]],
    expiries: Mapping[str, int],
    enabled: Collection[str] = (),
    intervals: Mapping[str, int] | None = None,
) -> str:
    """Return the records, and when certificates expire, in Prometheus' text format, for the node exporter's textfile collector.

    enabled: the operations with a timer. intervals: the longest seconds between two runs of a timer, by operation. Without a record,
    operations have no other metric.
    """
    labels = {"cluster": cluster, "member": member}
    timers = [({**labels, "operation": operation}, 1) for operation in sorted(enabled)]
    lines = format_gauge(ENABLED_METRIC, "Whether the operation has a timer.", timers)
    steps = [({**labels, "operation": operation}, seconds) for operation, seconds in sorted((intervals or {}).items())]
    lines += format_gauge(INTERVAL_METRIC, "The longest time between two runs of the operation's timer.", steps)
    for name, description, value in _GAUGES:
        samples = [({**labels, "operation": operation}, value(record)) for operation, record in sorted(records.items())]
        known = [(labelled, number) for labelled, number in samples if number is not None]
        lines += format_gauge(f"headroom_maintenance_{name}", description, known)
    defrag = (records.get("defrag") or {}).get("last_done")
    if defrag:
        freed = defrag["before"]["size"] - defrag["after"]["size"]
        lines += format_gauge(
            "headroom_defrag_freed_bytes", "Bytes that the last defragmentation freed.", [(labels, freed)]
        )
    backup = (records.get("snapshot") or {}).get("newest_at")
    if backup:
        description = "When the newest backup of the cluster was taken, on any host."
        lines += format_gauge(
            "headroom_backup_newest_timestamp_seconds", description, [(labels, float(parse_utc(backup)))]
        )
    drill = records.get("drill")
    if drill:
        lines += format_gauge(
            "headroom_drill_backup_bad",
            "Whether the last drill that was carried out found the backup damaged or contradicted.",
            [(labels, int(bool(drill.get("backup_bad"))))],
        )
    lines += _integrity_gauges(labels, (records.get("integrity") or {}).get("comparison"))
    if expiries:
        ends = [({**labels, "certificate": name}, time) for name, time in sorted(expiries.items())]
        lines += format_gauge(EXPIRY_METRIC, "When the certificate expires.", ends)
    return "".join(f"{line}\n" for line in lines)


def _integrity_gauges(labels: Mapping[str, str], found: Mapping[str, Any] | None) -> list[str]:
    """Return the result of the last comparison of the members; nothing if another host made it."""
    if not found:
        return []
    suspects = found["hashes"] if found["verdict"] == "undecided" else found["differing"]
    compared = [({**labels, "compared": name}, int(name in suspects)) for name in sorted(found["hashes"])]
    # Records of earlier versions may lack it.
    unknown = found.get("unknown") or {}
    left_out = [({**labels, "compared": name}, int(name in unknown)) for name in sorted({*found["hashes"], *unknown})]
    return [
        *format_gauge(
            "headroom_integrity_differs",
            "Whether the member's keys differ, or may, from those of the majority.",
            compared,
        ),
        *format_gauge(
            "headroom_integrity_not_compared", "Whether the member could not be compared with the others.", left_out
        ),
        *format_gauge(
            "headroom_integrity_corrupt_alarms", "Alarms CORRUPT that are set.", [(labels, len(found["corrupt"]))]
        ),
    ]


def summarize(records: Mapping[str, Mapping[str, Any]], timers: Mapping[str, str]) -> list[str]:
    """Return a line for the last run of each operation, one for what an earlier comparison found wrong, and one for the last run that did something.

    timers: for each operation when its timer elapses next, as text; empty if the timer is inactive.
    """
    lines = []
    for operation in sorted({*records, *timers}):
        record, following = records.get(operation), timers.get(operation) or "off"
        if record is None:
            lines.append(f"{operation:9} has not run yet; next: {following}")
            continue
        reason = record["reason"].rstrip(".")  # the reason of a drill is a sentence
        lines.append(f"{operation:9} {record['result']:7} {record['started_at']}  {reason}; next: {following}")
        kept = record if record.get("compared_at") else record.get("former_comparison")
        if kept:
            lines.append(f"{'':9} {'before':7} {kept['compared_at']}  {_describe_comparison(kept['comparison'])}")
        done = record.get("last_done")
        if done and record["result"] != "done":
            lines.append(f"{'':9} {'before':7} {done['started_at']}  {done['reason']}")
    return lines


def _describe_comparison(found: Mapping[str, Any]) -> str:
    corrupt = f"; the alarm CORRUPT is set for {', '.join(found['corrupt'])}" if found["corrupt"] else ""
    return f"{hashes.describe(found)}{corrupt}"
