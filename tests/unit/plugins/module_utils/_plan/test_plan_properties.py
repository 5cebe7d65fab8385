# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of every plan, over random workloads, versions, budgets and pinned settings, for any calibration."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB, format_size, parse_size, round_up
from ansible_collections.etcdops.headroom.plugins.module_utils._model.estimate import estimate
from ansible_collections.etcdops.headroom.plugins.module_utils._model.inputs import PLAN
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import BadInput
from ansible_collections.etcdops.headroom.plugins.module_utils._plan import remedies as plan_remedies
from ansible_collections.etcdops.headroom.plugins.module_utils._plan import search as plan_search
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.case import Case
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.flags import describe
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.histories import histories
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.plan import (
    PlanInfeasible,
    budgets,
    parse_case,
    plan_flags,
)
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

VERSIONS = ["3.5.5", "3.5.35", "3.6.16", "3.7.3"]
Asked = tuple[str, dict[str, int], int]


def magnitudes(low: int, high: int) -> st.SearchStrategy[int]:
    """Numbers of every magnitude, small ones as often as large ones."""
    bounds = [(max(low, 10**power), min(high, 10 ** (power + 1))) for power in range(12)]
    return st.one_of(st.just(low), *(st.integers(*bound) for bound in bounds if bound[0] < bound[1]))


WORKLOADS = st.fixed_dictionaries(
    {},
    optional={
        "value_size": magnitudes(0, 1_500_000),
        "key_size": magnitudes(1, 1000),
        "keys": magnitudes(1, 3_000_000),
        "puts_per_second": magnitudes(0, 20_000),
        "clients": magnitudes(0, 20_000),
        "watchers": magnitudes(0, 1_000_000),
        "range_size": magnitudes(0, 500_000_000),
        "revisions_per_key": magnitudes(1, 20),
    },
)
ASKED = st.tuples(st.sampled_from(VERSIONS), WORKLOADS, st.sampled_from([1, 3, 5]))
BUDGETS = magnitudes(64, 32768).filter(lambda number: number >= 64)  # MiB
OTHER_PINS = st.fixed_dictionaries(
    {},
    optional={
        "snapshot_count": magnitudes(1, 200_000),
        "snapshot_catchup_entries": magnitudes(1, 200_000),
        "quota_backend_bytes": st.sampled_from([-1, 0, 2 << 30, 4 << 30]),
        "gogc": st.integers(min_value=10, max_value=400),
        "gomemlimit": st.integers(min_value=32, max_value=4096).map(lambda number: number * MIB),
        "memory_max": st.integers(min_value=64, max_value=8192).map(lambda number: number * MIB),
        "memory_high": st.integers(min_value=64, max_value=8192).map(lambda number: number * MIB),
        "memory_mlock": st.booleans(),
    },
)
# The mode decides whether a retention is a time or a number of revisions.
COMPACTIONS = st.one_of(
    st.fixed_dictionaries(
        {},
        optional={
            "auto_compaction_mode": st.just("periodic"),
            "auto_compaction_retention": st.sampled_from(["0", "1m", "5m", "2h"]),
        },
    ),
    st.fixed_dictionaries(
        {"auto_compaction_mode": st.just("revision")},
        optional={"auto_compaction_retention": st.sampled_from(["0", "1000", "10000", "3000000"])},
    ),
)
PINS = st.builds(lambda others, compaction: {**others, **compaction}, OTHER_PINS, COMPACTIONS)
quick = settings(suppress_health_check=[HealthCheck.filter_too_much])


