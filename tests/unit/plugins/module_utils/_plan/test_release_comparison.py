# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the plan of another release makes of a member."""

from __future__ import annotations

from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._plan.release_comparison import Member, plan_change


def member(**more: Any) -> Member:
    base = {"workload": {}, "members": 3, "budget": "1GB", "pinned": {}, "base": {"name": "a"}}
    return Member(**{**base, **more})  # type: ignore[arg-type]


def test_memory_of_both_releases_is_compared() -> None:
    problems, [change] = plan_change(member(), "3.5.35", "3.6.16")
    assert not problems
    assert "with 3.5.35" in change
    assert "with 3.6.16, the budget is 1.0 GiB" in change


def test_a_release_that_is_not_known_is_left_out() -> None:
    problems, [change] = plan_change(member(), "3.4.40", "3.5.35")
    assert not problems
    assert "3.4.40" not in change


def test_memory_and_settings_are_judged_together() -> None:
    problems, changes = plan_change(
        member(budget="64MB", extra={"experimental-initial-corrupt-check": True}), "3.6.16", "3.7.3"
    )
    assert [problem.split(":")[0] for problem in problems] == ["memory with etcd 3.7.3", "settings with etcd 3.7.3"]
    assert "experimental-initial-corrupt-check" in problems[1]
    assert not changes
