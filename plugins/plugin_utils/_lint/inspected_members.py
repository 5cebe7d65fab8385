# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Add the processes on the members' hosts to the members' descriptions for the linter. Pure.

The input is what module etcd_process_info returns. A member whose process was read has no unknown settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

# These may have changed since the member joined; the cluster has the current values.
_MEASURED = "initial-cluster"
_OF_GO = ("GOGC", "GOMEMLIMIT")
_LIMIT = "the memory limit of its control group"


def process_of(member: Mapping[str, Any], processes: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the process of a member: that with its name, and of several that with its client URLs; None if it is not clear."""
    named = [one for one in processes if one["name"] == member["name"]]
    addressed = [one for one in named or processes if set(one["client_urls"]) & set(member["client_urls"])]
    chosen = addressed or (named if len(named) == 1 else [])
    return chosen[0] if len(chosen) == 1 else None


def add_process(entry: dict[str, Any], process: Mapping[str, Any]) -> dict[str, Any]:
    """Return a member's description with the settings, the limit and the condition of its process."""
    live = {**entry["live"], **_facts(process)}
    limit = process["memory"]["memory_limit"]
    added = {"live": live, "limit": {"name": _LIMIT, "size": str(limit)} if limit else None}
    if process["problem"]:
        return {**entry, **added}
    measured = [word for word in entry["command"] if word.startswith(f"--{_MEASURED}=")]
    if process["config_file"]:
        config = _parsed(process["config"])
        if config is None:
            return {**entry, **added}
        environment = {name: value for name, value in process["environment"].items() if name in _OF_GO}
        peers = dict(word[2:].split("=", 1) for word in measured)
        return {
            **entry,
            **added,
            "command": ["etcd"],
            "environment": environment,
            "config": {**config, **peers},
            "silent": [],
        }
    environment = {name: value for name, value in process["environment"].items() if name != "ETCD_INITIAL_CLUSTER"}
    command = ["etcd", *_without(process["command"][1:], _MEASURED), *measured]
    return {**entry, **added, "command": command, "environment": environment, "silent": []}


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        return None
    return found if isinstance(found, dict) else None


def _without(words: Sequence[str], dropped: str) -> list[str]:
    """Return a command line without a flag and its value."""
    kept = []
    flag = ""
    for word in words:
        if word.startswith("-"):
            flag = word.lstrip("-").partition("=")[0]
        if flag != dropped:
            kept.append(word)
    return kept


def _facts(process: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    memory = process["memory"]
    facts = {"anonymous": memory["rss_anon"], "oom_kills": memory["oom_kills"], "memory_limit": memory["memory_limit"]}
    disk = process["disks"].get("data")
    if disk:
        facts.update(disk_size=disk["size"], disk_free=disk["free"])
    described = {name: {"name": name, "value": value} for name, value in facts.items() if value is not None}
    if disk:
        described["disk_free"]["name"] = disk["path"]
    files = [
        {"path": one["path"], "days": one["days_left"], "until": one["not_after"], "from": one["valid_from"]}
        for one in process["certificates"]
        if one["days_left"] is not None
    ]
    return {**described, "certificate_files": {"name": "certificate_files", "value": files}} if files else described
