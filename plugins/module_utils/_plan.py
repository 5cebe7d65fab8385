# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The flags that hold a workload to a memory budget, each with its reason.

Private to the collection. Pure: bad input raises ValueError. How they are found: _plan_search.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._memory import MIB, divide_up
from ansible_collections.etcdops.headroom.plugins.module_utils._model import SERIES, SETTINGS
from ansible_collections.etcdops.headroom.plugins.module_utils._plan_search import (
    EASY,
    FREE,
    Case,
    Choice,
    compaction,
    default_of,
    least_need,
    needs,
    overfull,
    search,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._releases import version_key
from ansible_collections.etcdops.headroom.plugins.module_utils._units import format_count, format_size, parse_size
from ansible_collections.etcdops.headroom.plugins.module_utils._workload import BadInput, read

# Below this nothing is worth planning.
LEAST_BUDGET = 64 * MIB


class PlanInfeasible(ValueError):
    """No flags hold the workload to the budget; the text says by how much, and what would."""


def plan(version: Any, workload: Any, members: Any, budget: Any, settings: Any = None) -> dict[str, Any]:
    """Return the flags that hold the workload to the budget, each with its reason.

    settings: those that the user gives; they win, and their cost is shown. budget: bytes, or with a unit.
    Raises BadInput, UnknownVersion or PlanInfeasible.
    """
    given = {name: value for name, value in ({} if settings is None else settings).items() if value is not None}
    full, effective, assumed = read(version, workload, given, members)
    amount = parse_size(budget, "the memory budget")
    pinned = {name: effective[name] for name in given}
    if amount < LEAST_BUDGET:
        raise BadInput(f"the memory budget is {format_size(amount)}: etcd alone needs {format_size(LEAST_BUDGET)}")
    for name in ("memory_max", "memory_high", "gomemlimit"):
        if pinned.get(name, 0) > amount:
            raise BadInput(
                f"settings.{name} ({format_size(pinned[name])}) is above the memory budget ({format_size(amount)}): "
                f"raise the budget, or leave {name} to the plan"
            )
    case = Case(version, full, members, pinned, amount)
    choice = search(case)
    if choice is None:
        raise PlanInfeasible(explain(case))
    return describe(case, choice, assumed)


def explain(case: Case) -> str:
    """Say why nothing fits, by how much, and what would fit."""
    base = {**case.pinned, **compaction(case)}
    crowded = overfull(case, base)
    if crowded is None:
        needed = least_need(case)
        text = (
            f"no flags hold this workload to {format_size(case.memory_max)}: with the smallest that are sound "
            f"etcd {case.version} needs {format_size(needed)}, {format_size(max(needed - case.memory_max, 0))} more"
        )
    else:
        text = f"no flags hold this workload: {crowded}"
    remedies = list(remedies_of(case))[:3]
    return f"{text}. What would fit: {'; or '.join(remedies)}." if remedies else f"{text}."


def remedies_of(case: Case) -> Iterator[str]:
    """Yield the smallest changes that make it fit, the cheapest first."""
    for name, value in case.pinned.items():
        without = {other: kept for other, kept in case.pinned.items() if other != name}
        if search(case._replace(pinned=without)) is not None:
            yield f"leave {name} ({shown(name, value)}) to the plan"
    enough = enough_memory(case)
    if enough is not None:
        yield f"a memory budget of {format_size(enough)}"
    for parts in case.rules["splits"]:
        work = case.workload
        smaller = {**work, "value_size": divide_up(work["value_size"], parts), "keys": work["keys"] * parts}
        if search(case._replace(workload=smaller)) is not None:
            yield (
                f"each value split into {parts} keys of which a write changes one "
                f"(value_size {format_size(smaller['value_size'])}, keys {format_count(smaller['keys'])})"
            )
            break
    newest = list(SERIES.values())[-1]["newest"]
    if version_key(case.version) < version_key(newest) and search(case._replace(version=newest)) is not None:
        yield f"etcd {newest}"
    for name, text in (("keys", "live keys"), ("puts_per_second", "puts per second")):
        fewer = case.workload[name]
        while fewer > 1:
            fewer = fewer * 4 // 5
            if search(case._replace(workload={**case.workload, name: fewer})) is not None:
                yield f"at most {format_count(fewer)} {text}"
                break


def enough_memory(case: Case) -> int | None:
    """Return the least budget that fits, in whole 64 MiB, or None where memory is not what is missing."""
    pinned = {
        name: value for name, value in case.pinned.items() if name not in ("memory_max", "memory_high", "gomemlimit")
    }
    step = 64 * MIB
    low, high = 0, 1
    while search(case._replace(budget=high * step, pinned=pinned)) is None:
        low, high = high, high * 2
        if high * step > 1 << 44:  # 16 TiB
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if search(case._replace(budget=middle * step, pinned=pinned)) is None:
            low = middle
        else:
            high = middle
    return high * step


def shown(name: str, value: Any) -> str:
    """Return a setting's value as a person reads it."""
    if name in ("quota_backend_bytes", "max_request_bytes", "gomemlimit", "memory_high", "memory_max") and value > 0:
        return format_size(value)
    return format_count(value) if isinstance(value, int) and not isinstance(value, bool) else str(value)


def go_size(size: int) -> str:
    """Return a size as GOMEMLIMIT takes it."""
    return f"{size // MIB}MiB" if size % MIB == 0 else f"{size}B"


def describe(case: Case, choice: Choice, assumed: list[str]) -> dict[str, Any]:
    """Return the plan in the shape that the module documents."""
    chosen = choice.settings
    names = ["snapshot_count", "snapshot_catchup_entries", "quota_backend_bytes", "auto_compaction_mode"]
    names += [
        "auto_compaction_retention",
        *(name for name in ("max_request_bytes", "memory_mlock") if name in case.pinned),
    ]
    environment = {}
    if chosen.get("gogc", 100) != 100 or "gogc" in case.pinned:
        environment["GOGC"] = str(chosen["gogc"])
    if chosen.get("gomemlimit") is not None:
        environment["GOMEMLIMIT"] = go_size(chosen["gomemlimit"])
    return {
        "version": case.version,
        "members": case.members,
        "budget": case.budget,
        "settings": {name: chosen[name] for name in names},
        "environment": environment,
        "memory_high": case.memory_high,
        "memory_max": case.memory_max,
        "estimate": {**choice.figures, "assumed": assumed},
        "flags": flags(case, choice),
        "notes": choice.figures["notes"],
    }


def flags(case: Case, choice: Choice) -> list[dict[str, Any]]:
    """Return every flag with its value, what it looks like, its reason and where it comes from."""
    rows = []
    for name, reason in reasons(case, choice).items():
        value = choice.settings[name]
        source = "computed"
        if name in case.pinned:
            source, reason = "pinned", pinned_cost(case, choice, name)
        elif name in SETTINGS and value == default_of(case, name):
            source = "default"
        rows.append({"name": name, "value": value, "text": shown(name, value), "reason": reason, "source": source})
    return rows


def reasons(case: Case, choice: Choice) -> dict[str, str]:
    """Return the flags to be shown, in order, with why they are what they are."""
    chosen, figures, work = choice.settings, choice.figures, case.workload
    writes = work["puts_per_second"]
    catchup, snapshot = chosen["snapshot_catchup_entries"], chosen["snapshot_count"]
    span = f"{format_count(catchup // writes)} s of writes" if writes else "no writes"
    follower = "for followers that fall behind" if case.members > 1 else "a single member needs few"
    peak = format_size(figures["restart_rss_anon_peak"])
    often = (
        f"a disk snapshot each {format_count(max(snapshot // writes, 1))} s"
        if writes
        else "a disk snapshot now and then"
    )
    if case.constants["raft_compacts_every"] > 0:
        why_snapshot = f"{often}; bounds the peak after a restart: RssAnon {peak}"
    else:
        why_snapshot = f"{often}; the log grows to catch-up + this: RssAnon {format_size(figures['rss_anon_peak'])}"
    db = format_size(figures["db_size"])
    found = {
        "snapshot_catchup_entries": f"{span}, {follower}",
        "snapshot_count": why_snapshot,
        "quota_backend_bytes": f"the database is expected to reach {db}",
        "auto_compaction_mode": "history by time"
        if chosen["auto_compaction_mode"] == "periodic"
        else "history by revisions",
        "auto_compaction_retention": f"the longest history whose database ({db}) and index fit",
    }
    if chosen.get("gogc", 100) != 100 or "gogc" in case.pinned:
        found["gogc"] = "collects garbage earlier" + (
            "" if case.has_gomemlimit else "; this release does not know GOMEMLIMIT"
        )
    if chosen.get("gomemlimit") is not None:
        pace = {FREE: "a guard, out of reach of the expected peak", EASY: "holds the heap's peak down"}
        found["gomemlimit"] = pace.get(choice.level, "holds the heap down hard: more CPU for the collector")
    found["memory_high"] = "reclaims clean pages before the limit kills"
    found["memory_max"] = "the budget"
    return found


def pinned_cost(case: Case, choice: Choice, name: str) -> str:
    """Say what a setting of the user's costs, against what the plan would choose."""
    without = {other: kept for other, kept in case.pinned.items() if other != name}
    other = search(case._replace(pinned=without))
    if other is None:
        return "yours; nothing else would fit"
    if other.settings.get(name, choice.settings[name]) == choice.settings[name]:
        return "yours; the plan would choose the same"
    difference = needs(choice.figures) - needs(other.figures)
    cost = (
        f"{format_size(abs(difference))} {'more' if difference > 0 else 'less'} at the peak"
        if difference
        else "the same peak"
    )
    return f"yours; {cost} than with {shown(name, other.settings[name])}"
