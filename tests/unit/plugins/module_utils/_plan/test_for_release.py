# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases newer than the model: refused by default, and noted if they are allowed."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._model import estimate as model_estimate
from ansible_collections.etcdops.headroom.plugins.module_utils._model.releases import UnknownVersion, newest_release
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import BadInput
from ansible_collections.etcdops.headroom.plugins.module_utils._plan import for_release
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.plan import PlanInfeasible, plan_flags

NEWEST = newest_release()


def test_a_newer_series_gets_the_rules_of_the_newest_known() -> None:
    found = for_release.estimate_for_release("3.8.1", {}, {}, 3, "newest")
    known = model_estimate.estimate(NEWEST, {}, {}, 3)
    assert (found["version"], found["series"]) == ("3.8.1", NEWEST[:3])
    assert found["notes"][0].startswith(
        f"etcd 3.8.1 is newer than every known release: these are the figures of {NEWEST}"
    )
    assert {**found, "version": NEWEST, "notes": found["notes"][1:]} == known
    plan = for_release.plan_for_release("3.8.1", {}, 3, "2GB", unknown_version="newest")
    assert plan["version"] == plan["estimate"]["version"] == "3.8.1"
    assert plan["notes"][0] == found["notes"][0]
    assert plan["settings"] == plan_flags(NEWEST, {}, 3, "2GB")["settings"]


@pytest.mark.parametrize("choice", for_release.CHOICES)
@pytest.mark.parametrize("version", ["3.5.35", NEWEST, "3.7.99"])
def test_known_series_are_left_alone(version: str, choice: str) -> None:
    assert for_release.resolve_release(version, choice) == (version, [])
    assert for_release.plan_for_release(version, {}, 3, "2GB", unknown_version=choice) == plan_flags(
        version, {}, 3, "2GB"
    )


@pytest.mark.parametrize(
    "version", ["3.4.30", "2.3.8", "4.0.0", "3.8", "v3.8.0", "3.8.0-rc.0", "03.8.0", "", None, 3.8]
)
def test_older_other_and_malformed_versions_stay_errors(version: Any) -> None:
    for choice in for_release.CHOICES:
        with pytest.raises(UnknownVersion, match=r"known series: 3\.5"):
            for_release.resolve_release(version, choice)


def test_the_refusal_says_how_to_go_on() -> None:
    with pytest.raises(
        UnknownVersion, match=rf"etcd 3\.8\.0 is not known; .*unknown_version=newest .* rules of {NEWEST}"
    ):
        for_release.plan_for_release("3.8.0", {}, 3, "2GB")
    with pytest.raises(BadInput, match="unknown_version is 'yes': write refuse or newest"):
        for_release.estimate_for_release("3.8.0", {}, unknown_version="yes")


def test_what_does_not_fit_is_said_with_the_note() -> None:
    with pytest.raises(PlanInfeasible, match=r"What would fit: .* Note: etcd 3\.8\.1 is newer"):
        for_release.plan_for_release(
            "3.8.1", {"value_size": "1MB", "keys": 10, "puts_per_second": 1}, 3, "100MB", unknown_version="newest"
        )
