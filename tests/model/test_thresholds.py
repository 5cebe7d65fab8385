# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The default thresholds of the rules agree with the constants that they repeat. Users may override the thresholds."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import CONSTANTS_HIGH
from ansible_collections.etcdops.headroom.plugins.module_utils._model.inputs import PLAN

ROOT = Path(__file__).resolve().parents[2]
DATA = yaml.safe_load((ROOT / "policies" / "data" / "thresholds.yml").read_text(encoding="utf-8"))
THRESHOLDS = DATA["headroom"]["defaults"]["thresholds"]


@pytest.mark.parametrize("series", PLAN)
def test_thresholds_agree_with_the_plan(series: str) -> None:
    minimum = THRESHOLDS["snapshot_count_min_3_5" if series == "3.5" else "snapshot_count_min"]
    assert minimum == min(PLAN[series]["snapshot_counts"])
    assert THRESHOLDS["catchup_entries_min"] == PLAN[series]["catchup_floor"]["several"]
    assert THRESHOLDS["catchup_seconds"] == PLAN[series]["catchup_seconds"]


@pytest.mark.parametrize("series", PLAN)
def test_the_quota_threshold_agrees_with_the_model(series: str) -> None:
    assert THRESHOLDS["quota_bytes"] == CONSTANTS_HIGH[series].quota_max
