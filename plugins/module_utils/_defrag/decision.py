# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a member may and should be defragmented now. Private to the collection. Pure: bad input raises DefragError.

While etcd defragments, the member answers nothing: it copies its database into a new file and puts that in the place of
the old one. So one member at a time, followers first, and the leader last, once another one leads. How it is done:
_defrag/run.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, Member
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.drain import drain_verdict
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_metrics import MemberMetrics
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import CONSTANTS

MIB = 1 << 20
# Beside the copy: bbolt grows a file by 16 MiB, and a WAL on the same volume goes on by files of 64 MB.
DISK_SPARE = 16 * MIB + 2 * 64 * MIB
# What the kernel counts for the process beside RssAnon: sockets, page tables, pages that are being written.
MEMORY_SPARE = 32 * MIB


class DefragError(ValueError):
    """A request for a defragmentation that cannot be meant, or one that went wrong; the text says how."""


@dataclass(frozen=True)
class Thresholds:
    """When it pays: free pages are at least ``free_share`` percent of the file and at least ``free_size`` bytes."""

    free_share: int
    free_size: int


@dataclass(frozen=True)
class HostCapacity:
    """What is known of a member's host, in bytes; None for what is not, as with every member on another host.

    directory: that of the database. free: what its filesystem has. rss_anon, limit: the process's heap and stacks, and
    the limit at which the kernel kills it. available: what the host could still give. go_limit: the process's GOMEMLIMIT.
    """

    directory: str
    free: int | None = None
    rss_anon: int | None = None
    limit: int | None = None
    available: int | None = None
    go_limit: int | None = None


@dataclass(frozen=True)
class Verdict:
    """Whether to go on with a member.

    ``may_pass``: waiting may help. ``settled``: nothing has to be done. ``move_to``: the member that has to lead first.
    """

    go: bool
    reason: str
    may_pass: bool = False
    settled: bool = False
    move_to: str = ""


def validate_thresholds(thresholds: Thresholds) -> None:
    """Raise DefragError for thresholds that cannot be meant."""
    if not 0 <= thresholds.free_share <= 99:
        raise DefragError(
            f"free_share is {thresholds.free_share}, but must be 0 to 99 percent of the database; 45 is usual"
        )
    if thresholds.free_size < 0:
        raise DefragError(f"free_size is {thresholds.free_size}, but must be 0 or more bytes; 100MB is usual")


def reclaimable_space(member: Member) -> tuple[int, int]:
    """Return what a defragmentation would give back, in bytes and in percent of the file, both rounded down."""
    size, used = member.db_size or 0, member.db_size_in_use or 0
    free = max(0, size - used)
    return free, free * 100 // size if size else 0


def is_worthwhile(member: Member, thresholds: Thresholds) -> bool:
    """Say whether a defragmentation of this member is worth its while."""
    free, share = reclaimable_space(member)
    return free > 0 and share >= thresholds.free_share and free >= thresholds.free_size


def describe_database(member: Member) -> str:
    """Return a member's database in words."""
    free, share = reclaimable_space(member)
    return f"{format_size(free)} of {format_size(member.db_size or 0)} ({share} %) are free"


def defrag_order(cluster: Cluster, thresholds: Thresholds) -> list[Member]:
    """Return the voting members for which it pays, in the order in which they take their turns: the leader last."""
    wanted = [member for member in cluster.members if member.votes and is_worthwhile(member, thresholds)]
    return sorted(wanted, key=lambda member: (member.role == "leader", member.name))


def skip_verdict(cluster: Cluster, name: str, thresholds: Thresholds) -> Verdict | None:
    """Return the verdict on a member that needs no defragmentation, whatever the state of the others; None if it does."""
    if not cluster.members:
        return Verdict(False, f"no member of the cluster answers ({cluster.error}); start etcd, or set endpoints")
    this = cluster.member(name)
    if this is None:
        names = ", ".join(member.name or member.id for member in cluster.members)
        return Verdict(False, f"the cluster has no member named {name!r}; its members are {names}")
    if not this.votes:
        return Verdict(False, f"{name} is a learner, which is left alone until it votes", settled=True)
    if this.db_size is None:
        return Verdict(False, f"{name} does not answer: {this.health_error}")
    if not is_worthwhile(this, thresholds):
        return Verdict(
            False,
            f"it does not pay: {describe_database(this)}, wanted are {thresholds.free_share} % and "
            f"{format_size(thresholds.free_size)}",
            settled=True,
        )
    return None


