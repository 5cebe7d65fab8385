# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which host takes the backup of an interval."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, Member, Quorum
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import snapshot as maintenance_snapshot


@pytest.mark.parametrize(("seconds", "window"), [(3600, 1800), (86400, 43200), (30 * 86400, 43200), (None, 43200)])
def test_due_window_is_half_the_interval(seconds: int | None, window: int) -> None:
    assert maintenance_snapshot.due_window(seconds) == window


def member(name: str, role: str, healthy: bool = True) -> Member:
    return Member(name, name, role, healthy, "", f"http://{name}:2379", [], [], version="3.6.16", lag=0)


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ([member("m0", "follower"), member("m1", "leader")], False),
        ([member("m0", "leader"), member("m1", "follower")], True),
        ([member("m0", "leader"), member("m1", "follower", healthy=False)], False),  # no other host could take it
        ([member("m0", "follower", healthy=False), member("m1", "follower"), member("m2", "leader")], True),
        ([member("m0", "learner"), member("m1", "follower"), member("m2", "leader")], True),
        ([member("m1", "follower"), member("m2", "leader")], True),
        ([member("m0", "leader")], False),
        ([], False),
    ],
)
def test_should_yield_to_a_healthy_follower(members: list[Member], expected: bool) -> None:
    cluster = Cluster("1", "", members, Quorum(len(members), 1, len(members), True), [])
    assert maintenance_snapshot.should_yield(cluster, "m0") is expected


@pytest.mark.parametrize(
    ("age", "due"), [(-301, True), (-300, False), (-3, False), (0, False), (99, False), (100, True)]
)
def test_a_clock_that_is_a_little_behind_takes_no_second_backup(age: int, due: bool) -> None:
    assert maintenance_snapshot._is_due({"taken": 1000}, 100, 1000 + age) is due
    assert maintenance_snapshot._is_due({}, 100, 1000)
