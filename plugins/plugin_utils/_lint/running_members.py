# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Describe the members of a running cluster for the linter. Pure.

The input is what module etcd_workload_info returns. Settings that a running member does not report stay unknown, so that no rule guesses them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_count
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import hashes
from ansible_collections.etcdops.headroom.plugins.plugin_utils._conftest.document import build_document
from ansible_collections.etcdops.headroom.plugins.plugin_utils._lint.inspected_members import add_process, process_of


def linter_document(
    measured: Mapping[str, Any],
    comparison: Mapping[str, Any] | None = None,
    processes: Sequence[Mapping[str, Any]] = (),
    backups: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the linter's input, one entry for each member.

    comparison: of the members' hashes, if they were compared; one of another cluster is left out. processes, backups: what etcd_process_info
    returned on the hosts, if it ran.
    """
    members = measured["members"]
    compared = {} if is_of_other_cluster(measured, comparison or {}) else comparison or {}
    path = members[0]["endpoint"] or members[0]["name"]
    peers = ",".join(f"{member['name']}={url}" for member in members for url in member["peer_urls"][:1])
    entries = [_member(member, measured, peers) for member in members]
    for entry, member in zip(entries, members):
        entry["live"].update(_hash(member["name"] or member["id"], compared))
        entry["live"].update(_backup(backups))
        entry["live"].update(_compacted(measured))
        process = process_of(member, processes)
        if process is not None:
            entry.update(add_process(entry, process))
    files = [{"path": path, "contents": {"headroom_member": entry}} for entry in entries]
    return {"headroom_lint": build_document(files)}


def is_of_other_cluster(measured: Mapping[str, Any], comparison: Mapping[str, Any]) -> bool:
    """Return whether the hashes are those of another cluster than the measured one, whose members may have the same names."""
    return len({found["cluster_id"] for found in (measured, comparison) if found.get("cluster_id")}) > 1


def _member(member: Mapping[str, Any], measured: Mapping[str, Any], peers: str) -> dict[str, Any]:
    flags = {
        "name": member["name"],
        "initial-cluster": peers,
        "advertise-client-urls": ",".join(member["client_urls"]),
        "initial-advertise-peer-urls": ",".join(member["peer_urls"]),
        "quota-backend-bytes": member["db_quota"],
    }
    return {
        "name": member["name"] or member["id"],
        "format": "running member",
        "image": None,
        "release": member["version"],
        "command": ["etcd", *(f"--{flag}={value}" for flag, value in flags.items() if value)],
        "environment": {},
        # Without its flags, its memory cannot be estimated, so a limit would be compared with a guess.
        "limit": None,
        "memlock": None,
        "unknown": {},
        "silent": ["extra_config"],
        "where": {},
        "twice": {},
        "workload": dict(measured["etcd_workload"]),
        "kubernetes": bool(measured.get("sample", {}).get("kubernetes")),
        "live": _live(member, _alarms(member, measured)),
    }


def _alarms(member: Mapping[str, Any], measured: Mapping[str, Any]) -> list[str]:
    """Return the alarms of a member, and those of no member or a removed one: etcd refuses writes because of these too."""
    listed = {one["name"] for one in measured["members"]}
    return [one["type"] for one in measured["alarms"] if one["member"] == member["name"] or one["member"] not in listed]


def _live(member: Mapping[str, Any], alarms: list[str]) -> dict[str, dict[str, Any]]:
    """Return the facts for the rules live/*, without figures that the member did not return."""
    figures = {
        "db_size": member["db_size"],
        "db_free": free_bytes(member),
        "quota": member["db_quota"],
        "lag": member["lag"],
    }
    return {
        "alarms": {"name": "alarms", "value": alarms},
        "healthy": {"name": member["problem"] or "healthy", "value": member["healthy"]},
        **_latencies(member),
        **_elections(member),
        **_certificate(member.get("certificate") or {}),
        **{name: {"name": name, "value": value} for name, value in figures.items() if value is not None},
    }


def _fact(name: str, value: Any) -> dict[str, Any]:
    return {"name": name, "value": value}


def _latencies(member: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    found = {"fsync_p99_us": member.get("wal_fsync"), "commit_p99_us": member.get("backend_commit")}
    return {
        fact: _fact(
            f"{format_count(one['samples'])} {'since it started' if one['since_start'] else 'in'} {one['seconds']} s"
            + (" ago" if one["since_start"] else ""),
            one["p99_us"],
        )
        for fact, one in found.items()
        if one
    }


def _elections(member: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the leader changes of the window, those since the start without the first election, and the time since the start."""
    recent, total, uptime = (member.get(name) for name in ("leader_changes", "leader_changes_since_start", "uptime"))
    facts = {}
    if recent is not None:
        facts["leader_changes"] = _fact("leader_changes", recent)
    if total is not None and uptime is not None:
        facts["elections"] = _fact("elections", max(0, total - 1))
        facts["uptime"] = _fact(_rounded(uptime), uptime)
    return facts


def _rounded(seconds: int) -> str:
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"


def _certificate(found: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    if not found or found["days_left"] is None:
        return {}
    names = ", ".join(found["names"]) or "no name"
    if found["valid_from"]:
        return {"certificate_start": _fact(f"the certificate for {names}", found["valid_from"])}
    return {"certificate_days": _fact(f"the certificate for {names} until {found['not_after']}", found["days_left"])}


def _hash(name: str, comparison: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return whether a member's data are those of the majority; nothing if that is unknown."""
    verdict = comparison.get("verdict")
    if verdict == hashes.DIFFER and name in comparison["differing"]:
        return {"same_hash": _fact(hashes.describe(comparison), False)}
    if verdict == hashes.UNDECIDED and name in comparison["hashes"]:
        return {"same_hash": _fact(hashes.describe(comparison), False)}
    return {"same_hash": _fact("same", True)} if name in comparison.get("agreeing", []) else {}


def _compacted(measured: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return whether the cluster was ever compacted. All members have the same compactions; some may not have shown them."""
    revision = max((member.get("compact_revision") or 0 for member in measured["members"]), default=0)
    return {"compacted": _fact("compacted", True)} if revision > 0 else {}


def _backup(backups: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the newest backup on any host, or where there is none; nothing if no directory could be read."""
    found = [(one["age"], f"{one['path']} on {one['hostname']}") for one in backups if one["age"] is not None]
    if found:
        age, name = min(found)
        return {"backup_hours": _fact(name, age // 3600)}
    searched = [f"{one['directory']} on {one['hostname']}" for one in backups if not one["problem"]]
    return {"backup_missing": _fact(", ".join(searched), True)} if searched else {}


def free_bytes(member: Mapping[str, Any]) -> int | None:
    """Return the bytes of free pages in a member's database, None if it did not return them."""
    size, used = member["db_size"], member["db_size_in_use"]
    return None if size is None or used is None else int(size - used)