def plan(asked: Asked, megabytes: int, pinned: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """Return the plan, or None where there is none, without the search for remedies."""
    version, workload, members = asked
    try:
        case, assumed = parse_case(version, workload, members, megabytes * MIB, pinned, None)
    except BadInput:
        return None
    choice = plan_search.search(case)
    return None if choice is None else describe(case, choice, assumed)


@settings(parent=quick, max_examples=150)
@given(asked=ASKED, megabytes=BUDGETS, pinned=st.one_of(st.just({}), PINS))
def test_a_plan_fits_by_its_own_estimate(asked: Asked, megabytes: int, pinned: dict[str, Any]) -> None:
    found = plan(asked, megabytes, pinned)
    assume(found is not None)
    assert found is not None
    figures = found["estimate"]
    peak = max(figures["rss_anon_peak"], figures["restart_rss_anon_peak"])
    assert peak + figures["outside_go"] <= found["memory_high"] < found["memory_max"] <= found["budget"]
    assert found["memory_max"] == pinned.get("memory_max", megabytes * MIB)
    version, workload, members = asked
    limits = {name: found[name] for name in ("memory_max", "memory_high")}
    for name in ("gogc", "gomemlimit"):
        if name.upper() in found["environment"]:
            limits[name] = found["environment"][name.upper()]
    # A retention that the plan chose counts with its own history, if that is longer than the workload's.
    workloads = [workload]
    if "auto_compaction_retention" not in pinned:
        workloads.append({name: value for name, value in workload.items() if name != "revisions_per_key"})
    estimates = [estimate(version, one, {**pinned, **found["settings"], **limits}, members) for one in workloads]
    again = max(estimates, key=lambda one: one["db_size"])
    # The plan, by the names that etcd and Go take, leads to the same figures again.
    assert {name: again[name] for name in ("rss_anon_peak", "restart_rss_anon_peak", "db_size", "outside_go")} == {
        name: figures[name] for name in ("rss_anon_peak", "restart_rss_anon_peak", "db_size", "outside_go")
    }
    if "GOMEMLIMIT" in found["environment"] and "gomemlimit" not in pinned:
        live = max(figures["heap_live"], figures["restart_heap_live"])
        assert parse_size(found["environment"]["GOMEMLIMIT"], "GOMEMLIMIT") * 10 >= live * 11
    least = 100 if members > 1 else 1
    assert pinned or found["settings"]["snapshot_catchup_entries"] >= least
    assert found["settings"]["quota_backend_bytes"] < 0 or figures["db_in_use"] <= (
        found["settings"]["quota_backend_bytes"] or 2 << 30
    )


@settings(parent=quick, max_examples=150)
@given(asked=ASKED, megabytes=BUDGETS, more=magnitudes(1, 16384))
def test_more_memory_never_makes_it_worse(asked: Asked, megabytes: int, more: int) -> None:
    """A plan at one budget means a plan at each larger one, with as many entries for slow followers or more."""
    small, large = plan(asked, megabytes), plan(asked, megabytes + more)
    assume(small is not None)
    assert small is not None
    assert large is not None
    entries = [found["settings"]["snapshot_catchup_entries"] for found in (small, large)]
    assert entries[0] <= entries[1]


@settings(parent=quick, max_examples=100)
@given(asked=ASKED, megabytes=BUDGETS, pinned=PINS)
def test_what_is_pinned_comes_back(asked: Asked, megabytes: int, pinned: dict[str, Any]) -> None:
    found = plan(asked, megabytes, pinned)
    assume(found is not None and pinned)
    assert found is not None
    shown = {flag["name"]: flag for flag in found["flags"]}
    for name, value in pinned.items():
        if name in found["settings"]:
            assert found["settings"][name] == value
        if name in ("memory_max", "memory_high"):
            assert found[name] == value
        if name == "gogc":
            assert found["environment"]["GOGC"] == str(value)
        if name == "gomemlimit":
            assert parse_size(found["environment"]["GOMEMLIMIT"], name) == value
        if name in shown:
            assert (shown[name]["value"], shown[name]["source"]) == (value, "pinned")
            assert shown[name]["reason"].startswith("yours; ")
        assert found["estimate"]["settings"][name] == value


def carried_out(text: str, asked: Asked, megabytes: int, pinned: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the request that follows each remedy; several requests if the remedy leaves a choice."""
    version, workload, members = asked
    budget = megabytes * MIB
    size = re.match(r"a memory budget of ([0-9.]+ [KMGT]iB)", text)
    if size:
        kept = {name: value for name, value in pinned.items() if f" {name} " not in text}
        yield version, workload, members, size.group(1), {k: v for k, v in kept.items() if k not in _dropped(text)}
        return
    split = re.search(r"\(value_size ([0-9,]+) bytes, keys ([0-9,]+)\)", text)
    if split:
        value_size, keys = (number.replace(",", "") for number in split.groups())
        yield version, {**workload, "value_size": value_size, "keys": keys}, members, budget, pinned
        return
    fewer = re.match(r"at most ([0-9,]+) (live keys|puts per second)", text)
    if fewer:
        name = {"live keys": "keys", "puts per second": "puts_per_second"}[fewer.group(2)]
        yield version, {**workload, name: fewer.group(1).replace(",", "")}, members, budget, pinned
        return
    if text.startswith("leave all of"):
        yield version, workload, members, budget, {}
        return
    if text.startswith("leave "):
        for alternative in text.split(" or "):
            left = re.findall(r"([a-z_]+) \(", alternative)
            yield version, workload, members, budget, {k: v for k, v in pinned.items() if k not in left}
        return
    newer = re.fullmatch(r"etcd ([0-9.]+[0-9])", text)
    assert newer is not None, text
    yield newer.group(1), workload, members, budget, pinned


def _dropped(text: str) -> list[str]:
    left = re.search(r", with (.*) left to the plan", text)
    return left.group(1).split(" and ") if left else []


@settings(parent=quick, max_examples=120)
@given(asked=ASKED, megabytes=BUDGETS, pinned=st.one_of(st.just({}), PINS))
def test_each_remedy_does_what_it_says(asked: Asked, megabytes: int, pinned: dict[str, Any]) -> None:
    version, workload, members = asked
    try:
        plan_flags(version, workload, members, megabytes * MIB, pinned)
    except PlanInfeasible as error:
        message = str(error)
    except BadInput:
        message = ""
    else:
        message = ""
    assume(message)
    assert re.search(
        r" needs [0-9.]+ .?iB, [0-9.]+ .?i?B more|take [0-9.]+ .?i?B of database|grows without a bound", message
    ), message
    remedies = message.partition(". What would fit: ")[2].rstrip(".")
    for text in remedies.split("; or ") if remedies else []:
        for question in carried_out(text, asked, megabytes, pinned):
            plan_flags(*question)


@settings(parent=quick, max_examples=60)
@given(asked=ASKED)
def test_proposed_budgets_are_what_they_say(asked: Asked) -> None:
    """The minimum budget fits and 1 MiB less does not; the budget without trade-offs trades nothing away."""
    version, workload, members = asked
    try:
        proposed = budgets(version, workload, members)
    except (BadInput, PlanInfeasible):
        assume(False)
    found = plan_flags(version, workload, members, proposed.without_trade_offs)
    rules = PLAN[version[:3]]
    wanted = min(rules["catchup_seconds"] * found["estimate"]["workload"]["puts_per_second"], 10**9)
    assert members == 1 or found["settings"]["snapshot_catchup_entries"] >= wanted
    assert proposed.minimum <= proposed.without_trade_offs
    plan_flags(version, workload, members, proposed.minimum)
    below = proposed.minimum - MIB
    if below >= plan_remedies.MIN_BUDGET:
        with pytest.raises(PlanInfeasible):
            plan_flags(version, workload, members, below)


@settings(parent=quick, max_examples=60)
@given(asked=ASKED, pinned=st.one_of(st.just({}), OTHER_PINS))
def test_the_memory_that_is_needed_is_enough(asked: Asked, pinned: dict[str, Any]) -> None:
    """The memory that a message calls needed, in whole MiB, fits; a byte less than the MiB before it does not."""
    version, workload, members = asked
    free = {name: value for name, value in pinned.items() if name not in plan_remedies.LIMITS}
    case, _assumed = parsed(version, workload, members, free)
    needed = plan_remedies.budget_with_room(case, plan_search.required_bytes(plan_search.minimal_plan(case)))
    assume(plan_remedies.MIN_BUDGET < needed and plan_search.database_problem(case, histories(case)) is None)
    assert plan_search.search(replace(case, budget=needed)) is not None
    assert plan_search.search(replace(case, budget=needed - MIB)) is None


def parsed(version: str, workload: Any, members: int, pinned: Any) -> tuple[Case, list[str]]:
    """Return the case; the input is assumed to be valid."""
    try:
        return parse_case(version, workload, members, plan_remedies.MAX_MEMORY, pinned, None)
    except BadInput:
        assume(False)
        raise


@settings(max_examples=300)
@given(size=magnitudes(0, 10**12))
def test_a_round_figure_is_read_as_it_was_written(size: int) -> None:
    rounded = round_up(size)
    assert size <= rounded <= size + max(size // 10, 1)
    assert parse_size(format_size(rounded), "size") == rounded
