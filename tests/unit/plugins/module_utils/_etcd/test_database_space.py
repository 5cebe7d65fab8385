# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What fills a database, and which action frees space."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Member
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.database_space import (
    divide_database,
    explain_space,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_metrics import MemberMetrics

MIB = 1 << 20


def divided(size: int, in_use: int, keys: int, history: int, quota: int | None = 100 * MIB) -> Any:
    member = Member("m1", "1", "follower", True, "", "", [], [], db_size=size * MIB, db_size_in_use=in_use * MIB)
    return divide_database(member, MemberMetrics(0, 0, False, None, quota, keys=keys, history=history))


def test_live_data_and_history_are_divided_by_their_revisions() -> None:
    space = divided(90, 80, keys=100, history=300)
    assert (space.live, space.history, space.free) == (20 * MIB, 60 * MIB, 10 * MIB)


@pytest.mark.parametrize(
    ("space", "remedy"),
    [
        (divided(95, 90, keys=90, history=10), "the live data alone nearly fills it: delete keys, or raise"),
        (divided(60, 50, keys=90, history=10), "mostly live data"),
        (divided(90, 80, keys=100, history=300), "mostly history: compact it"),
        (divided(90, 10, keys=100, history=0), "mostly free pages: defragment"),
        (divided(95, 90, keys=90, history=10, quota=None), "mostly live data"),
        (divided(95, 90, keys=90, history=10, quota=-1), "mostly live data"),
    ],
)
def test_remedy_follows_from_the_largest_part(space: Any, remedy: str) -> None:
    assert remedy in explain_space(space)


@pytest.mark.parametrize("quota", [None, -1])
def test_without_a_quota_none_is_named(quota: int | None) -> None:
    space = divided(90, 80, keys=100, history=300, quota=quota)
    assert space.quota is None
    assert explain_space(space).startswith("m1 uses 90.0 MiB: live data")


def test_explanation_names_every_part() -> None:
    assert explain_space(divided(90, 80, keys=100, history=300)).startswith(
        "m1 uses 90.0 MiB of its quota of 100.0 MiB: live data 20.0 MiB (100 keys), history 60.0 MiB (300 revisions), "
        "free pages 10.0 MiB; "
    )
