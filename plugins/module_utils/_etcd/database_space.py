# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Divide a database into live data, history and free pages, and recommend the action that frees space. Pure.

History is revisions that the next compaction may drop; free pages are returned to the filesystem by a defragmentation
only. All three count towards the quota.
"""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_count, format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Member
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_metrics import MemberMetrics

# What a database may grow by while it is copied: bbolt allocates 16 MiB at a time.
GROWTH_BYTES = 32 << 20
# Live data above this share of the quota (percent) leaves too little room for history: etcd would soon be full again.
CROWDED = 80
# Below this share of the quota (percent) the alarm NOSPACE may be disarmed.
DISARM_BELOW = 90


@dataclass(frozen=True)
class DatabaseSpace:
    """The parts of one member's database in bytes; live data and history are estimated from their revision counts.

    quota: None if the member reports none, or a negative one, with which its size is not limited.
    keys, revisions: the numbers of live keys and of older revisions.
    """

    member: str
    size: int
    quota: int | None
    live: int
    history: int
    free: int
    keys: int
    revisions: int

    @property
    def largest(self) -> str:
        """The largest part: live, history or free."""
        return max(("free", "history", "live"), key=lambda part: int(getattr(self, part)))


def is_below_quota(size: int, quota: int) -> bool:
    """Return whether a database is well below its quota, so that the alarm NOSPACE may be disarmed. A negative quota limits nothing.

    Source: NewBackendQuota in server/storage/quota.go (3.6 and 3.7) and server/etcdserver/quota.go (3.5).
    """
    return quota < 0 or size * 100 < quota * DISARM_BELOW


def divide_database(member: Member, metrics: MemberMetrics) -> DatabaseSpace:
    """Return the parts of a member's database."""
    size, used = member.db_size or 0, member.db_size_in_use or 0
    quota = member.db_quota or metrics.quota
    keys, revisions = metrics.keys or 0, metrics.history or 0
    live = used * keys // (keys + revisions) if keys + revisions else used
    return DatabaseSpace(
        member=member.name,
        size=size,
        quota=None if quota is None or quota < 0 else quota,
        live=live,
        history=used - live,
        free=max(0, size - used),
        keys=keys,
        revisions=revisions,
    )


def explain_space(space: DatabaseSpace) -> str:
    """Return a sentence with the parts of the database and the action that frees space."""
    of_quota = f" of its quota of {format_size(space.quota)}" if space.quota else ""
    parts = (
        f"live data {format_size(space.live)} ({format_count(space.keys)} keys), "
        f"history {format_size(space.history)} ({format_count(space.revisions)} revisions), "
        f"free pages {format_size(space.free)}"
    )
    return f"{space.member} uses {format_size(space.size)}{of_quota}: {parts}; {_REMEDIES[_case(space)]}"


def _case(space: DatabaseSpace) -> str:
    if space.quota and space.live * 100 >= space.quota * CROWDED:
        return "crowded"
    return space.largest


_REMEDIES = {
    "crowded": "the live data alone nearly fills it: delete keys, or raise etcd_quota_backend_bytes",
    "live": "mostly live data: compaction and defragmentation help for a while, then delete keys or raise the quota",
    "history": "mostly history: compact it; let etcd do so by itself (etcd_auto_compaction_retention)",
    "free": "mostly free pages: defragment; let a timer do so (role etcd_maintenance)",
}
