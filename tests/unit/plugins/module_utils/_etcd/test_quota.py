# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which quotas members must not be started with."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.filter.etcd_quota_problem import etcd_quota_problem
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.quota import full_quota_problem

MIB = 1 << 20
GIB = 1 << 30


@pytest.mark.parametrize(
    ("planned", "running", "size", "refused"),
    [
        (2048, 8192, 4000, True),
        (2048, 8192, 1900, True),  # above 90 %
        (2048, 8192, 1800, False),
        (0, 8192, 4000, True),  # etcd's default
        (2048, -1, 4000, True),
        (8192, 2048, 9000, False),  # the quota is raised
        (2048, 2048, 2048, False),  # etcd refuses writes already
        (2048, 0, 2048, False),
        (2048, None, 4000, False),
        (-1, 8192, 4000, False),
    ],
)
def test_a_quota_below_the_database_is_refused(planned: int, running: int | None, size: int, refused: bool) -> None:
    members = [{"name": "a", "db_size": None}, {"name": "b", "db_size": size * MIB}]
    quota = running * MIB if running else running
    info = {"cluster": {"members": members}, "process": {"settings": {"quota_backend_bytes": quota}}}
    problem = etcd_quota_problem(info, planned * MIB)
    assert bool(problem) is refused
    if refused:
        assert "quota of 2.0 GiB" in problem and "the database of b has" in problem
        # The status of 3.6 and later names the quota.
        members[0]["db_quota"] = quota
        info = {"member": "a", "cluster": {"members": members}, "process": None}
        assert etcd_quota_problem(info, planned * MIB) == problem


def test_the_quotas_of_other_members_do_not_count() -> None:
    members = [
        {"name": name, "db_size": 4 << 30, "db_quota": quota} for name, quota in (("a", 2 << 30), ("b", 8 << 30))
    ]
    assert etcd_quota_problem({"member": "a", "cluster": {"members": members}}, 2 << 30) == ""
    assert "now 8.0 GiB" in etcd_quota_problem({"member": "b", "cluster": {"members": members}}, 2 << 30)


def test_no_answer_refuses_no_quota() -> None:
    assert etcd_quota_problem({}, 2 << 30) == ""
    assert etcd_quota_problem({"cluster": {"members": None}, "process": {}}, 2 << 30) == ""


@pytest.mark.parametrize(
    ("quota", "size", "refused"),
    [
        (8 * GIB, 4 * GIB, False),
        (2 * GIB, 4 * GIB, True),
        (2 * GIB, 2 * GIB, True),  # exactly the quota
        (0, 3 * GIB, True),  # etcd's default
        (0, GIB, False),
        (-1, 9 * GIB, False),
        (None, 9 * GIB, False),
    ],
)
def test_a_database_that_reaches_the_quota_is_refused(quota: int | None, size: int, refused: bool) -> None:
    problem = full_quota_problem("the snapshot", size, quota)
    assert (
        problem.startswith(f"the snapshot has {size / GIB:.1f} GiB, and the quota would be 2.0 GiB")
        if refused
        else problem == ""
    )
