# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tests that `make bench-lifecycle` runs and `make test` leaves out, because other tests there run nearly the same tasks."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any

import pytest

IS_CAMPAIGN = bool(os.environ.get("HEADROOM_CAMPAIGN"))


def add_mark(config: pytest.Config) -> None:
    """Register the mark with pytest."""
    config.addinivalue_line("markers", "campaign: takes minutes; `make bench-lifecycle` runs it, `make test` does not")


def in_campaign(*values: Any) -> Any:
    """Return a set of parameters that only the campaign runs."""
    return pytest.param(*values, marks=pytest.mark.campaign)


def leave_out(config: pytest.Config, items: list[pytest.Item], repeated: Collection[pytest.Item] = ()) -> None:
    """Deselect the tests with the mark `campaign`, and the given ones, except in the campaign."""
    if IS_CAMPAIGN:
        return
    late = [item for item in items if item in repeated or item.get_closest_marker("campaign")]
    config.hook.pytest_deselected(items=late)
    items[:] = [item for item in items if item not in late]
