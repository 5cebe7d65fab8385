# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the plan of another release makes of a member."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._plan import release_comparison
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


@pytest.mark.parametrize(
    ("before", "after", "databases", "refused"),
    [
        (5 << 29, 2 << 30, {"a": 1 << 30, "b": 1900 << 20}, True),  # above 90 %
        (5 << 29, 2 << 30, {"a": 1 << 30, "b": 1800 << 20}, False),
        (5 << 29, 0, {"b": 1900 << 20}, True),  # etcd's default
        (-1, 2 << 30, {"b": 1900 << 20}, True),
        (2 << 30, 2 << 30, {"b": 1900 << 20}, False),
        (2 << 30, 5 << 29, {"b": 1900 << 20}, False),
        (5 << 29, 2 << 30, {}, False),
        (5 << 29, 2 << 30, None, False),  # the first step: the running quota counts, which another check compares
    ],
)
def test_a_later_step_must_not_lower_the_quota_below_a_database(
    before: int, after: int, databases: dict[str, int] | None, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = release_comparison.plan_for_release

    def plan(release: str, *more: Any) -> dict[str, Any]:
        found = real(release, *more)
        quota = before if release == "3.6.16" else after
        return {**found, "settings": {**found["settings"], "quota_backend_bytes": quota}}

    monkeypatch.setattr(release_comparison, "plan_for_release", plan)
    problems, [_memory] = plan_change(member(), "3.6.16", "3.7.3", databases)
    what = "no limit" if before < 0 else "2.5 GiB"
    expected = (
        f"quota with etcd 3.7.3: the quota falls from {what} to 2.0 GiB, and the database of b has 1.9 GiB: etcd would refuse all writes above "
        "the quota. State the workload as it is today, or set etcd_quota_backend_bytes, or compact and defragment first"
    )
    assert problems == ([expected] if refused else [])
    assert plan_change(member(), "3.4.40", "3.7.3", {"b": 9 << 30})[0] == [], (
        "no plan says what the quota would be before"
    )
