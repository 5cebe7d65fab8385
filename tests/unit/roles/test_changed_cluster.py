# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""After which runs role etcd verifies the cluster and gathers the facts of its hosts again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible_collections.etcdops.headroom.plugins.module_utils._model import releases

ROLE = Path(releases.__file__).parents[3] / "roles" / "etcd"
REMOVES = {"removes": [{"id": "beef", "name": "n4", "before_joins": False}]}


@pytest.mark.parametrize(
    ("order", "membership", "check_mode", "changed"),
    [
        ({}, {}, False, False),
        ({"n1": 0}, {}, False, True),
        ({"m1": 0}, {}, False, False),  # a member of another cluster
        # An interrupted run has updated the members that stay: scale.yml retires the host of the removed one by these facts.
        ({}, REMOVES, False, True),
        ({}, {"removes": []}, False, False),
        ({"n1": 0}, REMOVES, True, False),
    ],
    ids=["nothing", "an update", "another cluster", "only a removal", "nothing to remove", "check mode"],
)
def test_a_run_that_only_removes_members_changes_the_cluster(
    order: dict[str, int], membership: dict[str, Any], check_mode: bool, changed: bool
) -> None:
    loader = DataLoader()
    given = {
        **loader.load_from_file(str(ROLE / "vars" / "main" / "cluster.yml"), trusted_as_template=True),
        **loader.load_from_file(str(ROLE / "vars" / "main" / "update.yml"), trusted_as_template=True),
        "etcd_cluster_name": "c",
        "etcd_clusters": {"c": {"members": {"n1": {}, "n2": {}}, "membership": membership}},
        "_etcd_update_order": order,
        "ansible_check_mode": check_mode,
    }
    assert Templar(loader=loader, variables=given).template(given["_etcd_changed"]) is changed
