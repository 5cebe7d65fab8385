# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a campaign does before the first run of a case."""

from __future__ import annotations

import shutil
from pathlib import Path
from unittest.mock import Mock

import pytest

from bench.common.campaign import measure, play
from bench.common.campaign.case import KILL, Case
from bench.common.campaign.walk import MIDDLE, Walk


def test_a_walk_outlives_the_preparation_of_its_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deployment is prepared by a new lab, whose folder replaces the old one."""
    state = tmp_path / "state"
    state.mkdir()
    monkeypatch.setattr(play, "STATE", state)
    monkeypatch.setattr(measure, "Client", Mock(side_effect=RuntimeError("the first run would begin")))
    monkeypatch.setattr(measure.hosts, "urls", Mock())
    operation = Mock(prepare=lambda lab, number: shutil.rmtree(state))
    with pytest.raises(RuntimeError, match="would begin"):
        measure.measure(Mock(), operation, Case("deploy", KILL, MIDDLE), 0, middles={"Take time": 1.5})
    assert Walk(state / "chaos" / "walk").seconds == {"Take time": 1.5}
