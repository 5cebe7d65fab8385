# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explain why no flags fit, by how much, and which small changes would make the workload fit.

Private to the collection. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import (
    GIB,
    MIB,
    format_count,
    format_size,
    format_sizes_distinctly,
    round_up,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._model.arithmetic import divide_up
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.limits import memory_max
from ansible_collections.etcdops.headroom.plugins.module_utils._model.inputs import PLAN, WORKLOAD
from ansible_collections.etcdops.headroom.plugins.module_utils._model.releases import newest_release, version_key
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import largest_value
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.case import Case, default_of
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.flags import shown
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.histories import histories
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.search import (
    Choice,
    database_problem,
    minimal_plan,
    required_bytes,
    search,
)

# The bounds of a budget. Smaller ones are refused, and larger ones do not help.
MIN_BUDGET: int = min(rules["budget_min"] for rules in PLAN.values())
MAX_MEMORY = 1 << 44  # 16 TiB
# The settings that limit memory; the others decide how much memory etcd takes.
LIMITS = ("memory_max", "memory_high", "gomemlimit")
# The maximum number of changes in an error.
REMEDIES = 3


class Remedy(NamedTuple):
    """A change that makes a plan possible: what to do, and the changed case."""

    text: str
    case: Case


def explain(case: Case) -> str:
    """Return why nothing fits, by how much, and what would fit."""
    full_database = database_problem(case, histories(case))
    if full_database is None:
        limit, name = case.memory_high, "MemoryHigh " if "memory_high" in case.pinned else ""
        needed = required_bytes(minimal_plan(case))
        if not name:
            limit, needed = case.memory_max, budget_with_room(case, needed)
        available, required = format_sizes_distinctly(limit, needed)
        text = (
            f"no flags fit this workload into {name}{available}: with the smallest viable flags "
            f"etcd {case.version} needs {required}, {format_size(max(needed - limit, 0))} more"
        )
    else:
        text = f"no flags fit this workload: {full_database}"
    remedies = [remedy.text for _number, remedy in zip(range(REMEDIES), remedies_of(case))]
    return f"{text}. What would fit: {'; or '.join(remedies)}." if remedies else f"{text}."


def remedies_of(case: Case) -> Iterator[Remedy]:
    """Yield changes that make the workload fit, the smallest first."""
    yield from unpinning(case)
    enough = smallest_budget(case.unpinned(*LIMITS))
    if enough is not None:
        enough = round_up(enough)
        dropped = [name for name in LIMITS if name in case.pinned]
        also = f", with {' and '.join(dropped)} left to the plan" if dropped else ""
        yield Remedy(f"a memory budget of {format_size(enough)}{also}", replace(case.unpinned(*LIMITS), budget=enough))
    yield from larger_volume(case)
    for parts in case.rules["splits"]:
        workload = case.workload
        value_size, keys = divide_up(workload.value_size, parts), workload.keys * parts
        if workload.value_size < parts or keys > WORKLOAD["keys"]["max"]:
            break
        split = case.with_workload(value_size=value_size, keys=keys)
        if search(split) is not None:
            yield Remedy(
                f"each value split into {parts} keys, so that a write changes only one "
                f"(value_size {format_count(value_size)} bytes, keys {format_count(keys)})",
                split,
            )
            break
    newest = newest_release()
    newer = replace(case, version=newest)
    if version_key(case.version) < version_key(newest) and search(newer) is not None:
        yield Remedy(f"etcd {newest}", newer)
    for name, text in (("keys", "live keys"), ("puts_per_second", "puts per second")):
        found = reduced(case, name)
        if found is not None:
            yield Remedy(f"at most {format_count(getattr(found.workload, name))} {text}", found)


def reduced(case: Case, name: str) -> Case | None:
    """Return the case with about as much of one workload field as fits, in steps of a fifth."""
    steps = [getattr(case.workload, name)]
    while steps[-1] > 1:
        steps.append(steps[-1] * 4 // 5)
    cases = [case.with_workload(**{name: step}) for step in steps]
    too_many, fitting = 0, len(cases) - 1
    if search(cases[fitting]) is None:
        return None
    while fitting - too_many > 1:
        middle = (too_many + fitting) // 2
        if search(cases[middle]) is None:
            too_many = middle
        else:
            fitting = middle
    return cases[fitting]


def unpinning(case: Case) -> Iterator[Remedy]:
    """Yield the one setting to leave to the plan, every one that suffices; or all of them together."""
    removable = [name for name in case.pinned if not is_required(case, name)]
    found: dict[str, tuple[str, Case]] = {}
    # A setting with others bound to it comes after those, because leaving fewer to the plan is the smaller change.
    for name in sorted(removable, key=lambda name: len(case.bound_to(name))):
        free, bound = case.unpinned(name), case.bound_to(name)
        if found.keys().isdisjoint(bound) and search(free) is not None:
            texts = [f"{one} ({shown(one, case.pinned[one])})" for one in (name, *bound)]
            found[name] = (" with ".join(texts), free)
    if found:
        proposals = list(found.values())
        names = " or ".join(text for text, _free in proposals)
        yield Remedy(f"leave {names} to the plan", proposals[0][1])
    elif len(removable) > 1:
        free = case.unpinned(*removable)
        if search(free) is not None:
            yield Remedy(f"leave all of {', '.join(removable)} to the plan", free)


def is_required(case: Case, name: str) -> bool:
    """Return whether etcd would refuse the workload without this pinned setting."""
    if name != "max_request_bytes":
        return False
    return case.workload.value_size > largest_value(case.version, case.workload.key_size, default_of(case, name))


def larger_volume(case: Case) -> Iterator[Remedy]:
    """Yield the smallest volume that fits, in whole GiB, if the volume is too small."""
    if case.volume is None or database_problem(case, histories(case)) is None:
        return
    most = case.constants.quota_max * 2
    for size in range(case.volume // GIB + 1, most // GIB):
        larger = replace(case, volume=size * GIB)
        if search(larger) is not None:
            yield Remedy(f"a volume of {format_size(size * GIB)}", larger)
            return


def budget_with_room(case: Case, size: int) -> int:
    """Return the smallest budget, in whole MiB, whose MemoryHigh has room for ``size`` bytes. MemoryHigh has whole MiB, too."""
    return memory_max(case.constants, divide_up(size, MIB) * MIB)


def smallest_budget(case: Case, accept: Callable[[Choice], bool] = lambda choice: True) -> int | None:
    """Return the smallest budget, in whole MiB, that fits and suits the pinned limits, or None if more memory does not help.

    accept: a condition that the flags must meet.
    """

    def fits(budget: int) -> bool:
        choice = search(replace(case, budget=budget))
        return choice is not None and accept(choice)

    low, high = MIN_BUDGET - MIB, MIN_BUDGET
    while not fits(high):
        low, high = high, high * 2
        if high > MAX_MEMORY:
            return None
    while high - low > MIB:
        middle = (low + high) // 2 // MIB * MIB
        low, high = (low, middle) if fits(middle) else (middle, high)
    # A MemoryHigh that equals the budget would never take effect, and Go may use all of GOMEMLIMIT.
    limit = max(case.pinned.get("memory_high", 0), case.pinned.get("gomemlimit", 0))
    return max(high, memory_max(case.constants, limit))
