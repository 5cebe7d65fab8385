# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Search for flags that keep a workload within a memory budget, with the smallest trade-offs.

Private to the collection. Pure. _plan/ladder.py has the order in which memory is saved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import (
    format_count,
    format_size,
    format_sizes_distinctly,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._model.estimate import compute
from ansible_collections.etcdops.headroom.plugins.module_utils._model.figures import Figures
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.records import MIB
from ansible_collections.etcdops.headroom.plugins.module_utils._model.inputs import ESTIMATE_SETTINGS
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import Settings
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.case import Case
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.histories import (
    History,
    histories,
    planned_workload,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.ladder import EASY, FREE, HARD, Rung, ladder


@dataclass(frozen=True)
class Choice:
    """A set of flags, its figures, the GC pressure, and the number of its rung (0: nothing was traded away)."""

    settings: Settings
    level: int
    figures: Figures
    rung: int = 0

    @property
    def has_room(self) -> bool:
        """Return whether a leader stays below MemoryHigh while a follower receives a snapshot."""
        high = self.settings.memory_high
        return high is not None and required_bytes(self.figures, room=True) <= high


def trial(case: Case, settings: Settings) -> Figures:
    """Return the figures of a case with these settings."""
    return compute(case.version, planned_workload(case, settings), settings, case.members)


def outside_go(figures: Figures, cached: bool) -> int:
    """Return the bytes that must fit outside Go's memory: with the whole database, or with its hot pages only."""
    required = figures.required
    return required.outside_go - required.db_hot + figures.db.size if cached else required.outside_go


def required_bytes(figures: Figures, cached: bool = False, room: bool = False) -> int:
    """Return the bytes that must fit below MemoryHigh: the largest peak, and everything outside Go's memory.

    room: whether a leader counts while a follower receives a snapshot.
    """
    required = figures.required
    peak = max(required.restart_rss_anon_peak, required.follower_snapshot_rss_anon_peak if room else 0)
    return peak + outside_go(figures, cached)


def fits(case: Case, figures: Figures, cached: bool, room: bool = False) -> bool:
    """Return whether the member stays below MemoryHigh."""
    return required_bytes(figures, cached, room) <= case.memory_high


def gc_pressure(figures: Figures, gomemlimit: int) -> int:
    """Return GOMEMLIMIT in permille of the live heap, for the larger heap of a running member and one that restarts."""
    return gomemlimit * 1000 // max(figures.required.heap_live, figures.required.restart_heap_live)


def evaluate(case: Case, settings: Settings, rung: Rung) -> Choice | None:
    """Return these flags with the Go settings that leave the collector the most headroom, or None if nothing fits."""
    if not case.has_gomemlimit or "gomemlimit" in case.pinned:
        return evaluate_gogc(case, settings, rung)
    free = trial(case, settings)
    limit = (case.memory_high - outside_go(free, rung.cached)) // MIB * MIB
    if limit < ESTIMATE_SETTINGS["gomemlimit"]["min"]:
        return None
    limited = replace(settings, gomemlimit=limit)
    figures = trial(case, limited)
    if not fits(case, figures, rung.cached, rung.room):
        return None
    easy = gc_pressure(figures, limit) >= case.rules["gomemlimit_easy"]
    # While a follower receives a snapshot, the collector may work harder.
    level = FREE if fits(case, free, rung.cached) else EASY if easy else HARD
    return Choice(limited, level, figures) if level <= rung.level else None


def evaluate_gogc(case: Case, settings: Settings, rung: Rung) -> Choice | None:
    """Return these flags with the largest GOGC that fits, or None."""
    steps = [settings.gogc] if "gogc" in case.pinned else case.rules["gogc_steps"][: rung.level + 1]
    for level, gogc in enumerate(steps):
        candidate = replace(settings, gogc=gogc)
        figures = trial(case, candidate)
        if fits(case, figures, rung.cached, rung.room):
            return Choice(candidate, level, figures)
    return None


def search(case: Case) -> Choice | None:
    """Return the flags that fit with the smallest trade-offs, or None."""
    viable = histories(case)
    if database_problem(case, viable) is not None:
        return None
    rungs = ladder(case, viable)
    if smallest(case, rungs[-1], rungs[-1].entries[-1]) is None:
        return None
    for number, rung in enumerate(rungs):
        choice = first_fit(case, rung)
        if choice is not None:
            return replace(choice, rung=number)
    return None


def attempt(case: Case, rung: Rung, compaction: Settings, catchup: int, snapshot: int) -> Choice | None:
    """Evaluate one combination of a rung's candidates."""
    settings = replace(
        compaction,
        snapshot_catchup_entries=catchup,
        snapshot_count=snapshot,
        memory_max=case.memory_max,
        memory_high=case.memory_high,
    )
    return evaluate(case, settings, rung)


def smallest(case: Case, rung: Rung, catchup: int) -> Choice | None:
    """Evaluate a rung's smallest candidates with so many catch-up entries."""
    return attempt(case, rung, rung.compactions[-1], catchup, rung.snapshots[-1])


def first_fit(case: Case, rung: Rung) -> Choice | None:
    """Return the first combination of a rung's candidates that fits, or None."""
    for catchup in rung.entries:
        # If the smallest candidates do not fit with so many entries, no candidates do.
        if smallest(case, rung, catchup) is None:
            continue
        for compaction in rung.compactions:
            for snapshot in rung.snapshots:
                choice = attempt(case, rung, compaction, catchup, snapshot)
                if choice is not None:
                    return choice
    return None


def database_problem(case: Case, viable: list[History]) -> str | None:
    """Return why the database does not fit its quota even with the shortest history, or None."""
    settings, size = viable[-1].settings, viable[-1].db_in_use
    quota = settings.quota_backend_bytes or case.constants.quota_default
    what = "the quota is" if "quota_backend_bytes" in case.pinned else "the largest quota of a plan is"
    if case.volume is not None and (quota < 0 or quota == case.quota_ceiling < case.constants.quota_max):
        quota = case.volume_room if quota < 0 else quota
        what = f"a volume of {format_size(case.volume)} has room for"
    if 0 <= quota <= case.db_size:
        file, limit = format_sizes_distinctly(case.db_size, quota)
        return f"the database file has {file} today, {what} {limit}, and etcd would refuse puts from there on"
    if quota < 0 or size <= quota:
        return None
    data = f"live keys and the history of {settings.auto_compaction_retention}"
    revisions = planned_workload(case, settings).revisions_per_key
    if revisions is not None:
        data = f"live keys with {format_count(revisions)} revisions each (workload.revisions_per_key)"
    return f"{data} take {format_size(size)} of database, {what} {format_size(quota)}"


def minimal_plan(case: Case) -> Figures:
    """Return the figures of the smallest viable flags, without limits on memory."""
    rung = ladder(case, histories(case))[-1]
    settings = replace(
        rung.compactions[-1],
        snapshot_catchup_entries=rung.entries[-1],
        snapshot_count=rung.snapshots[-1],
        memory_high=None,
        memory_max=None,
    )
    if "gogc" not in case.pinned and not case.has_gomemlimit:
        settings = replace(settings, gogc=case.rules["gogc_steps"][-1])
    if "gomemlimit" not in case.pinned and case.has_gomemlimit:
        settings = replace(settings, gomemlimit=ESTIMATE_SETTINGS["gomemlimit"]["min"])
    return trial(case, settings)
