# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The clusters with failed hosts, and the reasons."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.failures import cluster_failures

CLUSTERS = {name: {"members": {f"{name}{number}": {} for number in (1, 2)}} for name in ("south", "North")}
RESULTS = ["_etcd_space", "_etcd_defrag"]
DEFERRED = {"failed": True, "msg": "south1 was not defragmented. "}
COMMAND = {"failed": True, "msg": "non-zero return code", "stderr": "Error: no answer\n", "rc": 1}


@pytest.mark.parametrize(
    ("variables", "text"),
    [
        ({"_etcd_defrag": DEFERRED}, "south1 was not defragmented"),
        ({"_etcd_defrag": COMMAND}, "Error: no answer"),
        ({"_etcd_defrag": {**COMMAND, "stderr": ""}}, "non-zero return code"),
        # In the order of the names.
        ({"_etcd_defrag": DEFERRED, "_etcd_space": COMMAND}, "Error: no answer; south1 was not defragmented"),
        # Only results of failed tasks with these names are reasons.
        ({"_etcd_defrag": {"failed": False, "msg": "done"}, "_etcd_space": {"msg": "done"}}, "see above"),
        ({"_etcd_other": DEFERRED}, "see above"),
        # The host became unreachable.
        ({}, "see above"),
    ],
)
def test_reasons(variables: dict[str, Any], text: str) -> None:
    found = cluster_failures(CLUSTERS, ["south1"], {"south1": variables}, RESULTS)
    assert found == [f"cluster south, on south1: {text}"]


def test_a_reason_of_several_hosts_is_given_once() -> None:
    variables = {
        "south1": {"_etcd_space": COMMAND},
        "south2": {"_etcd_space": COMMAND, "_etcd_defrag": DEFERRED},
        "North2": {},
    }
    assert cluster_failures(CLUSTERS, ["south2", "North2", "south1"], variables, RESULTS) == [
        "cluster North, on North2: see above",
        "cluster south, on south1, south2: Error: no answer; south1 was not defragmented",
    ]


def test_clusters_without_failures() -> None:
    assert cluster_failures(CLUSTERS, [], {}, RESULTS) == []
