# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order in which members are updated."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import topology


def change(host, cluster="etcd", **other):
    usual = {"state": "existing", "changes": True, "down": False, "healthy": True, "leads": False, "quorum": True}
    return {"host": host, "cluster": cluster, **usual, **other}


def lost(host, **other):
    return change(host, quorum=False, healthy=False, **other)


@pytest.mark.parametrize(
    ("members", "order"),
    [
        ([], {}),
        ([change("n1", changes=False)], {}),
        ([change("n1", leads=True), change("n2"), change("n3")], {"n2": 0, "n3": 1, "n1": 2}),
        ([change("n1", leads=True), change("n2"), change("n3", healthy=False)], {"n3": 0, "n2": 1, "n1": 2}),
        (
            [change("n1", leads=True), change("n2", healthy=False), change("n3", healthy=False, down=True)],
            {"n3": 0, "n2": 1, "n1": 2},
        ),
        # Without quorum all members that are down start together, and none of the others with them.
        ([lost("n1", down=True)], {"n1": 0}),
        ([lost("n1"), lost("n2", down=True), lost("n3", down=True)], {"n2": 0, "n3": 0, "n1": 1}),
        ([lost("n1", changes=False), lost("n2", down=True), lost("n3", down=True)], {"n2": 0, "n3": 0}),
        ([lost("n1"), lost("n2"), lost("n3")], {"n1": 1, "n2": 2, "n3": 3}),
        ([change("n1", state="new"), change("n2", state="new")], {"n1": 0, "n2": 0}),
        ([change("n1", state="new"), change("n2", state="new", later=True)], {"n1": 0, "n2": 1}),
        ([change("n1"), change("m1", cluster="other"), change("m2", cluster="other")], {"n1": 0, "m1": 0, "m2": 1}),
    ],
)
def test_update_order(members, order):
    assert topology.update_order(members) == order


def test_members_that_join_come_before_restarts():
    common = {"cluster": "etcd", "state": "existing", "healthy": True, "quorum": True}
    members = [
        {**common, "host": "n1", "changes": True, "down": False, "leads": True},
        {**common, "host": "n2", "changes": True, "down": True, "leads": False, "joins": 2, "quorum": False},
        {**common, "host": "n3", "changes": False, "down": False, "leads": False, "joins": 1, "quorum": False},
    ]
    assert topology.update_order(members) == {"n3": 0, "n2": 1, "n1": 2}
