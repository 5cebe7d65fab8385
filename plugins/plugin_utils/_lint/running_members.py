# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Describe the members of a running cluster to the linter. Pure.

The input is what module etcd_workload_info returns. Settings that a running member does not state stay unknown, so that no rule guesses them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def linter_document(measured: Mapping[str, Any]) -> dict[str, Any]:
    """Return the linter's input, one entry for each member."""
    members = measured["members"]
    path = members[0]["endpoint"] or members[0]["name"]
    peers = ",".join(f"{member['name']}={url}" for member in members for url in member["peer_urls"][:1])
    files = [{"path": path, "contents": {"headroom_member": _member(member, measured, peers)}} for member in members]
    return {"headroom_lint": {"files": files, "lines": {}, "unparsed": {}, "translated": {}}}


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
        "live": _live(member, measured["alarms"]),
    }


def _live(member: Mapping[str, Any], alarms: list[Mapping[str, str]]) -> dict[str, dict[str, Any]]:
    """Return the facts that the rules live/* judge. A figure that the member did not return is left out."""
    figures = {
        "db_size": member["db_size"],
        "db_free": free_bytes(member),
        "quota": member["db_quota"],
        "lag": member["lag"],
    }
    return {
        "alarms": {"name": "alarms", "value": [one["type"] for one in alarms if one["member"] == member["name"]]},
        "healthy": {"name": member["problem"] or "healthy", "value": member["healthy"]},
        **{name: {"name": name, "value": value} for name, value in figures.items() if value is not None},
    }


def free_bytes(member: Mapping[str, Any]) -> int | None:
    """Return the bytes of free pages in a member's database, None if it did not return them."""
    size, used = member["db_size"], member["db_size_in_use"]
    return None if size is None or used is None else int(size - used)
