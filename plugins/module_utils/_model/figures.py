# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Types for the figures of one member: those that the search for a plan compares, and those that only reports show.

Private to the collection. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import (
    CONSTANTS_HIGH,
    CONSTANTS_LOW,
    Constants,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas import (
    defrag,
    garbage,
    limits,
    live_heap,
    records,
    storage,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import Settings, Workload


@dataclass(frozen=True)
class Totals:
    """The figures that a report shows in addition, in bytes."""

    heap_peak: int
    restart_heap_peak: int
    rss_file_peak: int
    defrag_rss_anon_peak: int
    memory_max_with_snapshot: int
    memory_max_recommended: int


@dataclass(frozen=True)
class Low:
    """The low ends of the figures, in bytes."""

    db: records.Database
    components: records.Components
    defragmentation: int


@dataclass(frozen=True)
class Figures:
    """The memory of a member. db and required: the high ends, which limits are computed from."""

    version: str
    series: str
    members: int
    workload: Workload
    settings: Settings
    db: records.Database
    required: records.Required

    @property
    def constants(self) -> Constants:
        """The model's constants for this series, at their high ends."""
        return CONSTANTS_HIGH[self.series]

    @property
    def raft_entries(self) -> int:
        """The entries of the raft log in memory, at most."""
        return storage.raft_entries(self.constants, self.settings)

    @property
    def raft_log_growth(self) -> int:
        """What the leader's raft log grows by while a follower receives a snapshot, in bytes."""
        return storage.raft_log_growth(self.constants, self.workload, self.settings, self.members, self.db)

    @property
    def defragmentation(self) -> int:
        """What a defragmentation needs in addition to the live heap, in bytes."""
        return defrag.defragmentation(self.constants, self.db)

    def low(self) -> Low:
        """Return the low ends. Right after a compaction the raft log has only the catch-up entries."""
        constants, workload, settings = CONSTANTS_LOW[self.series], self.workload, self.settings
        db = storage.database(constants, workload, settings)
        entries = settings.snapshot_catchup_entries
        components = live_heap.components(constants, workload, settings, self.members, db, entries)
        return Low(db, components, defrag.defragmentation(constants, db))

    def totals(self) -> Totals:
        """Return the figures that only a report shows."""
        constants, settings, required = self.constants, self.settings, self.required
        parts = required.components
        copies = garbage.marking_puts(constants, self.workload)
        marked = required.heap_live + garbage.marking_garbage(constants, self.workload, parts.index) + copies
        heap = garbage.heap_peak(constants, settings, marked, parts.range_answers + parts.watch_events)
        restart = garbage.heap_peak(constants, settings, required.restart_heap_live + copies, parts.start_up)
        saved_down_to = defrag.defragmentation(CONSTANTS_LOW[self.series], self.db)
        return Totals(
            heap_peak=heap,
            restart_heap_peak=max(heap, restart),
            rss_file_peak=limits.file_peak(constants, settings, required, self.db),
            defrag_rss_anon_peak=defrag.defrag_anon_peak(
                constants, settings, required, saved_down_to, self.defragmentation
            ),
            memory_max_with_snapshot=limits.memory_max_with_snapshot(constants, required),
            memory_max_recommended=limits.memory_max_recommended(constants, required, self.db),
        )
