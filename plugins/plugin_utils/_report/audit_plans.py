# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan the memory of a running cluster for its measured workload, once for each series of its members. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.report import Report, prepare, text_lines
from ansible_collections.etcdops.headroom.plugins.plugin_utils._lint.inspected_members import process_of
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.kept_settings import kept_settings

Member = Mapping[str, Any]
Process = Mapping[str, Any]


@dataclass(frozen=True)
class MembersPlan:
    """The plan for the members of one series. members: their names; report: None without a plan, for the reason in ``problem``."""

    members: tuple[str, ...]
    report: Report | None
    problem: str = ""

    @property
    def plan(self) -> dict[str, Any] | None:
        """The plan, as etcd_memory_plan returns it; None if there is none."""
        return self.report.plan if self.report else None


def member_name(member: Member) -> str:
    """Return how an audit names a member: one that never started has an id only."""
    return str(member["name"] or member["id"])


def plan_members(measured: Mapping[str, Any], processes: Sequence[Process], budget: Any) -> list[MembersPlan]:
    """Return one plan for each series of the members, the newest first, and one without a report for members of an unknown release.

    measured: as etcd_workload_info returns it. processes: as etcd_process_info returns them. budget: bytes, or with a unit;
    None for the smallest without trade-offs.
    """
    members = measured["members"]
    series: dict[tuple[int, ...], list[Member]] = {}
    for member in members:
        if member["version"]:
            series.setdefault(_numbers(member["version"])[:2], []).append(member)
    plans = [_plan(series[key], measured, processes, budget) for key in sorted(series, reverse=True)]
    unknown = [member for member in members if not member["version"]]
    if unknown:
        plans.append(MembersPlan(tuple(map(member_name, unknown)), None, _unknown_release(unknown)))
    return plans


def has_plan(plans: Sequence[MembersPlan]) -> bool:
    """Return whether there is a plan for any member."""
    return any(one.report for one in plans)


def plan_of(member: Member, plans: Sequence[MembersPlan]) -> dict[str, Any] | None:
    """Return the plan for a member, None if there is none."""
    return next((one.plan for one in plans if member_name(member) in one.members), None)


def plan_lines(plans: Sequence[MembersPlan]) -> list[str]:
    """Return the plans as text, each below the names of its members if there are several."""
    if len(plans) == 1 and plans[0].report:
        return text_lines(plans[0].report)
    lines: list[str] = []
    for one in plans:
        if one.report:
            lines += [f"the plan for {', '.join(one.members)}", "", *text_lines(one.report), ""]
    return [*lines, *no_plan_lines(plans)]


def no_plan_lines(plans: Sequence[MembersPlan]) -> list[str]:
    """Return a line for each group of members without a plan, with the reason."""
    several = len(plans) > 1
    return [
        f"no plan{' for ' + ', '.join(one.members) if several else ''}: {one.problem}"
        for one in plans
        if not one.report
    ]


def _numbers(version: str) -> tuple[int, ...]:
    """Return a release number as integers that compare; none of a malformed one, which is a series of its own."""
    parts = version.split(".")
    return tuple(int(part) for part in parts) if all(part.isdigit() for part in parts) else ()


def _unknown_release(members: Sequence[Member]) -> str:
    reasons = [
        f"{member_name(member)}: {member['problem'] or 'its status and its metrics lack it'}" for member in members
    ]
    return f"the release could not be read, and settings have other names in other releases ({'; '.join(reasons)})"


def _plan(
    members: Sequence[Member], measured: Mapping[str, Any], processes: Sequence[Process], budget: Any
) -> MembersPlan:
    """Plan for members of one series, for the size of the whole cluster and its largest database.

    The plan is for the oldest of their patch releases, because a setting of a later one may be unknown to it.
    """
    names = tuple(map(member_name, members))
    everyone = measured["members"]
    matched = [process for member in everyone if (process := process_of(member, processes)) is not None]
    version = min((member["version"] for member in members), key=_numbers)
    kept = kept_settings(version, measured["etcd_workload"], matched)
    file = max((member["db_size"] or 0 for member in everyone), default=0)
    prepared = partial(
        prepare,
        version,
        measured["etcd_workload"],
        len(everyone),
        budget or None,
        kept.settings,
        volume_size=_smallest_volume(matched),
        unknown_version="newest",
    )
    try:
        report = prepared(db_size=file)
    except ValueError as error:
        return MembersPlan(names, None, " ".join([str(error), *_defragment_first(prepared, everyone, file)]))
    notes = [] if file else ["no member returned the size of its database: compare it with the quota before you set it"]
    shown = {name: value for name, value in report.plan["settings"].items() if name not in kept.hidden}
    plan = {**report.plan, "settings": shown, "notes": [*notes, *kept.notes, *report.plan["notes"]]}
    return MembersPlan(names, report._replace(plan=plan))


def _smallest_volume(processes: Sequence[Process]) -> int | None:
    """Return the bytes of the smallest volume of the data among the inspected members, None if none is known."""
    sizes = [process["disks"].get("data", {}).get("size") for process in processes]
    return min((size for size in sizes if size), default=None)  # some network filesystems report 0


def _defragment_first(prepared: Callable[..., Report], members: Sequence[Member], file: int) -> list[str]:
    """Return the advice to defragment if only the free pages of a database file of this many bytes prevent the plan."""
    used = [member["db_size_in_use"] for member in members if member["db_size_in_use"] is not None]
    if not used:
        return []
    try:
        prepared(db_size=max(used))
    except ValueError:
        return []
    free = format_size(file - max(used))
    return [
        f"{free} of the database file of {format_size(file)} are free: defragment the members first, and audit again."
    ]
