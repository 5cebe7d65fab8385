# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Workloads and settings without a plan: what the message says, and the remedies that it names."""

from __future__ import annotations

import re
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB, format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import BadInput
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.plan import PlanInfeasible, budgets, plan_flags

from tests.unit.plugins.module_utils._plan.memory_plans import LARGE, assert_fits


def test_a_history_that_is_too_large_is_named() -> None:
    work = {"keys": 1000, "value_size": 10000, "puts_per_second": 200, "revisions_per_key": 2000}
    with pytest.raises(PlanInfeasible) as error:
        plan_flags("3.6.16", work, 3, "8GB")
    expected = "live keys with 2,000 revisions each (workload.revisions_per_key) take 19.1 GiB of database, the largest quota of a plan is 8.0 GiB"
    assert expected in str(error.value)


@pytest.mark.parametrize(
    ("version", "workload", "budget", "pinned", "texts"),
    [
        (
            "3.7.3",
            LARGE,
            "256MB",
            {},
            [
                "no flags fit this workload into 256.0 MiB",
                "etcd 3.7.3 needs",
                " more",
                "a memory budget of",
            ],
        ),
        (
            "3.7.3",
            LARGE,
            "2GB",
            {"snapshot_count": 100000},
            [
                "leave snapshot_count (100,000) to the plan",
                "a memory budget of ",
                "each value split into 10 keys",
            ],
        ),
        (
            "3.7.3",
            {**LARGE, "keys": 200000},
            "4GB",
            {},
            [" GiB of database, the largest quota of a plan is 8.0 GiB", "live keys."],
        ),
        (
            "3.5.35",
            {"value_size": 100, "clients": 0, "puts_per_second": 1},
            "64MB",
            {},
            ["etcd 3.5.35 needs", "a memory budget of"],
        ),
    ],
)
def test_infeasible(version: str, workload: Any, budget: str, pinned: Any, texts: list[str]) -> None:
    with pytest.raises(PlanInfeasible) as error:
        plan_flags(version, workload, 3, budget, pinned)
    for text in texts:
        assert text in str(error.value)


@pytest.mark.parametrize(
    "pinned",
    [
        {"auto_compaction_retention": "0"},
        {"auto_compaction_retention": "0", "quota_backend_bytes": -1},
        {"auto_compaction_mode": "revision", "auto_compaction_retention": "0"},
    ],
)
def test_a_history_without_a_bound_is_named(pinned: dict[str, Any]) -> None:
    """The model then computes with a bound, which must not be reported as a size."""
    work = {"keys": 10000, "value_size": 1000, "puts_per_second": 50}
    with pytest.raises(PlanInfeasible) as error:
        plan_flags("3.7.3", work, 3, "2GB", pinned)
    assert str(error.value).startswith(
        "no flags fit this workload: auto_compaction_retention is 0, so the history of 50 puts per second grows without a bound: set a retention, or state "
        "workload.revisions_per_key and waive the rule compaction/off if something else compacts, such as the API server of Kubernetes. What would fit: "
        "leave auto_compaction_"
    ), error.value
    assert "TiB" not in str(error.value)
    assert plan_flags("3.7.3", {**work, "revisions_per_key": 3}, 3, "2GB", pinned)["settings"].items() >= pinned.items()


def test_a_split_into_more_keys_than_there_can_be_is_no_remedy() -> None:
    with pytest.raises(PlanInfeasible, match="no flags fit this workload"):
        plan_flags("3.7.3", {"value_size": "100KB", "keys": 9 * 10**9}, 3, "2GB")


def test_remedies_hold_what_they_promise() -> None:
    """The budget named in the error is one that works, and 1 MiB less is not."""
    with pytest.raises(PlanInfeasible) as error:
        plan_flags("3.6.16", LARGE, 3, "256MB")
    size = str(error.value).split("a memory budget of ")[1].split(" MiB")[0]
    assert_fits(plan_flags("3.6.16", LARGE, 3, f"{size}MiB"))
    with pytest.raises(PlanInfeasible):
        plan_flags("3.6.16", LARGE, 3, int(float(size) - 1) * MIB)


