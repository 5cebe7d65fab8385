# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide which stored snapshots retention removes. Pure."""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import store
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.store import Metadata, StoredSnapshot

_HOUR, _DAY = 3600, 86400  # seconds


def expired_paths(
    stored: list[StoredSnapshot], *, cluster_id: str, keep: int, keep_days: int | None, now: float
) -> list[str]:
    """Return the paths to remove, oldest first, once a new snapshot has been saved and verified.

    ``stored`` does not contain the new snapshot, which is the first of the ``keep``, so the last good one is never removed.
    Kept are the newest ``keep``, those that were younger than ``keep_days`` (None: no such rule) at the time of the newest
    stored one, and the newest one that passed its drill, because newer ones have not been tested yet. The age is not that at
    ``now``, in seconds since 1970, because a clock that is ahead for one run would remove them all. Damaged snapshots and those
    of other clusters are neither counted nor removed.
    """
    ours = newest_first(stored, cluster_id, now)
    tested = newest_drilled(ours)
    newest = min([now, *(item.metadata.taken_at for item in ours[:1] if item.metadata)])
    oldest_kept = newest - keep_days * _DAY if keep_days is not None else float("inf")
    return [
        item.path
        for item in reversed(ours[keep - 1 :])
        if item.metadata and item.metadata.taken_at <= oldest_kept and item is not tested
    ]


def newest_drilled(newest: list[StoredSnapshot]) -> StoredSnapshot | None:
    """Return the newest snapshot that passed its drill, None without one. newest: as ``newest_first`` returns them."""
    return next((item for item in newest if item.drilled), None)


def lost_revisions(stored: list[StoredSnapshot], metadata: Metadata) -> str:
    """Return why a new snapshot must not replace older ones: a cluster's revisions never decrease. Empty if it may.

    A cluster that is deployed again under its name and URLs has its old id, and none of its data. Snapshots of the last hour do not count,
    because members may be behind one another.
    """
    older = [
        item.metadata.revision
        for item in newest_first(stored, metadata.cluster_id, metadata.taken_at)
        if item.metadata and item.metadata.taken_at < metadata.taken_at - _HOUR
    ]
    best = max(older, default=0)
    if best <= metadata.revision:
        return ""
    return (
        f"no old snapshot is removed: revision {metadata.revision} is lower than {best} of an earlier snapshot of this cluster, so the cluster "
        "lost data or was deployed again; restore it, or move the old snapshots elsewhere"
    )


def newest_first(stored: list[StoredSnapshot], cluster_id: str, now: float) -> list[StoredSnapshot]:
    """Return the good snapshots of a cluster, newest first; an empty id means all clusters.

    Those dated in the future do not count: a wrong clock would make one of them the newest for as long as its error.
    """
    ours = [
        (item.metadata.taken_at, store.name_order(item.path), item)
        for item in stored
        if item.metadata
        and not item.problem
        and cluster_id in ("", item.metadata.cluster_id)
        and item.metadata.taken_at <= now + _HOUR
    ]
    return [item for _taken_at, _name, item in sorted(ours, key=lambda entry: entry[:2], reverse=True)]


def problems_after(stored: list[StoredSnapshot], newest: StoredSnapshot | None) -> list[StoredSnapshot]:
    """Return the snapshots with a problem whose names are newer than that of ``newest`` (None: all), oldest first."""
    return [
        item
        for item in stored
        if item.problem and (newest is None or store.name_order(item.path) > store.name_order(newest.path))
    ]


def untouched(stored: list[StoredSnapshot], cluster_id: str, now: float) -> list[dict[str, str]]:
    """Return path and reason of the snapshots that retention neither counts nor removes."""
    found = []
    for item in stored:
        if item.problem:
            found.append({"path": item.path, "reason": item.problem})
        elif item.metadata and item.metadata.cluster_id != cluster_id:
            found.append({"path": item.path, "reason": f"it belongs to the cluster {item.metadata.cluster_id}"})
        elif item.metadata and item.metadata.taken_at > now + _HOUR:
            found.append({"path": item.path, "reason": "it is dated in the future: check the clocks of the hosts"})
    return found
