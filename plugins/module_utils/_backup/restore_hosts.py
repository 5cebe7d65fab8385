# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide for a restore what depends on all hosts: the members that start first, and the clusters whose snapshots it accepts. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def start_order(generations: Mapping[str, int], unprepared: Sequence[str]) -> dict[str, Any]:
    """Return which members start only once the others serve (``later``), and the ``generation`` of the data that this run prepares.

    generations: for each host whose data the restore has prepared, in which run it last did, from 0. unprepared: the hosts that this run prepares.

    A member that is prepared again comes back without its log, under its old id. If it voted before the others serve, it could elect a leader that lacks a
    write which only the lost data and one other member had. So those with the oldest data start first: all that were never prepared again, or just enough
    members for a majority, which then elects the one with the newest log.
    """
    order = [*sorted(generations, key=lambda host: (generations[host], host.lower())), *unprepared]
    known = list(generations.values())
    oldest = known.count(min(known)) if known else len(unprepared)
    majority = len(order) // 2 + 1
    return {"generation": max(known, default=-1) + 1, "later": order[max(oldest, majority) :]}


def snapshot_clusters(host: str, running: str, ids: Mapping[str, str], origins: Mapping[str, str]) -> list[str]:
    """Return the ids of the clusters whose snapshots belong to the cluster to restore; empty if its id is unknown.

    host: the host that asks. running: the id of the running cluster, empty if no member answers. ids: of the cluster that wrote the data of each host of the
    restore; origins: of the cluster whose snapshot that data was restored from; both may be empty. Snapshots of the origin belong to the cluster too. All
    hosts count, because a new host has no data, and would know only the id that the cluster got by an earlier restore.
    """
    own = [running] if running else [found for found in ids.values() if found]
    if not own:
        return []
    former = [origin for one, origin in origins.items() if one == host or ids[one] in own]
    return list(dict.fromkeys(found for found in [*own, *former] if found))
