# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the effective settings of a running etcd, and compare them with the requested ones. Pure.

Settings are named like etcd 3.7's flags, with underscores. Source: ``print`` in server/embed/etcd.go of 3.5.35, 3.6.16
and 3.7.3, which logs the line "starting an etcd server" with the names below and durations in Go's form ("30m0s").
"""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.durations import (
    HOUR,
    parse_go_duration,
    shorten_duration,
)

# Names in the log line that differ from the flag's.
LOG_NAMES = {
    "corrupt_check_time_interval": "corrupt_check_time",
    "compact_check_time_interval": "compact_hash_check_time",
    "compact_check_time_enabled": "compact_hash_check_enabled",
    "downgrade_check_interval": "downgrade_check_time",
    "experimental_local_address": "local_address",
}
# Fields of the log line that are not settings, or repeat one.
NOT_SETTINGS = (
    "level", "ts", "caller", "msg", "etcd_version", "git_sha", "go_version", "go_os", "go_arch", "max_cpu_set",
    "max_cpu_available", "member_initialized", "wal_dir_dedicated", "member_dir", "auto_compaction_interval",
)  # fmt: skip
# Used only to form the cluster: etcd neither reads nor logs them once its data directory holds a member.
BOOTSTRAP = ("initial_cluster", "initial_cluster_state", "initial_cluster_token")
LISTS = (
    "initial_cluster", "listen_client_urls", "listen_peer_urls", "listen_metrics_urls", "advertise_client_urls",
    "initial_advertise_peer_urls", "cors", "host_whitelist",
)  # fmt: skip
MILLISECONDS = ("heartbeat_interval", "election_timeout")
DURATIONS = ("corrupt_check_time", "compact_hash_check_time", "downgrade_check_time")
RETENTION = "auto_compaction_retention"
MODE = "auto_compaction_mode"
QUOTA = "quota_backend_bytes"
DEFAULT_QUOTA = 2 * 1024**3  # storage.DefaultQuotaBytes: the meaning of a quota of 0 in every version


def effective_settings(record: dict[str, Any]) -> dict[str, Any]:
    """Return the settings in etcd's start line, by canonical name.

    Heartbeat interval and election timeout are integers in milliseconds. The retention is a duration in periodic mode
    and a number of revisions in revision mode, which etcd stores as that many nanoseconds. Raises ValueError.
    """
    settings: dict[str, Any] = {}
    for key, value in record.items():
        name = key.replace("-", "_")
        name = LOG_NAMES.get(name, name)
        if name not in NOT_SETTINGS and not (record.get("member-initialized") and name in BOOTSTRAP):
            settings[name] = value
    for name in MILLISECONDS:
        if name in settings:
            settings[name] = parse_go_duration(settings[name]) // 10**6
    for name in DURATIONS:
        if name in settings and isinstance(settings[name], str):
            settings[name] = shorten_duration(settings[name])
    if RETENTION in settings:
        nanoseconds = parse_go_duration(settings[RETENTION])
        revision = settings.get(MODE) == "revision"
        settings[RETENTION] = nanoseconds if revision else shorten_duration(settings[RETENTION])
    return settings


def compare_settings(asked: dict[str, Any], effective: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """Compare the requested settings with the effective ones.

    Returns the differences ({setting, asked, effective}) and the names of settings that etcd does not log, which cannot
    be compared. Neither can settings that form the cluster: those of a member that has not restarted since are from then.
    A requested value of None is ignored. Raises ValueError for a value of the wrong type.
    """
    differences, unstated = [], []
    for name in sorted(asked):
        if asked[name] is None:
            continue
        if name not in effective:
            unstated.append(name)
        elif _normal(name, asked[name], asked) == _normal(name, effective[name], effective):
            continue
        elif name in BOOTSTRAP:
            unstated.append(name)
        else:
            differences.append({"setting": name, "asked": asked[name], "effective": effective[name]})
    return differences, unstated


def _normal(name: str, value: Any, settings: dict[str, Any]) -> Any:
    """Return a value in the form that etcd uses internally."""
    if name == RETENTION:
        return _retention(value, str(settings.get(MODE, "periodic")))
    if name == QUOTA:
        return _integer(name, value) or DEFAULT_QUOTA
    if name == "election_timeout":
        # etcd rounds it down to a multiple of the heartbeat interval, and logs the result.
        heartbeat = _integer("heartbeat_interval", settings.get("heartbeat_interval") or 100)
        return _integer(name, value) // heartbeat * heartbeat
    if name in DURATIONS:
        return parse_go_duration(str(value))
    if name in LISTS:
        return sorted(value.split(",") if isinstance(value, str) else value)
    if isinstance(value, (bool, list, dict)):
        return value
    text = str(value)
    return int(text) if re.fullmatch(r"-?\d+", text) else {"true": True, "false": False}.get(text.lower(), text)


def _retention(value: Any, mode: str) -> int:
    """Return nanoseconds or, in revision mode, revisions. An integer without a unit in periodic mode is hours."""
    text = str(value)
    if mode == "revision":
        return _integer(RETENTION, value)
    if text.isdigit():
        return int(text) * HOUR
    return parse_go_duration(text)


def _integer(name: str, value: Any) -> int:
    text = str(value)
    if not re.fullmatch(r"-?\d+", text):
        raise ValueError(f"{name}: {value!r} is not an integer")
    return int(text)