def test_a_budget_just_below_what_is_needed() -> None:
    """MemoryHigh has whole MiB, so the message names the next budget that fits, never one that is 0 B away."""
    enough = budgets("3.6.16", LARGE, 3).minimum
    for budget in (enough - MIB // 2, enough - MIB):
        try:
            plan_flags("3.6.16", LARGE, 3, budget)
        except PlanInfeasible as error:
            found = re.search(r"needs (\S+ \S+), (\S+ \S+) more", str(error))
            assert found is not None, error
            assert found.groups() == (format_size(enough), format_size(enough - budget))
        else:
            assert budget > enough - MIB


def test_a_budget_that_was_enough_for_a_smaller_gomemlimit() -> None:
    """An earlier version deployed this one with a GOMEMLIMIT below 1.1 times the live heap."""
    load = {"value_size": 34, "keys": 172650, "puts_per_second": 195, "clients": 50, "range_size": 0}
    text = "etcd 3.6.16 needs 157.0 MiB, 5.0 MiB more. What would fit: a memory budget of 157.0 MiB; "
    with pytest.raises(PlanInfeasible, match=text):
        plan_flags("3.6.16", load, 7, "152MB")


@pytest.mark.parametrize(
    ("budget", "pinned", "text"),
    [
        ("10MB", {}, "the memory budget is 10.0 MiB: etcd alone needs 64.0 MiB"),
        ("lots", {}, "the memory budget is 'lots', which is not a valid size"),
        ("1GB", {"memory_max": "2GB"}, "settings.memory_max (2.0 GiB) is above the memory budget (1.0 GiB)"),
        ("1GB", {"gomemlimit": "2GB"}, "settings.gomemlimit (2.0 GiB) is above the memory budget"),
        ("1GB", {"heartbeat": 1}, "settings has an unknown key 'heartbeat'"),
    ],
)
def test_bad_input(budget: Any, pinned: Any, text: str) -> None:
    with pytest.raises(BadInput) if "size" not in text else pytest.raises(ValueError) as error:
        plan_flags("3.7.3", {}, 3, budget, pinned)
    assert text in str(error.value)


@pytest.mark.parametrize(
    ("pinned", "texts"),
    [
        (
            {"gomemlimit": "1900MB", "memory_max": "1800MB"},
            ["settings.gomemlimit (1.9 GiB) is above settings.memory_max"],
        ),
        (
            {"memory_high": "2GB"},
            ["settings.memory_high (2.0 GiB) equals MemoryMax", "leave memory_high to the plan"],
        ),
        ({"memory_high": "1GB", "memory_max": "1GB"}, ["settings.memory_high (1.0 GiB) equals MemoryMax"]),
        (
            {"quota_backend_bytes": "6GB"},
            ["settings.quota_backend_bytes (6.0 GiB) is above the volume's size (5.0 GiB)"],
        ),
        ({"gogc": 0}, ["settings.gogc is 0: it must lie between 1 and 1,000"]),
        ([], ["settings must be a map of"]),
        ("snapshot_count", ["settings must be a map of"]),
    ],
)
def test_settings_that_cannot_be_are_named_once(pinned: Any, texts: list[str]) -> None:
    with pytest.raises(BadInput) as error:
        plan_flags("3.7.3", {}, 3, "2GB", pinned, volume_size="5GB")
    for text in texts:
        assert str(error.value).count(text) == 1, error.value


def test_gomemlimit_needs_a_release_that_knows_it() -> None:
    with pytest.raises(BadInput, match=r"no effect on etcd 3\.5\.7: GOMEMLIMIT needs 3\.5\.8 or later"):
        plan_flags("3.5.7", {}, 3, "2GB", {"gomemlimit": "1GB"})
