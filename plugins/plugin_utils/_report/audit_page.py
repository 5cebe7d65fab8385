# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Format the end of an audit as text: measured and planned memory, and the planned settings for the files of this cluster. Pure.

Without any plan the planned columns and settings are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._lint.inspected_members import process_of
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.audit_plans import (
    MembersPlan,
    has_plan,
    member_name,
    plan_of,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.layout import NONE, Row, table_lines
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.member import size
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.planned_flags import planned_lines

Process = Mapping[str, Any]


def memory_rows(measured: Mapping[str, Any], processes: Sequence[Process], plans: Sequence[MembersPlan]) -> list[Row]:
    """Return the table of measured and planned memory, its header first. RssAnon and the limit are known of inspected processes only."""
    header: Row = ("planned RssAnon", "after a restart", "MemoryMax") if has_plan(plans) else ()
    rows: list[Row] = [("member", "RssAnon", "peak RSS", "limit", *header)]
    for member in measured["members"]:
        process = process_of(member, processes)
        memory = process["memory"] if process else {}
        rows.append(
            (
                member_name(member),
                size(memory.get("rss_anon")),
                size(memory.get("rss_peak") or member["resident_memory"]),
                size(memory.get("memory_limit")),
                *(_planned_cells(plan_of(member, plans)) if header else ()),
            )
        )
    return rows


def _planned_cells(plan: Mapping[str, Any] | None) -> Row:
    if plan is None:
        return (NONE, NONE, NONE)
    estimate = plan["estimate"]
    return size(estimate["rss_anon_peak"]), size(estimate["restart_rss_anon_peak"]), size(plan["memory_max"])


def setting_lines(measured: Mapping[str, Any], processes: Sequence[Process], plans: Sequence[MembersPlan]) -> list[str]:
    """Return the planned settings for the files of the inspected members, once for members whose lines are the same."""
    members: dict[tuple[str, ...], list[str]] = {}
    for member in measured["members"]:
        process, plan = process_of(member, processes), plan_of(member, plans)
        if process is not None and plan is not None:
            members.setdefault(tuple(planned_lines(plan, process)), []).append(member_name(member))
    lines = []
    for planned, names in members.items():
        lines += ["", f"  planned settings for {', '.join(names)}", *(f"  {line}" for line in planned)]
    return lines


def page_lines(measured: Mapping[str, Any], processes: Sequence[Process], plans: Sequence[MembersPlan]) -> list[str]:
    """Return the end of the audit's text."""
    title = "measured and planned memory" if has_plan(plans) else "measured memory"
    lines = [f"  {title}", *table_lines(memory_rows(measured, processes, plans))]
    return lines + setting_lines(measured, processes, plans)


def backup_lines(backups: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the newest backup on any host."""
    found = sorted((one["age"], one["path"], one["hostname"]) for one in backups if one["age"] is not None)
    return [f"  newest backup: {path} on {host}, {age // 3600} hours old" for age, path, host in found[:1]]