def cluster_verdict(
    cluster: Cluster,
    name: str,
    activities: Mapping[str, MemberMetrics | str],
    max_lag: int,
    prefer: list[str],
) -> Verdict:
    """Decide whether the member ``name`` may be defragmented now, as far as the cluster goes.

    activities: for each voting member what its metrics say, or why they could not be read. max_lag: raft entries that a
    member may be behind. prefer: who should lead instead of this one, such as those that are defragmented already.
    """
    voters = [member for member in cluster.members if member.votes]
    ill = [f"{member.name or member.id} ({member.health_error})" for member in voters if not member.healthy]
    if ill:
        return Verdict(False, f"not every voting member is healthy: {', '.join(ill)}; repair that first", may_pass=True)
    alarms = sorted({alarm["type"] for alarm in cluster.alarms} - {"NOSPACE"})
    if alarms:
        members = ", ".join(alarm["member"] for alarm in cluster.alarms if alarm["type"] in alarms)
        return Verdict(False, f"the alarm {', '.join(alarms)} is set for {members}; clear its cause first")
    behind = [f"{member.name} by {member.lag} entries" for member in voters if (member.lag or 0) > max_lag]
    if behind:
        return Verdict(False, f"a member has yet to catch up: {', '.join(behind)}", may_pass=True)
    for member in voters:
        seen = activities.get(member.name, "they were not read")
        if isinstance(seen, str):
            return Verdict(
                False, f"whether {member.name} sends a snapshot cannot be told from its metrics: {seen}", may_pass=True
            )
        if seen.obstacle():
            return Verdict(False, f"{member.name} {seen.obstacle()}", may_pass=True)
    verdict = drain_verdict(cluster, name, prefer, max_lag)
    return Verdict(verdict.allowed, verdict.reason, may_pass=verdict.may_pass, move_to=verdict.move_to)


def copy_bytes(member: Member, activity: MemberMetrics) -> tuple[int, int]:
    """Return the bytes that a defragmentation takes for copies of one transaction of 10,000 keys: at least, at most.

    The most is with the garbage that piles up before Go collects, the least is what is in use at once.
    """
    constants = _constants(member)
    used = member.db_size_in_use or 0
    chunk = used if activity.revision is None else min(used, int(constants["defrag_chunk"]) * activity.revision)
    factors = constants["defrag_copies"]
    return chunk * int(factors["low"]) // 1000, chunk * int(factors["high"]) // 1000


def _constants(member: Member) -> dict[str, Any]:
    series = ".".join((member.version or "").split(".")[:2])
    found: dict[str, Any] = CONSTANTS.get(series) or CONSTANTS[max(CONSTANTS)]
    return found


def peak_rss_anon(member: Member, activity: MemberMetrics, local: HostCapacity) -> int | None:
    """Return the most RssAnon that the member's process may have meanwhile, None if it is not known.

    The heap may be as large as Go lets it grow, and the copies come on top; GOMEMLIMIT takes the garbage away earlier.
    """
    if local.rss_anon is None:
        return None
    low, high = copy_bytes(member, activity)
    goal = activity.heap_goal or local.rss_anon
    most = max(local.rss_anon, goal) + high
    if local.go_limit is None:
        return most
    # Without a limit Go collects when the heap has doubled; near the limit its goal may be all that is in use.
    live = goal if goal * 10 >= local.go_limit * 9 else goal // 2
    pressed = (live + low) * int(_constants(member)["gomemlimit_floor"]) // 1000
    return min(most, max(local.go_limit, pressed, local.rss_anon))


def disk_problem(member: Member, local: HostCapacity) -> str:
    """Say why the copy has no room on the disk, or return an empty string; also where that is not known."""
    needed = (member.db_size_in_use or 0) + DISK_SPARE
    if local.free is None or local.free >= needed:
        return ""
    return (
        f"the filesystem of {local.directory} has {format_size(local.free)} free, but the copy and the WAL meanwhile need "
        f"{format_size(needed)}: free some space, or take a larger volume"
    )


def required_memory_limit(member: Member, activity: MemberMetrics, local: HostCapacity) -> int | None:
    """Return the limit in bytes that a defragmentation needs, None if the present one, or none at all, is enough."""
    most = peak_rss_anon(member, activity, local)
    if local.limit is None or most is None:
        return None
    return most + MEMORY_SPARE if most + MEMORY_SPARE > local.limit else None


def memory_problem(member: Member, activity: MemberMetrics, local: HostCapacity, may_raise: bool) -> str:
    """Say why memory does not suffice, or return an empty string; also where that is not known.

    may_raise: the limit may be raised meanwhile, if the host has the memory.
    """
    needed = required_memory_limit(member, activity, local)
    if needed is None or local.limit is None:
        return ""
    text = (
        f"it may take etcd from {format_size(local.rss_anon or 0)} to {format_size(needed)} for a moment, above its limit "
        f"of {format_size(local.limit)}"
    )
    if not may_raise:
        return f"{text}: raise etcd_memory_budget, or let the limit be raised meanwhile (raise_memory)"
    if local.available is not None and local.available < needed - (local.rss_anon or 0):
        return f"{text}, and the host has only {format_size(local.available)} left: give it more memory"
    return ""
