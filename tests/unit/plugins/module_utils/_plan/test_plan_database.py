# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan's quota between the database file and the volume."""

from __future__ import annotations

import re
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import BadInput
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.plan import PlanInfeasible, plan_flags

from tests.unit.plugins.module_utils._plan.memory_plans import LARGE, assert_fits, flag


# 16 GiB of live data need more than any of these volumes; 1 GiB with its history fits all of them.
@pytest.mark.parametrize("volume", ["4GB", "6.5GB", "9GB", "100GB"])
def test_the_quota_stays_below_the_volume(volume: str) -> None:
    free = plan_flags("3.7.3", {**LARGE, "keys": 1000, "puts_per_second": 20}, 3, "4GB")
    found = plan_flags("3.7.3", {**LARGE, "keys": 1000, "puts_per_second": 20}, 3, "4GB", volume_size=volume)
    quota = found["settings"]["quota_backend_bytes"]
    assert found["estimate"]["db_in_use"] <= quota <= int(float(volume[:-2]) * 1024 * MIB)
    assert quota <= free["settings"]["quota_backend_bytes"]
    if volume == "100GB":
        assert found == free


@pytest.mark.parametrize(
    ("volume", "pinned", "needed"),
    [
        (
            "2GB",
            {},
            "the quota of 1.8 GiB and a write-ahead log of up to 427.2 MiB may need 2.2 GiB, and the volume has 2.0 GiB",
        ),
        ("2.4GB", {"quota_backend_bytes": 0}, "may need 2,595,483,648 bytes, and the volume has 2,576,980,3"),
        ("3GB", {"quota_backend_bytes": "2GB"}, ""),
        ("100GB", {}, ""),
    ],
)
def test_a_volume_without_room_for_the_log_is_noted(volume: str, pinned: dict[str, Any], needed: str) -> None:
    found = plan_flags("3.7.3", {}, 3, "4GB", pinned, volume_size=volume)
    notes = [note for note in found["notes"] if "write-ahead log" in note]
    assert len(notes) == bool(needed) and all(
        needed in note and "unless the log has its own volume" in note for note in notes
    ), found["notes"]


def test_a_volume_that_is_too_small() -> None:
    with pytest.raises(PlanInfeasible, match=r"a volume of 2\.0 GiB has room for 1\.8 GiB.*; or at most") as error:
        plan_flags("3.7.3", {**LARGE, "keys": 30000, "puts_per_second": 1}, 3, "4GB", volume_size="2GB")
    size = re.search(r"a volume of ([0-9.]+ GiB)[;.]", str(error.value))
    assert size is not None
    assert_fits(
        plan_flags("3.7.3", {**LARGE, "keys": 30000, "puts_per_second": 1}, 3, "4GB", volume_size=size.group(1))
    )
    with pytest.raises(BadInput, match=r"volume_size is 1\.0 MiB: etcd alone needs 64\.0 MiB"):
        plan_flags("3.7.3", {}, 3, "4GB", volume_size="1MB")


@pytest.mark.parametrize(
    ("size", "volume", "quota", "note"),
    [
        (1 << 30, None, 2 << 30, ""),
        (4 << 30, None, 5 << 30, ""),
        (7 << 30, None, 8 << 30, "the database file has 7.0 GiB, and the largest quota that fits is 8.0 GiB"),
        (4 << 30, "5GB", 4608 * MIB, "the database file has 4.0 GiB, and the largest quota that fits is 4.5 GiB"),
    ],
)
def test_the_quota_stays_above_the_database_file(size: int, volume: str | None, quota: int, note: str) -> None:
    found = plan_flags("3.7.3", {}, 3, "4GB", volume_size=volume, db_size=size)
    assert found["settings"]["quota_backend_bytes"] == quota
    assert flag(found, "quota_backend_bytes")["reason"].startswith("the database file has") == (size > 1 << 30)
    assert found["notes"][0].startswith(note)


@pytest.mark.parametrize(
    ("size", "pinned", "volume", "text"),
    [
        (
            8 << 30,
            {},
            None,
            "the database file has 8.0 GiB today, the largest quota of a plan is 8.0 GiB, and etcd would",
        ),
        (8 << 30, {}, "50GB", "the database file has 8.0 GiB today, the largest quota of a plan is 8.0 GiB"),
        (3 << 30, {}, "3GB", "the database file has 3.0 GiB today, a volume of 3.0 GiB has room for 2.7 GiB"),
        (3 << 30, {"quota_backend_bytes": "2GB"}, None, "What would fit: leave quota_backend_bytes (2.0 GiB)"),
    ],
)
def test_a_database_file_above_the_quota(size: int, pinned: Any, volume: str | None, text: str) -> None:
    with pytest.raises(PlanInfeasible) as error:
        plan_flags("3.7.3", {}, 3, "4GB", pinned, volume, size)
    assert text in str(error.value)


def test_no_quota_on_a_volume_is_said() -> None:
    found = plan_flags("3.7.3", {}, 3, "4GB", {"quota_backend_bytes": -1}, "10GB")
    assert "without a quota the database may fill the volume of 10.0 GiB: etcd then crashes" in found["notes"]
