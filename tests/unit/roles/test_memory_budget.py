# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The memory budget that role etcd passes to the plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible_collections.etcdops.headroom.plugins.module_utils._model import releases
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.plan import plan_flags

ROLE = Path(releases.__file__).parents[3] / "roles" / "etcd"
MIB, GIB = 1 << 20, 1 << 30


def budget(
    given: dict[str, Any], total: int = 8 * GIB, limit: int | None = None, unit: dict[str, Any] | None = None
) -> Any:
    """Return the budget for variables of a user, on a host with this memory, limit and unit."""
    loader = DataLoader()
    variables = {
        **loader.load_from_file(str(ROLE / "defaults" / "main.yml"), trusted_as_template=True),
        **loader.load_from_file(str(ROLE / "vars" / "main" / "settings.yml"), trusted_as_template=True),
        "etcd_host_facts": {"memory_total": total, "memory_limit": limit, "unit": unit},
        **given,
    }
    return Templar(loader=loader, variables=variables).template(variables["_etcd_memory_budget"])


@pytest.mark.parametrize("empty", [{}, {"etcd_memory_budget": ""}, {"etcd_memory_budget": None}])
@pytest.mark.parametrize(("limit", "expected"), [(None, 4 * GIB), (2 * GIB, GIB), (16 * GIB, 4 * GIB)])
def test_without_a_budget(empty: dict[str, Any], limit: int | None, expected: int) -> None:
    """Half of what the host has: the memory limit of a container counts if it is smaller."""
    assert int(budget(empty, limit=limit)) == expected


HEADROOM = {"managed": True, "memory_max": 4 * GIB}


@pytest.mark.parametrize(
    ("total", "unit", "given", "expected"),
    [
        # A kernel update, or a balloon: the member keeps its limit, and does not restart.
        (8 * GIB - 70 * MIB, HEADROOM, {}, 4 * GIB),
        (8 * GIB + 70 * MIB, HEADROOM, {}, 4 * GIB),
        # Above 2 %, the host has another size.
        (8 * GIB - 200 * MIB, HEADROOM, {}, 4 * GIB - 100 * MIB),
        (16 * GIB, HEADROOM, {}, 8 * GIB),
        # Without a unit of Headroom, without a limit, and with a limit that is not the budget.
        (8 * GIB - 70 * MIB, {"managed": False, "memory_max": 4 * GIB}, {}, 4 * GIB - 35 * MIB),
        (8 * GIB - 70 * MIB, {"managed": True, "memory_max": None}, {}, 4 * GIB - 35 * MIB),
        (8 * GIB - 70 * MIB, HEADROOM, {"etcd_memory_max": "4GB"}, 4 * GIB - 35 * MIB),
    ],
)
def test_a_member_keeps_its_budget_while_the_memory_of_its_host_hardly_changes(
    total: int, unit: dict[str, Any], given: dict[str, Any], expected: int
) -> None:
    assert int(budget(given, total=total, unit=unit)) == expected


def test_a_budget_is_kept() -> None:
    assert budget({"etcd_memory_budget": "2GB"}, limit=2 * GIB) == "2GB"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (0, "the memory budget is 0 B: etcd alone needs 64.0 MiB"),
        (False, "the memory budget is False, which is not a valid size"),
    ],
)
def test_a_budget_of_nothing_is_refused(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan_flags("3.7.3", {}, 3, budget({"etcd_memory_budget": given}))
