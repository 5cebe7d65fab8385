# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Search for flags that keep a workload within a memory budget, with the smallest trade-offs.

Private to the collection. Pure. _plan/steps.py has the order in which memory is saved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import (
    MIB,
    format_count,
    format_size,
    format_sizes_distinctly,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._model.estimate import compute
from ansible_collections.etcdops.headroom.plugins.module_utils._model.figures import Figures
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.garbage import smallest_heap
from ansible_collections.etcdops.headroom.plugins.module_utils._model.inputs import ESTIMATE_SETTINGS
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import Settings
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.case import Case
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.histories import (
    History,
    histories,
    planned_workload,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.steps import (
    HIGH_PRESSURE,
    MODERATE_PRESSURE,
    NO_PRESSURE,
    Step,
    search_steps,
)


@dataclass(frozen=True)
class Choice:
    """A set of flags, its figures, the GC pressure, and the number of its step (0: nothing was traded away)."""

    settings: Settings
    gc_pressure: int
    figures: Figures
    step: int = 0

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


def largest_heap_live(figures: Figures) -> int:
    """Return the larger live heap of a running member and one that restarts."""
    return max(figures.required.heap_live, figures.required.restart_heap_live)


def gomemlimit_permille(figures: Figures, gomemlimit: int) -> int:
    """Return GOMEMLIMIT in permille of the live heap."""
    return gomemlimit * 1000 // largest_heap_live(figures)


def smallest_gomemlimit(case: Case, figures: Figures) -> int:
    """Return the smallest GOMEMLIMIT with which Go does not collect garbage all the time."""
    return smallest_heap(case.constants, largest_heap_live(figures), 0)


def evaluate(case: Case, settings: Settings, step: Step) -> Choice | None:
    """Return these flags with the Go settings that leave the collector the most headroom, or None if nothing fits."""
    if not case.has_gomemlimit or "gomemlimit" in case.pinned:
        return evaluate_gogc(case, settings, step)
    unlimited = trial(case, settings)
    limit = (case.memory_high - outside_go(unlimited, step.cached)) // MIB * MIB
    if limit < ESTIMATE_SETTINGS["gomemlimit"]["min"]:
        return None
    # Go counts the untouched buffers for peers, and the kernel does not, so that a smaller limit could fit.
    lowest = smallest_gomemlimit(case, unlimited)
    limited = replace(settings, gomemlimit=max(limit, lowest))
    figures = trial(case, limited)
    if not fits(case, figures, step.cached, step.room):
        return None
    is_moderate = gomemlimit_permille(figures, limit) >= case.rules["gomemlimit_easy"]
    # While a follower receives a snapshot, the collector may work harder.
    if limit >= lowest and fits(case, unlimited, step.cached):
        pressure = NO_PRESSURE
    else:
        pressure = MODERATE_PRESSURE if is_moderate else HIGH_PRESSURE
    return Choice(limited, pressure, figures) if pressure <= step.gc_pressure else None


def evaluate_gogc(case: Case, settings: Settings, step: Step) -> Choice | None:
    """Return these flags with the largest GOGC that fits, or None."""
    values = [settings.gogc] if "gogc" in case.pinned else case.rules["gogc_steps"][: step.gc_pressure + 1]
    for pressure, gogc in enumerate(values):
        candidate = replace(settings, gogc=gogc)
        figures = trial(case, candidate)
        if fits(case, figures, step.cached, step.room):
            return Choice(candidate, pressure, figures)
    return None


def search(case: Case) -> Choice | None:
    """Return the flags that fit with the smallest trade-offs, or None."""
    viable = histories(case)
    if database_problem(case, viable) is not None:
        return None
    steps = search_steps(case, viable)
    if smallest(case, steps[-1], steps[-1].entries[-1]) is None:
        return None
    for number, step in enumerate(steps):
        choice = first_fit(case, step)
        if choice is not None:
            return replace(choice, step=number)
    return None


def attempt(case: Case, step: Step, compaction: Settings, catchup: int, snapshot: int) -> Choice | None:
    """Evaluate one combination of a step's candidates."""
    settings = replace(
        compaction,
        snapshot_catchup_entries=catchup,
        snapshot_count=snapshot,
        memory_max=case.memory_max,
        memory_high=case.memory_high,
    )
    return evaluate(case, settings, step)


def smallest(case: Case, step: Step, catchup: int) -> Choice | None:
    """Evaluate a step's smallest candidates with this many catch-up entries."""
    return attempt(case, step, step.compactions[-1], catchup, step.snapshots[-1])


def first_fit(case: Case, step: Step) -> Choice | None:
    """Return the first combination of a step's candidates that fits, or None."""
    for catchup in step.entries:
        # If the smallest candidates do not fit with this many entries, no candidates do.
        if smallest(case, step, catchup) is None:
            continue
        for compaction in step.compactions:
            for snapshot in step.snapshots:
                choice = attempt(case, step, compaction, catchup, snapshot)
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
    revisions, puts = planned_workload(case, settings).revisions_per_key, case.workload.puts_per_second
    if settings.retention == 0 and revisions is None and puts > 0:
        return (
            f"auto_compaction_retention is 0, so the history of {format_count(puts)} puts per second grows without a bound: set a retention, or state "
            "workload.revisions_per_key and waive the rule compaction/off if something else compacts, such as the API server of Kubernetes"
        )
    if quota < 0 or size <= quota:
        return None
    data = f"live keys and the history of {settings.auto_compaction_retention}"
    if revisions is not None:
        data = f"live keys with {format_count(revisions)} revisions each (workload.revisions_per_key)"
    return f"{data} take {format_size(size)} of database, {what} {format_size(quota)}"


def minimal_plan(case: Case) -> Figures:
    """Return the figures of the smallest viable flags, without limits on memory."""
    step = search_steps(case, histories(case))[-1]
    settings = replace(
        step.compactions[-1],
        snapshot_catchup_entries=step.entries[-1],
        snapshot_count=step.snapshots[-1],
        memory_high=None,
        memory_max=None,
    )
    if "gogc" not in case.pinned and ("gomemlimit" in case.pinned or not case.has_gomemlimit):
        settings = replace(settings, gogc=case.rules["gogc_steps"][-1])
    if "gomemlimit" not in case.pinned and case.has_gomemlimit:
        settings = replace(settings, gomemlimit=ESTIMATE_SETTINGS["gomemlimit"]["min"])
    return trial(case, settings)
