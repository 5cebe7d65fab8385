# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a plan: the input with its assumptions, etcd's default flags and the planned ones, and the reasons.

Private to the collection. Pure: plain data in, lines out; bad input raises ValueError.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB, format_size, pluralize, round_up
from ansible_collections.etcdops.headroom.plugins.module_utils._model.inputs import WORKLOAD
from ansible_collections.etcdops.headroom.plugins.module_utils._model.release_tables import SETTINGS
from ansible_collections.etcdops.headroom.plugins.module_utils._model.releases import newest_release
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.for_release import (
    estimate_for_release,
    plan_for_release,
    resolve_release,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.plan import Budgets, budgets
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.remedies import LIMITS
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.texts import (
    component_rows,
    note_lines,
    table,
    workload_value,
)

MEMBERS = 3
ASSUMED = "assumed"
# Where a flag comes from, in words.
_SOURCES = {"computed": "plan", "pinned": "yours", "default": "default"}


class Report(NamedTuple):
    """The content of a report: the plan, the estimate for etcd's default flags, and what was assumed outside the workload."""

    plan: dict[str, Any]
    defaults: dict[str, Any]
    assumed: list[str]
    budgets: Budgets | None


def prepare(
    version: Any = None,
    workload: Any = None,
    members: Any = None,
    budget: Any = None,
    settings: Any = None,
    volume_size: Any = None,
    unknown_version: str = "refuse",
    db_size: int = 0,
) -> Report:
    """Return the report for a cluster; None stands for an assumed value.

    Without a budget the report proposes the smallest one that trades nothing away. db_size and errors: as of plan_for_release().
    """
    asked = {"version": version, "members": members, "budget": budget}
    assumed = [name for name, value in asked.items() if value is None]
    version = newest_release() if version is None else version
    members = MEMBERS if members is None else members
    workload = {} if workload is None else workload
    release, _notes = resolve_release(version, unknown_version)
    proposed = None
    if budget is None:
        proposed = budgets(release, workload, members, settings, volume_size, db_size)
        budget = proposed.without_trade_offs
    found = plan_for_release(version, workload, members, budget, settings, volume_size, unknown_version, db_size)
    # The defaults ignore the user's settings, but for the one that decides whether etcd accepts such a put.
    own = {"max_request_bytes": found["estimate"]["settings"]["max_request_bytes"]}
    return Report(found, estimate_for_release(version, workload, own, members, unknown_version), assumed, proposed)


def title(report: Report) -> str:
    """Return the headline."""
    found = report.plan
    members = found["members"]

    def mark(name: str) -> str:
        return f" ({ASSUMED})" if name in report.assumed else ""

    return (
        f"etcd {found['version']}{mark('version')}, {pluralize(members, 'member')}"
        f"{mark('members')}, a memory budget of {format_size(found['budget'])}{mark('budget')} for each"
    )


def summary(report: Report) -> list[str]:
    """Return the summary of the plan, in sentences."""
    found, texts = report.plan, []
    limits = [
        f"{flag['name']} ({flag['text']})"
        for flag in found["flags"]
        if flag["source"] == "pinned" and flag["name"] in LIMITS
    ]
    if report.budgets is not None and limits:
        texts.append(f"No budget was given: {format_size(found['budget'])} suits your {' and '.join(limits)}.")
    elif report.budgets is not None:
        texts.append(_proposal(found, report.budgets))
    own = _largest_need(report.defaults)
    over = own - found["memory_max"]
    verdict = f", {format_size(over)} more than MemoryMax" if over > 0 else ", which fits MemoryMax too"
    texts.append(
        f"With etcd's default flags a member needs up to {format_size(own)}{verdict}; with these flags {_planned_need(found)}."
    )
    growth = [note for note in report.defaults["notes"] if note.startswith("compaction is off")]
    texts += [f"With the default flags, too, {note}." for note in growth]
    return texts


def _largest_need(figures: dict[str, Any]) -> int:
    """Return the MemoryMax that a member needs at its largest peak."""
    return int(max(figures["memory_max_least"], figures["memory_max_with_snapshot"]))


def _planned_need(found: dict[str, Any]) -> str:
    """Return what a member needs with the planned flags, as a phrase. The smallest budgets have no room for a leader that sends a snapshot."""
    least, most = found["estimate"]["memory_max_least"], _largest_need(found["estimate"])
    over = most - found["memory_max"]
    if most == least or over <= 0:
        return f"up to {format_size(most)}"
    more = f"{format_size(over)} more than MemoryMax"
    return f"up to {format_size(least)}, but a leader up to {format_size(most)}, {more}, while a follower receives a snapshot"


def _proposal(found: dict[str, Any], proposed: Budgets) -> str:
    """Return why the plan proposes its budget. Pinned settings, and what a single member has no use for, are left out."""
    budget = f"No budget was given: {format_size(proposed.without_trade_offs)} is, rounded up, the smallest budget"
    if proposed.without_trade_offs == round_up(proposed.minimum):
        return f"{budget} that fits."
    pinned = {flag["name"] for flag in found["flags"] if flag["source"] == "pinned"}
    reasons = []
    if found["members"] > 1 and "snapshot_catchup_entries" not in pinned:
        reasons.append("followers may miss 30 s of writes")
    if "gogc" not in pinned:
        reasons.append("Go's garbage collector has headroom")
    reasons.append("the whole database stays in memory")
    *others, last = reasons
    comma = "," if len(others) > 1 else ""
    joined = f"{', '.join(others)}{comma} and {last}" if others else last
    return f"{budget} at which {joined}. A smaller budget trades something away, and below {_whole_mib(proposed.minimum)} nothing fits."


def _whole_mib(size: int) -> str:
    """Return a size of whole MiB exactly."""
    return format_size(size) if round_up(size) == size else f"{size // MIB} MiB"


def workload_rows(report: Report) -> list[tuple[str, ...]]:
    """Return the table of the workload, its header first; what was assumed is marked."""
    figures = report.plan["estimate"]
    rows: list[tuple[str, ...]] = [("workload", "", "", "")]
    for name, value in figures["workload"].items():
        if value is not None:
            mark = ASSUMED if name in figures["assumed"] else ""
            rows.append((name, workload_value(name, value), mark, WORKLOAD[name]["text"]))
    return rows


def flag_rows(report: Report) -> list[tuple[str, ...]]:
    """Return the table of flags, its header first."""
    rows: list[tuple[str, ...]] = [("flag", "value", "from", "why")]
    rows += [(flag["name"], flag["text"], _SOURCES[flag["source"]], flag["reason"]) for flag in report.plan["flags"]]
    return rows


def memory_rows(report: Report) -> list[tuple[str, ...]]:
    """Return the table of memory, with etcd's default flags and with the planned ones, its header first."""
    own, planned = report.defaults, report.plan["estimate"]
    labels = [
        ("heap_live", "live heap", "what is in use at the peak"),
        ("rss_anon_peak", "peak, running", "RssAnon: heap with garbage, stacks; not reclaimable"),
        ("restart_rss_anon_peak", "peak, after a restart", "RssAnon while the write-ahead log is replayed into memory"),
        ("follower_snapshot_rss_anon_peak", "peak, leader", "RssAnon while a follower receives a snapshot"),
        ("outside_go", "outside Go", "hot pages of the database, the program, kernel memory"),
        (
            "memory_max_least",
            "MemoryMax needed",
            "the larger of the first two peaks plus outside Go, with 5 % of margin",
        ),
        ("memory_max_with_snapshot", "MemoryMax, leader", "the same with the leader's peak"),
        ("defrag_rss_anon_peak", "defragmenting", "RssAnon, briefly; not part of MemoryMax"),
        ("db_size", "database file", "the page cache takes what MemoryMax leaves"),
    ]
    rows: list[tuple[str, ...]] = [("memory of a member", "etcd's defaults", "this plan", "")]
    rows += [(label, format_size(own[name]), format_size(planned[name]), why) for name, label, why in labels]
    rows.append(("MemoryHigh", "", format_size(report.plan["memory_high"]), "above it the kernel reclaims pages"))
    rows.append(("MemoryMax", "", format_size(report.plan["memory_max"]), "above it the kernel kills the member"))
    return rows


def largest_first(figures: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the components that take anything, the largest first; those of the heap, which are always there, before the others."""
    parts = [part for part in figures["components"] if part["high"] > 0]
    return sorted(parts, key=lambda part: (part["kind"] not in ("heap", "spike"), -part["high"]))


def copy_lines(report: Report) -> list[str]:
    """Return the flags as etcd's command line and the unit take them."""
    found = report.plan
    series = found["estimate"]["series"]
    flags = [
        f"--{SETTINGS[name][series]['flag']}={str(value).lower() if isinstance(value, bool) else value}"
        for name, value in found["settings"].items()
    ]
    unit = [f"Environment={name}={value}" for name, value in found["environment"].items()]
    for name, value in (("MemoryHigh", found["memory_high"]), ("MemoryMax", found["memory_max"])):
        unit.append(f"{name}={value // MIB}M" if value % MIB == 0 else f"{name}={value}")
    if found["settings"].get("memory_mlock"):
        # systemd's default is 8 MiB.
        unit.append("LimitMEMLOCK=infinity")
    return [*flags, *unit]


def text_lines(report: Report) -> list[str]:
    """Return all of it as lines of text."""
    lines = [title(report), *(line for text in summary(report) for line in table([(text,)]))]
    figures = report.plan["estimate"]
    lines += ["", *indented(table(workload_rows(report), (1,)))]
    lines += ["", *indented(table(flag_rows(report), (1,)))]
    lines += ["", *indented(table(memory_rows(report), (1, 2)))]
    lines += ["", "  what this plan's memory goes to"]
    lines += indented(table(component_rows(figures, largest_first(figures)), (1, 2)))
    lines += ["", "  for etcd's command line and its unit"]
    lines += indented(copy_lines(report))
    notes = report.plan["notes"]
    return lines + (["", *indented(note_lines(notes))] if notes else [])


def indented(lines: list[str]) -> list[str]:
    """Return lines moved to the right of the headline."""
    return [f"  {line}" for line in lines]
