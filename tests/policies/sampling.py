# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples of hypothesis strategies as lists, because one run of conftest lints many inventories."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

Drawn = TypeVar("Drawn")

# As many as one run of conftest is given.
BATCH = 50


@dataclass(frozen=True)
class Draw:
    """How many to draw of each kind: by default always the same ones, else as many new ones as a variable of the environment says."""

    variable: str
    default: int

    @property
    def asked(self) -> int:
        """What the variable says; 0 if nothing."""
        return int(os.environ.get(self.variable, "0"))

    @property
    def number(self) -> int:
        """How many are drawn."""
        return self.asked or self.default

    def of(self, strategy: st.SearchStrategy[Drawn]) -> list[Drawn]:
        """Draw one by one: a batch drawn as a whole would leave hypothesis too little to choose from for each."""
        found: list[Drawn] = []

        @settings(
            max_examples=self.number,
            derandomize=not self.asked,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(strategy)
        def draw(value: Any) -> None:
            found.append(value)

        draw()
        return found


def in_batches(found: list[Drawn]) -> Iterator[list[Drawn]]:
    """The same, as many at a time as one run of conftest is given."""
    for start in range(0, len(found), BATCH):
        yield found[start : start + BATCH]
