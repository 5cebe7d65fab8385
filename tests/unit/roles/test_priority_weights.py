# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which weights role etcd_priority writes into the drop-in of a unit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template
from ansible_collections.etcdops.headroom.plugins.module_utils._model import releases

ROLE = Path(releases.__file__).parents[3] / "roles" / "etcd_priority"


def refused(**settings: Any) -> list[str]:
    """Return the names of the weights that the role refuses before it changes anything."""
    loader = DataLoader()
    given = {**loader.load_from_file(str(ROLE / "vars" / "main.yml"), trusted_as_template=True), **settings}
    task = loader.load_from_file(str(ROLE / "tasks" / "main.yml"), trusted_as_template=True)[0]
    check = task["ansible.builtin.assert"]["that"]
    items = Templar(loader=loader, variables=given).template(task["loop"])
    template = trust_as_template("{{ " + check + " }}")
    return [
        item["name"]
        for item in items
        if not Templar(loader=loader, variables={**given, "item": item}).template(template)
    ]


@pytest.mark.parametrize("weight", [1, 500, "500", 10000])
def test_weights_of_systemd(weight: int | str) -> None:
    assert refused() == refused(etcd_io_weight=weight, etcd_cpu_weight=weight) == []


@pytest.mark.parametrize("weight", [0, 10001, -5, "high", "500 # more", ""])
def test_weights_that_systemd_would_ignore(weight: int | str) -> None:
    assert refused(etcd_io_weight=weight) == ["etcd_io_weight"]
    assert refused(etcd_cpu_weight=weight) == ["etcd_cpu_weight"]
