# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The input of a plan, checked once, with the limits derived from it.

Private to the collection. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import CONSTANTS_HIGH, Constants
from ansible_collections.etcdops.headroom.plugins.module_utils._model.inputs import ESTIMATE_SETTINGS, PLAN
from ansible_collections.etcdops.headroom.plugins.module_utils._model.release_tables import SERIES, SETTINGS
from ansible_collections.etcdops.headroom.plugins.module_utils._model.releases import series as series_of
from ansible_collections.etcdops.headroom.plugins.module_utils._model.releases import version_key
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import Settings, Workload, settings_with


@dataclass(frozen=True)
class Case:
    """The input of a plan. pinned: the user's settings, checked, by name; the plan keeps them.

    budget, volume, db_size: in bytes. db_size: of the largest database file today, 0 before there is one.
    """

    version: str
    workload: Workload
    members: int
    pinned: dict[str, Any] = field(default_factory=dict)
    budget: int = 0
    volume: int | None = None
    db_size: int = 0

    def with_workload(self, **changes: Any) -> Case:
        """Return the case with another workload."""
        return replace(self, workload=replace(self.workload, **changes))

    def unpinned(self, *names: str) -> Case:
        """Return the case with these settings, and those that have no meaning without them, left to the plan."""
        left = {*names, *(other for name in names for other in self.bound_to(name))}
        return replace(self, pinned={name: value for name, value in self.pinned.items() if name not in left})

    def bound_to(self, name: str) -> tuple[str, ...]:
        """Return the pinned settings that have no meaning without this one: a retention in revisions without its mode."""
        of_revisions = name == "auto_compaction_mode" and self.pinned.get(name) == "revision"
        return ("auto_compaction_retention",) if of_revisions and "auto_compaction_retention" in self.pinned else ()

    @cached_property
    def settings(self) -> Settings:
        """The pinned settings, and the release's defaults for the others."""
        return settings_with(self.version, self.pinned)

    @property
    def series(self) -> str:
        """The series of the release, such as 3.6."""
        return series_of(self.version)

    @property
    def rules(self) -> dict[str, Any]:
        """The plan's own constants for this series."""
        rules: dict[str, Any] = PLAN[self.series]
        return rules

    @property
    def constants(self) -> Constants:
        """The model's constants for this series."""
        return CONSTANTS_HIGH[self.series]

    @property
    def memory_max(self) -> int:
        """MemoryMax: the user's, or the budget."""
        pinned: int | None = self.pinned.get("memory_max")
        return self.budget if pinned is None else pinned

    @property
    def memory_high(self) -> int:
        """MemoryHigh: the user's, or a little below MemoryMax, in whole MiB."""
        pinned: int | None = self.pinned.get("memory_high")
        return self.memory_max * self.constants.memory_high // 1000 // MIB * MIB if pinned is None else pinned

    @property
    def quota_ceiling(self) -> int:
        """The largest quota that the plan may choose: etcd's own advice, or what a smaller volume has room for."""
        advised = self.constants.quota_max
        return advised if self.volume is None else min(advised, self.volume_room // MIB * MIB)

    @property
    def volume_room(self) -> int:
        """The bytes of the volume that the database may take; 0 for an unknown volume."""
        share: int = self.rules["volume_share"]
        return (self.volume or 0) * share // 1000

    @property
    def has_gomemlimit(self) -> bool:
        """Return whether this release was built with a Go that supports GOMEMLIMIT."""
        return version_key(self.version) >= version_key(SERIES[self.series]["gomemlimit_since"])


def default_of(case: Case, name: str) -> Any:
    """Return this release's default of a setting."""
    return SETTINGS[name][case.series]["default"]


def largest(name: str) -> int:
    """Return the largest value that the model takes for a setting."""
    most: int = ESTIMATE_SETTINGS[name]["max"]
    return most
