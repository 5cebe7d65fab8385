# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hosts of the inventory a run leaves out, with their clusters."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._play.absent_hosts import absent_hosts
from jinja2 import StrictUndefined

UNKNOWN = StrictUndefined(name="prefix")


def described(group: str, cluster: str, **variables: Any) -> dict[str, Any]:
    """Return the variables of a host of the run: its facts, and what hostvars has of the inventory."""
    return {"_etcd_member_group": group, "etcd_member": {"cluster": cluster}, **variables}


# By case: the variables of the hosts of the run, those of other hosts, and the clusters of those that are left out.
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, str]]] = {
    "all hosts": ({"a1": described("etcd", "etcd"), "a2": described("etcd", "etcd")}, {}, {}),
    "the default group": ({"a1": described("etcd", "etcd")}, {"a2": {}, "a3": {}}, {"a2": "etcd", "a3": "etcd"}),
    "a group of each cluster": (
        {"a1": described("etcd_a", "etcd_a", etcd_group="etcd_a")},
        {"a2": {"etcd_group": "etcd_a"}, "b1": {"etcd_group": "etcd_b"}},
        {"a2": "etcd_a"},
    ),
    "two groups": (
        {
            "a1": described("etcd_a", "etcd_a", etcd_group="etcd_a"),
            "b1": described("etcd_b", "south", etcd_group="etcd_b", etcd_cluster_name="south"),
        },
        {"a2": {"etcd_group": "etcd_a"}, "b2": {"etcd_group": "etcd_b", "etcd_cluster_name": "south"}},
        {"a2": "etcd_a", "b2": "south"},
    ),
    "two clusters in one group": (
        {"a1": described("etcd", "north", etcd_cluster_name="north")},
        {"a2": {"etcd_cluster_name": "north"}, "b1": {"etcd_cluster_name": "south"}},
        {"a2": "north", "b1": "south"},
    ),
    "the play names the group": ({"a1": described("etcd_a", "etcd_a")}, {"a2": {}}, {"a2": "etcd_a"}),
    "the play names the cluster": ({"a1": described("etcd", "main")}, {"a2": {}}, {"a2": "main"}),
    "the name has a variable of the play": (
        {"a1": described("etcd", "x-prod", etcd_cluster_name=UNKNOWN)},
        {"a2": {"etcd_cluster_name": UNKNOWN}},
        {"a2": "x-prod"},
    ),
    "the group has a variable of the play": (
        {"a1": described("etcd_a", "etcd_a", etcd_group=UNKNOWN)},
        {"a2": {"etcd_group": UNKNOWN}},
        {"a2": "etcd_a"},
    ),
    "the first host counts": (
        {"a1": described("etcd", "first"), "a2": described("etcd", "second")},
        {"a3": {}},
        {"a3": "first"},
    ),
    "no such group": ({"a1": described("other", "other", etcd_group="other")}, {"b1": {}}, {}),
}


@pytest.mark.parametrize("case", CASES)
def test_hosts_that_a_run_leaves_out(case: str) -> None:
    present, others, expected = CASES[case]
    names = [*present, *others]
    # A host is in the inventory's groups whatever its variables are.
    groups = {
        "etcd": names,
        "etcd_a": [name for name in names if name.startswith("a")],
        "etcd_b": [name for name in names if name.startswith("b")],
    }
    found = absent_hosts(list(present), {**present, **others}, groups)
    assert found == [{"host": host, "cluster": cluster} for host, cluster in expected.items()]
