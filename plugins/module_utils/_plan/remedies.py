# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to say where no flags fit: why, by how much, and which small changes would make it fit.

Private to the collection. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_count, format_size, round_up
from ansible_collections.etcdops.headroom.plugins.module_utils._model.arithmetic import divide_up
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import WORKLOAD
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas import MIB
from ansible_collections.etcdops.headroom.plugins.module_utils._model.releases import newest_release, version_key
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.flags import shown
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.search import (
    Case,
    Choice,
    histories,
    least,
    needs,
    overfull,
    search,
)

GIB = 1024 * MIB
# Budgets are searched for in steps of this, up to that.
STEP = 64 * MIB
MOST_MEMORY = 1 << 44  # 16 TiB
# What limits memory, as against what decides how much of it etcd takes.
LIMITS = ("memory_max", "memory_high", "gomemlimit")
# The changes that an error names, at most.
REMEDIES = 3


class Remedy(NamedTuple):
    """A change with which a plan exists: what to do, and the case with it done."""

    text: str
    case: Case


def explain(case: Case) -> str:
    """Say why nothing fits, by how much, and what would fit."""
    crowded = overfull(case, histories(case))
    if crowded is None:
        limit, name = case.memory_high, "MemoryHigh " if "memory_high" in case.pinned else ""
        figures = least(case)
        needed = needs(figures)
        if not name:
            limit, needed = case.memory_max, figures["memory_max_least"]
        text = (
            f"no flags hold this workload to {name}{format_size(limit)}: with the smallest that are sound "
            f"etcd {case.version} needs {format_size(needed)}, {format_size(max(needed - limit, 0))} more"
        )
    else:
        text = f"no flags hold this workload: {crowded}"
    remedies = [remedy.text for _number, remedy in zip(range(REMEDIES), remedies_of(case))]
    return f"{text}. What would fit: {'; or '.join(remedies)}." if remedies else f"{text}."


def remedies_of(case: Case) -> Iterator[Remedy]:
    """Yield changes that make it fit, the smallest first."""
    yield from unpinning(case)
    enough = enough_memory(case)
    if enough is not None:
        pinned = {name: value for name, value in case.pinned.items() if name not in LIMITS}
        dropped = [name for name in LIMITS if name in case.pinned]
        also = f", with {' and '.join(dropped)} left to the plan" if dropped else ""
        yield Remedy(f"a memory budget of {format_size(enough)}{also}", case._replace(budget=enough, pinned=pinned))
    yield from roomier(case)
    for parts in case.rules["splits"]:
        work = case.workload
        smaller = {**work, "value_size": divide_up(work["value_size"], parts), "keys": work["keys"] * parts}
        if work["value_size"] < parts or smaller["keys"] > WORKLOAD["keys"]["max"]:
            break
        split = case._replace(workload=smaller)
        if search(split) is not None:
            yield Remedy(
                f"each value split into {parts} keys of which a write changes one "
                f"(value_size {format_count(smaller['value_size'])} bytes, keys {format_count(smaller['keys'])})",
                split,
            )
            break
    newest = newest_release()
    if version_key(case.version) < version_key(newest) and search(case._replace(version=newest)) is not None:
        yield Remedy(f"etcd {newest}", case._replace(version=newest))
    for name, text in (("keys", "live keys"), ("puts_per_second", "puts per second")):
        found = fewer(case, name)
        if found is not None:
            yield Remedy(f"at most {format_count(found.workload[name])} {text}", found)


def fewer(case: Case, name: str) -> Case | None:
    """Return the case with about as much of this as fits: each step tried is a fifth less than the one before."""
    steps = [case.workload[name]]
    while steps[-1] > 1:
        steps.append(steps[-1] * 4 // 5)
    cases = [case._replace(workload={**case.workload, name: step}) for step in steps]
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
    """Yield the one setting that has to be left to the plan, each that would do; or all of them."""
    found = []
    for name, value in case.pinned.items():
        free = case._replace(pinned={other: kept for other, kept in case.pinned.items() if other != name})
        if search(free) is not None:
            found.append((f"{name} ({shown(name, value)})", free))
    if found:
        yield Remedy(f"leave {' or '.join(text for text, _free in found)} to the plan", found[0][1])
    elif len(case.pinned) > 1:
        free = case._replace(pinned={})
        if search(free) is not None:
            yield Remedy(f"leave all of {', '.join(case.pinned)} to the plan", free)


def roomier(case: Case) -> Iterator[Remedy]:
    """Yield the least volume, in whole GiB, where the volume is what is missing."""
    if case.volume is None or overfull(case, histories(case)) is None:
        return
    most = case.constants.quota_max * 2
    for size in range(case.volume // (GIB) + 1, most // (GIB)):
        larger = case._replace(volume=size * GIB)
        if search(larger) is not None:
            yield Remedy(f"a volume of {format_size(size * GIB)}", larger)
            return


def enough_memory(case: Case, accept: Callable[[Choice], bool] = lambda choice: True) -> int | None:
    """Return the least budget that fits, in a round figure, or None where memory is not what is missing.

    accept: what the flags found must fulfil. Pinned limits of memory are left out, or they would be what is missing.
    """
    pinned = {name: value for name, value in case.pinned.items() if name not in LIMITS}

    def enough(steps: int) -> bool:
        choice = search(case._replace(budget=steps * STEP, pinned=pinned))
        return choice is not None and accept(choice)

    low, high = 0, 1
    while not enough(high):
        low, high = high, high * 2
        if high * STEP > MOST_MEMORY:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return round_up(high * STEP)
