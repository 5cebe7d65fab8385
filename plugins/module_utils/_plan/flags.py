# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Describe a plan: each flag with its value, its reason and its source.

Private to the collection. Pure. _plan/search.py finds the flags.
"""

from __future__ import annotations

from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import (
    MIB,
    format_count,
    format_size,
    format_sizes_distinctly,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.wal import wal_bytes
from ansible_collections.etcdops.headroom.plugins.module_utils._model import estimate
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.storage import put_size
from ansible_collections.etcdops.headroom.plugins.module_utils._model.release_tables import SETTINGS
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import Settings
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.case import Case, default_of
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.histories import histories
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.search import (
    Choice,
    fits,
    required_bytes,
    search,
    trial,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.steps import (
    MODERATE_PRESSURE,
    NO_PRESSURE,
    wanted_catchup,
)


def describe(case: Case, choice: Choice, assumed: list[str]) -> dict[str, Any]:
    """Return the plan in the shape that the module documents."""
    chosen = choice.settings
    names = ["snapshot_count", "snapshot_catchup_entries", "quota_backend_bytes", "auto_compaction_mode"]
    names += [
        "auto_compaction_retention",
        *(name for name in ("max_request_bytes", "memory_mlock") if name in case.pinned),
    ]
    environment = {}
    if chosen.gogc != 100 or "gogc" in case.pinned:
        environment["GOGC"] = str(chosen.gogc)
    if chosen.gomemlimit is not None:
        environment["GOMEMLIMIT"] = go_size(chosen.gomemlimit)
    # The figures may rest on a longer history than the workload's own.
    described = {**estimate.describe(choice.figures, assumed), "workload": case.workload.as_dict()}
    rate = rate_with_room(case, choice)
    return {
        "version": case.version,
        "members": case.members,
        "budget": case.budget,
        "settings": {name: getattr(chosen, name) for name in names},
        "environment": environment,
        "memory_high": case.memory_high,
        "memory_max": case.memory_max,
        "snapshot_puts_per_second": rate,
        "estimate": described,
        "flags": flags(case, choice),
        "notes": [*plan_notes(case, choice, rate), *described["notes"]],
    }


def plan_notes(case: Case, choice: Choice, rate: int) -> list[str]:
    """Return the notes on this plan, in addition to those on its estimate. rate: of ``rate_with_room``."""
    texts = []
    if rate < case.workload.puts_per_second:
        away = choice.settings.snapshot_catchup_entries // case.workload.puts_per_second
        texts.append(
            f"a follower that was away for more than {format_count(away)} s receives a snapshot, and MemoryMax has room for the growth of the "
            f"leader's raft log during that time only up to {format_count(rate)} puts/s"
        )
    quota = choice.settings.quota_backend_bytes
    history = next(
        one
        for one in histories(case)
        if one.settings.auto_compaction_retention == choice.settings.auto_compaction_retention
    )
    if case.volume is not None and quota < 0:
        texts.append(
            f"without a quota the database may fill the volume of {format_size(case.volume)}: etcd then crashes"
        )
    limit = quota or case.constants.quota_default
    log = wal_bytes(choice.settings.snapshot_count, put_size(case.workload))
    if case.volume is not None and 0 <= limit and limit + log > case.volume:
        needed, volume = format_sizes_distinctly(limit + log, case.volume)
        texts.append(
            f"the quota of {format_size(limit)} and a write-ahead log of up to {format_size(log)} may need {needed}, and the volume has {volume}: unless the "
            "log has its own volume, a full disk would stop etcd before its quota stops writes. Use a larger volume, or lower quota_backend_bytes"
        )
    if 0 <= limit < case.db_size * case.rules["quota_room"] // 1000 and history.db_size <= case.db_size:
        size, quota_text = format_sizes_distinctly(case.db_size, limit)
        texts.append(
            f"the database file has {size}, and the largest quota that fits is {quota_text}: defragment in time"
        )
    elif 0 <= limit < history.db_size:
        size, quota_text = format_sizes_distinctly(history.db_size, limit)
        texts.append(
            f"the database may reach {size}, free pages included, and the quota is {quota_text}: defragment in time"
        )
    return texts


def rate_with_room(case: Case, choice: Choice) -> int:
    """Return the puts a second, at most those of the workload, at which a leader stays below MemoryHigh while a follower receives a snapshot."""

    def has_room(rate: int) -> bool:
        figures = trial(case.with_workload(puts_per_second=rate), choice.settings)
        return fits(case, figures, cached=False, room=True)

    enough, most = 0, case.workload.puts_per_second
    if choice.has_room:
        return most
    while most - enough > 1:
        middle = (enough + most) // 2
        enough, most = (middle, most) if has_room(middle) else (enough, middle)
    return enough


def flags(case: Case, choice: Choice) -> list[dict[str, Any]]:
    """Return every flag with its value, the value as text, its reason and its source."""
    rows = []
    for name, reason in reasons(case, choice).items():
        value = getattr(choice.settings, name)
        source = "computed"
        if name in case.pinned:
            source, reason = "pinned", pinned_cost(case, choice, name)
        elif name in SETTINGS and value == default_of(case, name):
            source = "default"
        rows.append({"name": name, "value": value, "text": shown(name, value), "reason": reason, "source": source})
    return rows


def reasons(case: Case, choice: Choice) -> dict[str, str]:
    """Return the reason for each flag, by name, in the order of the report."""
    chosen, required, writes = choice.settings, choice.figures.required, case.workload.puts_per_second
    catchup, snapshot = chosen.snapshot_catchup_entries, chosen.snapshot_count
    span = f"{format_count(catchup // writes)} s of writes" if writes else "no writes"
    if catchup < min(wanted_catchup(case), case.rules["catchup_seconds"] * writes):
        span += f", less than the recommended {case.rules['catchup_seconds']} s"
    follower = "for followers that fall behind" if case.members > 1 else "a single member needs few"
    peak = format_size(required.restart_rss_anon_peak)
    often = f"a disk snapshot every {format_count(max(snapshot // writes, 1))} s" if writes else "rare disk snapshots"
    if case.constants.raft_compacts_every > 0:
        why_snapshot = f"{often}; bounds the peak after a restart: RssAnon {peak}"
    else:
        why_snapshot = (
            f"{often}; the log grows to catch-up + snapshot-count: RssAnon {format_size(required.rss_anon_peak)}"
        )
    db = format_size(choice.figures.db.size)
    found = {
        "snapshot_catchup_entries": f"{span}, {follower}",
        "snapshot_count": why_snapshot,
        "quota_backend_bytes": why_quota(case, choice.figures.db.size),
        "auto_compaction_mode": "history by time"
        if chosen.auto_compaction_mode == "periodic"
        else "history by revisions",
        "auto_compaction_retention": why_retention(case, chosen, db),
    }
    if chosen.gogc != 100 or "gogc" in case.pinned:
        found["gogc"] = "collects garbage earlier" + (
            "" if case.has_gomemlimit else "; this release does not support GOMEMLIMIT"
        )
    if chosen.gomemlimit is not None:
        pace = {NO_PRESSURE: "a safety margin above the expected peak", MODERATE_PRESSURE: "limits the heap's peak"}
        found["gomemlimit"] = pace.get(
            choice.gc_pressure, "limits the heap strictly: the garbage collector takes more CPU"
        )
    found["memory_high"] = "the kernel reclaims clean pages before it kills the member"
    found["memory_max"] = "the budget"
    return found


def why_quota(case: Case, expected: int) -> str:
    """Return the reason for the quota. expected: the size of the database that the model expects, in bytes."""
    if case.db_size > expected:
        return f"the database file has {format_size(case.db_size)} today"
    return f"the database is expected to reach {format_size(expected)}"


def why_retention(case: Case, chosen: Settings, db: str) -> str:
    """Return the reason for the length of the history."""
    if chosen.auto_compaction_mode == "periodic" and chosen.retention < case.rules["retention_enough"]:
        return f"the longest history that fits: the database reaches {db}"
    return f"the longest history with a viable database ({db}) and index"


def pinned_cost(case: Case, choice: Choice, name: str) -> str:
    """Return what a pinned setting costs, compared with the value that the plan would choose."""
    other = search(case.unpinned(name))
    if other is None:
        return "yours; without it nothing fits"
    free = getattr(other.settings, name)
    if free == getattr(choice.settings, name):
        return "yours; the plan would choose the same"
    difference = required_bytes(choice.figures) - required_bytes(other.figures)
    cost = (
        f"{format_size(abs(difference))} {'more' if difference > 0 else 'less'} at the peak"
        if difference
        else "the same peak"
    )
    return f"yours; {cost} than with {shown(name, free)}"


def shown(name: str, value: Any) -> str:
    """Return a setting's value as text."""
    if name in ("quota_backend_bytes", "max_request_bytes", "gomemlimit", "memory_high", "memory_max") and value > 0:
        return format_size(value)
    return format_count(value) if isinstance(value, int) and not isinstance(value, bool) else str(value)


def go_size(size: int) -> str:
    """Return a size as GOMEMLIMIT takes it."""
    return f"{size // MIB}MiB" if size % MIB == 0 else f"{size}B"
