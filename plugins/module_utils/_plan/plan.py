# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan the flags that keep a workload within a memory budget.

Private to the collection. Pure: bad input raises ValueError. _plan/search.py finds the flags, _plan/flags.py gives the reasons,
and _plan/remedies.py explains why no flags fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import (
    MIB,
    format_size,
    format_sizes_distinctly,
    parse_size,
    round_up,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._model.inputs import ESTIMATE_SETTINGS
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import BadInput, check_range, parse_input
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.case import Case
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.flags import describe
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.remedies import (
    LIMITS,
    MAX_MEMORY,
    MIN_BUDGET,
    explain,
    smallest_budget,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.search import search

# Smaller volumes are refused.
MIN_VOLUME = 64 * MIB


class PlanInfeasible(ValueError):
    """No flags fit the workload into the budget; the message says by how much, and what would fit."""


class Budgets(NamedTuple):
    """The smallest memory budget that fits, in whole MiB, and the smallest one without trade-offs, rounded up to a figure to type; in bytes."""

    minimum: int
    without_trade_offs: int


def plan_flags(
    version: Any,
    workload: Any,
    members: Any,
    budget: Any,
    settings: Any = None,
    volume_size: Any = None,
    db_size: int = 0,
) -> dict[str, Any]:
    """Return the flags that keep the workload within the budget, each with its reason.

    settings: those that the user pins; the plan keeps them and shows their cost. budget: bytes, or with a unit. volume_size:
    the size of the data directory's volume, if it is known; the quota then stays below it. db_size: the bytes
    of the largest member's database file today; the quota then stays above it.
    Raises BadInput, UnknownVersion or PlanInfeasible.
    """
    amount = parse_size(budget, "the memory budget")
    case, assumed = parse_case(version, workload, members, amount, settings, volume_size, db_size)
    choice = search(case)
    if choice is None:
        raise PlanInfeasible(explain(case))
    return describe(case, choice, assumed)


def budgets(
    version: Any, workload: Any, members: Any, settings: Any = None, volume_size: Any = None, db_size: int = 0
) -> Budgets:
    """Return budgets to propose to a user who gave none.

    Raises BadInput, UnknownVersion, or PlanInfeasible if more memory does not help.
    """
    case, _assumed = parse_case(version, workload, members, MAX_MEMORY, settings, volume_size, db_size)
    if "memory_max" in case.pinned:
        return Budgets(case.pinned["memory_max"], case.pinned["memory_max"])
    low = smallest_budget(case)
    if low is None:
        raise PlanInfeasible(explain(case))
    return Budgets(low, round_up(smallest_budget(case, lambda choice: choice.step == 0) or low))


def parse_case(
    version: Any, workload: Any, members: Any, budget: int, settings: Any, volume_size: Any, db_size: int = 0
) -> tuple[Case, list[str]]:
    """Parse and check the input; return it with the names of the workload's fields that have a default's value."""
    given = settings
    if isinstance(settings, dict):
        given = {name: value for name, value in settings.items() if value is not None}
    asked = parse_input(version, workload, {} if given is None else given, members)
    pinned = {name: getattr(asked.settings, name) for name in given or {}}
    if budget < MIN_BUDGET:
        raise BadInput(f"the memory budget is {format_size(budget)}: etcd alone needs {format_size(MIN_BUDGET)}")
    volume = None
    if volume_size is not None:
        volume = parse_size(volume_size, "volume_size")
        if volume < MIN_VOLUME:
            raise BadInput(f"volume_size is {format_size(volume)}: etcd alone needs {format_size(MIN_VOLUME)}")
    case = Case(version, asked.workload, members, pinned, budget, volume, db_size)
    problems = list(contradictions(case))
    if problems:
        raise BadInput("; ".join(problems))
    return case, asked.assumed


def contradictions(case: Case) -> Iterator[str]:
    """Yield the settings that contradict the budget or the volume."""
    pinned = case.pinned
    for name, size in (("memory_max", case.memory_max), ("memory_high", case.memory_high)):
        try:
            check_range(size, ESTIMATE_SETTINGS[name], f"settings.{name}")
        except ValueError as error:
            yield str(error)
    for name in LIMITS:
        if pinned.get(name, 0) > case.budget:
            pinned_size, budget = format_sizes_distinctly(pinned[name], case.budget)
            yield (
                f"settings.{name} ({pinned_size}) is above the memory budget ({budget}): "
                f"raise the budget, or leave {name} to the plan"
            )
    if "memory_high" in pinned and pinned["memory_high"] == case.memory_max:
        yield (
            f"settings.memory_high ({format_size(pinned['memory_high'])}) equals MemoryMax and would never take effect: "
            "lower it, or leave memory_high to the plan"
        )
    if case.volume is not None and pinned.get("quota_backend_bytes", 0) > case.volume:
        quota, volume = format_sizes_distinctly(pinned["quota_backend_bytes"], case.volume)
        yield (
            f"settings.quota_backend_bytes ({quota}) is above the volume's size ({volume}): take a larger volume, or leave quota_backend_bytes to the plan"
        )


def host_memory_problem(sizes: Mapping[str, Any], total: int, limit: int | None) -> str:
    """Return which limits are above the memory of a host, and what would fit; empty if none is.

    sizes: a budget and MemoryMax by the names of their variables; those that are empty or invalid are skipped, because the plan
    chooses or refuses them. total: the host's memory in bytes, 0 if it is unknown. limit: that of its container, if there is one.
    """
    memory = min((size for size in (total, limit) if size), default=0)
    where = "memory limit of the host" if memory == limit and memory != total else "memory of the host"
    problems = []
    for name, given in sizes.items():
        try:
            wanted = parse_size(given, name)
        except ValueError:
            continue
        if memory and wanted > memory:
            shown, available = format_sizes_distinctly(wanted, memory)
            problems.append(
                f"{name} ({shown}) is above the {where} ({available}), so the host would run out of memory before etcd reaches its limit: "
                f"set it to at most {memory // MIB}MB, or leave it out"
            )
    return "; ".join(problems)
