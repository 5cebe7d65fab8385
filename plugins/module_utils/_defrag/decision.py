# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide whether a member should be defragmented, and whether it may be now. Pure.

etcd defragments by copying its database into a new file; until it has replaced the old one, the member answers no
request. So members are defragmented one at a time, followers first, and the leader last, after another member leads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import (
    MIB,
    format_size,
    format_sizes_distinctly,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._base.versions import minor
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, Member
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.database_space import GROWTH_BYTES
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.drain import drain_verdict
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import NOSPACE
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_metrics import MemberMetrics
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.wal import NEW_LOG_BYTES
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import (
    CONSTANTS_HIGH,
    CONSTANTS_LOW,
    Constants,
)

# In addition to the copy: the database grows, and so does a write-ahead log on the same volume.
DISK_SPARE = GROWTH_BYTES + NEW_LOG_BYTES
# Memory that the kernel counts in addition to RssAnon: sockets, page tables, pages under writeback.
MEMORY_SPARE = 32 * MIB


class DefragError(ValueError):
    """An invalid request for a defragmentation, or one that failed; the text says why."""


@dataclass(frozen=True)
class Thresholds:
    """When a defragmentation is worthwhile: at least ``free_share`` percent and ``free_size`` bytes of the file are free."""

    free_share: int
    free_size: int


@dataclass(frozen=True)
class HostCapacity:
    """Disk and memory of a member's host in bytes. None is unknown, as everything is of members on other hosts.

    directory: the data directory. free: free bytes of its filesystem. rss_anon: the process's heap and stacks.
    limit: where the kernel kills the process. high: where it throttles the process and reclaims its pages. parent_limit: the
    smallest of both that only the groups above its unit have. available: memory that the host has left. go_limit: its GOMEMLIMIT.
    """

    directory: str
    free: int | None = None
    rss_anon: int | None = None
    limit: int | None = None
    high: int | None = None
    parent_limit: int | None = None
    available: int | None = None
    go_limit: int | None = None

    @property
    def bound(self) -> int | None:
        """Return where memory ends for the process: without swap, the kernel cannot reclaim a heap above ``high``."""
        return min((size for size in (self.limit, self.high) if size is not None), default=None)


@dataclass(frozen=True)
class Verdict:
    """Whether to defragment a member, with the reason if not.

    transient: waiting may help. settled: there is no work left. move_to: the member that must lead first.
    """

    go: bool
    reason: str
    transient: bool = False
    settled: bool = False
    move_to: str = ""


def validate_thresholds(thresholds: Thresholds) -> None:
    """Raise DefragError for thresholds out of range."""
    if not 0 <= thresholds.free_share <= 99:
        raise DefragError(
            f"free_share is {thresholds.free_share}, but must be 0 to 99 percent of the database; 45 is usual"
        )
    if thresholds.free_size < 0:
        raise DefragError(f"free_size is {thresholds.free_size}, but must be 0 or more bytes; 100MB is usual")


def reclaimable_space(member: Member) -> tuple[int, int]:
    """Return the space that a defragmentation would free, in bytes and in percent of the file, both rounded down."""
    size, used = member.db_size or 0, member.db_size_in_use or 0
    free = max(0, size - used)
    return free, free * 100 // size if size else 0


def is_worthwhile(member: Member, thresholds: Thresholds) -> bool:
    """Return whether enough of this member's database is free to defragment it."""
    free, share = reclaimable_space(member)
    return free > 0 and share >= thresholds.free_share and free >= thresholds.free_size


def describe_database(member: Member) -> str:
    """Return how much of a member's database is free, as text."""
    free, share = reclaimable_space(member)
    return f"{format_size(free)} of {format_size(member.db_size or 0)} ({share} %) are free"


def defrag_order(cluster: Cluster, thresholds: Thresholds) -> list[Member]:
    """Return the voting members that are worth defragmenting, in order: followers by name, then the leader."""
    wanted = [member for member in cluster.members if member.votes and is_worthwhile(member, thresholds)]
    return sorted(wanted, key=lambda member: (member.role == "leader", member.name))


def skip_verdict(cluster: Cluster, name: str, thresholds: Thresholds) -> Verdict | None:
    """Return why a member is skipped regardless of the other members; None if it should be defragmented."""
    if cluster.unreachable:
        return Verdict(False, cluster.unreachable, transient=True)
    this = cluster.member(name)
    if this is None:
        return Verdict(False, cluster.absence(name))
    if not this.votes:
        return Verdict(False, f"{name} is a learner, which is not defragmented until it votes", settled=True)
    if this.db_size is None:
        # A healthy member's status may time out; its health has no error then.
        return Verdict(False, f"{name} returned no status: {this.status_error or this.health_error}", transient=True)
    if not is_worthwhile(this, thresholds):
        free, share = reclaimable_space(this)
        free_text, threshold_text = format_sizes_distinctly(free, thresholds.free_size)
        return Verdict(
            False,
            f"{name} does not need defragmentation: {free_text} of {format_size(this.db_size)} ({share} %) are free; the "
            f"thresholds are {thresholds.free_share} % and {threshold_text}",
            settled=True,
        )
    return None


def cluster_verdict(
    cluster: Cluster,
    name: str,
    metrics: Mapping[str, MemberMetrics | str],
    max_lag: int,
    prefer: list[str],
) -> Verdict:
    """Decide whether the state of the cluster allows defragmenting the member ``name`` now.

    metrics: of each voting member, or why they could not be read. max_lag: raft entries that a member may be behind.
    prefer: members preferred as the next leader, such as those that are defragmented already.
    """
    voters = [member for member in cluster.members if member.votes]
    unhealthy = [f"{member.name or member.id} ({member.health_error})" for member in voters if not member.healthy]
    if unhealthy:
        return Verdict(
            False, f"not every voting member is healthy: {', '.join(unhealthy)}; repair that first", transient=True
        )
    alarms = sorted({alarm["type"] for alarm in cluster.alarms} - {NOSPACE})
    if alarms:
        members = ", ".join(alarm["member"] for alarm in cluster.alarms if alarm["type"] in alarms)
        return Verdict(False, f"the alarm {', '.join(alarms)} is set for {members}; clear its cause first")
    behind = [f"{member.name} by {member.lag} entries" for member in voters if (member.lag or 0) > max_lag]
    if behind:
        return Verdict(False, f"members lag behind: {', '.join(behind)}; at most {max_lag} are allowed", transient=True)
    for member in voters:
        found = metrics.get(member.name, "they were not read")
        if isinstance(found, str):
            return Verdict(
                False, f"the metrics of {member.name} do not say whether it sends a snapshot: {found}", transient=True
            )
        if found.defrag_obstacle():
            return Verdict(False, f"{member.name} {found.defrag_obstacle()}", transient=True)
    verdict = drain_verdict(cluster, name, prefer, max_lag)
    return Verdict(verdict.allowed, verdict.reason, transient=verdict.transient, move_to=verdict.move_to)


def copy_bytes(member: Member, metrics: MemberMetrics) -> tuple[int, int]:
    """Return the lowest and the highest number of bytes that etcd needs to copy one transaction of 10,000 keys.

    The lowest is what is in use at once, the highest adds the garbage that accumulates before Go collects it.
    """
    low, high = _constants(member, CONSTANTS_LOW), _constants(member, CONSTANTS_HIGH)
    used = member.db_size_in_use or 0
    size = metrics.bytes_per_revision
    chunk = used if size is None else min(used, high.defrag_chunk * size)
    return chunk * low.defrag_copies // 1000, chunk * high.defrag_copies // 1000


def _constants(member: Member, by_series: dict[str, Constants]) -> Constants:
    return by_series.get(minor(member.version or "")) or by_series[max(by_series)]


def peak_rss_anon(member: Member, metrics: MemberMetrics, host: HostCapacity) -> int | None:
    """Return the highest RssAnon that the member's process may reach while it is defragmented, None if unknown.

    The copies are in addition to the largest heap that Go allows; GOMEMLIMIT makes Go collect garbage earlier.
    """
    if host.rss_anon is None:
        return None
    low, high = copy_bytes(member, metrics)
    goal = metrics.heap_goal or host.rss_anon
    most = max(host.rss_anon, goal) + high
    if host.go_limit is None:
        return most
    # Without a limit Go collects when the heap has doubled; near the limit its goal may be all that is in use.
    live = goal if goal * 10 >= host.go_limit * 9 else goal // 2
    pressed = (live + low) * _constants(member, CONSTANTS_HIGH).gomemlimit_floor // 1000
    return min(most, max(host.go_limit, pressed, host.rss_anon))


def disk_problem(member: Member, host: HostCapacity) -> str:
    """Return why the disk has too little space for the copy; empty if there is enough, or if its free space is unknown."""
    needed = (member.db_size_in_use or 0) + DISK_SPARE
    if host.free is None or host.free >= needed:
        return ""
    free_text, needed_text = format_sizes_distinctly(host.free, needed)
    return (
        f"the filesystem of {host.directory} has {free_text} free, but the copy and the growing WAL need {needed_text}: "
        "free some space, or use a larger volume"
    )


def required_memory_limit(member: Member, metrics: MemberMetrics, host: HostCapacity) -> int | None:
    """Return the memory limit in bytes that a defragmentation needs; None if the present limits are enough or unset."""
    most, bound = peak_rss_anon(member, metrics, host), host.bound
    if bound is None or most is None:
        return None
    return most + MEMORY_SPARE if most + MEMORY_SPARE > bound else None


def memory_problem(member: Member, metrics: MemberMetrics, host: HostCapacity, may_raise: bool) -> str:
    """Return why memory is not sufficient; empty if it is, or if the process's memory is unknown.

    may_raise: the limit of the unit may be raised during the defragmentation if the host has the memory.
    """
    needed, bound = required_memory_limit(member, metrics, host), host.bound
    if needed is None or bound is None:
        return ""
    needed_text, limit_text = format_sizes_distinctly(needed, bound)
    text = (
        f"{member.name} may briefly grow from {format_size(host.rss_anon or 0)} to {needed_text}, above its memory limit "
        f"of {limit_text}"
    )
    if host.parent_limit is not None and host.parent_limit < needed:
        return f"{text}, and a control group above its unit has {format_size(host.parent_limit)}: raise the limits of its slice"
    if not may_raise:
        return f"{text}: raise etcd_memory_budget, or allow raising the limit for that time (raise_memory)"
    if host.available is not None and host.available < needed - (host.rss_anon or 0):
        return f"{text}, and the host has only {format_size(host.available)} left: give it more memory"
    return ""
