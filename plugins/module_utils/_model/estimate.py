# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Estimate how much memory a member of etcd needs, by component and in total.

Private to the collection. Pure. The arithmetic is in _model/formulas/, the texts are in _model/explanations.py.
"""

from __future__ import annotations

from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import CONSTANTS_HIGH
from ansible_collections.etcdops.headroom.plugins.module_utils._model.explanations import component_rows, notes
from ansible_collections.etcdops.headroom.plugins.module_utils._model.figures import Figures
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas import limits, storage
from ansible_collections.etcdops.headroom.plugins.module_utils._model.releases import series as series_of
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import Settings, Workload, parse_input


def compute(version: str, workload: Workload, settings: Settings, members: int) -> Figures:
    """Return the figures for input that is already checked."""
    series = series_of(version)
    constants = CONSTANTS_HIGH[series]
    db = storage.database(constants, workload, settings)
    required = limits.required(constants, workload, settings, members, db)
    return Figures(version, series, members, workload, settings, db, required)


def estimate(version: Any, workload: Any, settings: Any = None, members: Any = 3) -> dict[str, Any]:
    """Return what a member needs, in bytes, as the module etcd_memory_estimate documents it.

    Sizes may carry a unit. Raises UnknownVersion, or BadInput with every problem.
    """
    given = parse_input(version, workload, {} if settings is None else settings, members)
    return describe(compute(version, given.workload, given.settings, members), given.assumed)


def describe(figures: Figures, assumed: list[str]) -> dict[str, Any]:
    """Return an estimate in the shape that the module documents. assumed: the workload's fields with a default's value."""
    db, required, totals = figures.db, figures.required, figures.totals()
    return {
        "version": figures.version,
        "series": figures.series,
        "members": figures.members,
        "workload": figures.workload.as_dict(),
        "assumed": assumed,
        "settings": figures.settings.as_dict(),
        "components": component_rows(figures),
        "heap_live": required.heap_live,
        "heap_peak": totals.heap_peak,
        "restart_heap_live": required.restart_heap_live,
        "rss_anon_peak": required.rss_anon_peak,
        "rss_file_peak": totals.rss_file_peak,
        "rss_peak": required.rss_anon_peak + totals.rss_file_peak,
        "restart_heap_peak": totals.restart_heap_peak,
        "restart_rss_anon_peak": required.restart_rss_anon_peak,
        "raft_log_growth": figures.raft_log_growth,
        "follower_snapshot_rss_anon_peak": required.follower_snapshot_rss_anon_peak,
        "defrag_rss_anon_peak": totals.defrag_rss_anon_peak,
        "db_size": db.size,
        "db_in_use": db.in_use,
        "db_hot": required.db_hot,
        "outside_go": required.outside_go,
        "memory_max_least": required.memory_max_least,
        "memory_max_with_snapshot": totals.memory_max_with_snapshot,
        "memory_max_recommended": totals.memory_max_recommended,
        "notes": notes(figures, totals),
    }
