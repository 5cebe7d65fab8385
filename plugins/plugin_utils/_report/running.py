# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a running cluster as etcd_workload_info measured it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._lint.running_members import free_bytes
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.layout import NONE, Row, table_lines
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.member import size


def state_lines(measured: Mapping[str, Any]) -> list[str]:
    """Return the number of healthy members, the leader, and the table of members."""
    members = measured["members"]
    healthy = sum(1 for member in members if member["healthy"])
    title = f"etcd cluster: {healthy} of {len(members)} members healthy, leader {measured['leader'] or 'unknown'}"
    rows: list[Row] = [("member", "version", "role", "health", "db size", "free", "quota", "RSS")]
    rows += [
        (
            member["name"] or member["id"],
            member["version"] or NONE,
            member["role"],
            "healthy" if member["healthy"] else "UNHEALTHY",
            size(member["db_size"]),
            size(free_bytes(member)),
            size(member["db_quota"]),
            size(member["resident_memory"]),
        )
        for member in members
    ]
    return [title, "", *table_lines(rows)]
