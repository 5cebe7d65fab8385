# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of the search for a plan: what is traded away for memory, the cheapest first.

Private to the collection. Pure. docs/plan.md explains the order:

1. catch-up entries beyond 30 s of writes, or beyond the default of 5,000 where that is more; a single member, which has no
   follower, keeps 100
2. GC headroom: GOMEMLIMIT (GOGC before etcd 3.5.8) down to 1.33 times the live heap
3. five seconds of writes between two disk snapshots, down to what CPU and fsync can bear at any rate
4. catch-up entries down to 1,000
5. room for the whole database in the page cache: from here on etcd rereads parts of it from the disk
6. GOMEMLIMIT down to 1.1 times the live heap, and snapshot-count below what CPU and fsync can bear
7. room for the growth of the leader's raft log while a follower receives a snapshot, instead of 5 and 6; where that is not enough, with
   them
8. history shorter than five minutes
9. catch-up entries down to 100, or 1 for a single member

For each number of catch-up entries the search lowers snapshot-count first, then shortens the history, as far as the step
allows. No step allows more catch-up entries than the one before it, and the order does not depend on the budget, so a larger budget
never leads to fewer of them. Pinned settings never change.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ansible_collections.etcdops.headroom.plugins.module_utils._model.arithmetic import divide_up
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas import storage
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import Settings
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.case import Case, default_of, largest
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.histories import History, compactions

# The allowed pressure on the garbage collector.
NO_PRESSURE, MODERATE_PRESSURE, HIGH_PRESSURE = 0, 1, 2


@dataclass(frozen=True)
class Step:
    """The candidates of one step, each list from the largest to the smallest in memory.

    gc_pressure: the allowed pressure on the garbage collector. cached: whether the whole database must fit outside Go's memory, so that
    no page of it is read from the disk twice. room: whether the leader's raft log must fit while a follower receives a snapshot.
    """

    entries: list[int]
    compactions: list[Settings]
    snapshots: list[int]
    gc_pressure: int
    cached: bool
    room: bool


def wanted_catchup(case: Case) -> int:
    """Return the entries of 30 s of writes, in hundreds; a single member has no follower to keep them for."""
    rules = case.rules
    if case.members == 1:
        single: int = rules["catchup_single"]
        return single
    lowest: int = rules["catchup_several"]
    entries = divide_up(rules["catchup_seconds"] * case.workload.puts_per_second, 100) * 100
    return min(max(lowest, entries), largest("snapshot_catchup_entries"))


def descending(top: int, bottom: int) -> list[int]:
    """Return round numbers from top down to bottom, each about a fifth less than the one before, both ends included."""
    found = [top]
    while found[-1] > bottom:
        after = found[-1] * 4 // 5
        step = 10 ** max(len(str(after)) - 2, 0)
        found.append(max(after // step * step, bottom))
    return found


def search_steps(case: Case, viable: list[History]) -> list[Step]:
    """Return the steps in the order in which they are tried. viable: the histories to choose from."""
    rules = case.rules
    wanted = wanted_catchup(case)
    several = min(wanted, rules["catchup_several"])
    floor = rules["catchup_floor"]["several" if case.members > 1 else "single"]
    generous = wanted if case.members == 1 else max(wanted, default_of(case, "snapshot_catchup_entries"))
    rare, sustainable, all_counts = snapshot_counts(case)
    long, short = compactions(case, viable)
    steps = [
        Step(descending(generous, wanted), long, rare, NO_PRESSURE, cached=True, room=True),
        Step([wanted], long, rare, MODERATE_PRESSURE, cached=True, room=True),
        Step(descending(wanted, several), long, sustainable, MODERATE_PRESSURE, cached=True, room=True),
        Step([several], long, sustainable, MODERATE_PRESSURE, cached=False, room=True),
        Step([several], long, all_counts, HIGH_PRESSURE, cached=False, room=True),
        Step([several], long, sustainable, MODERATE_PRESSURE, cached=True, room=False),
        Step([several], long, sustainable, MODERATE_PRESSURE, cached=False, room=False),
        Step([several], long, all_counts, HIGH_PRESSURE, cached=False, room=False),
        Step(descending(several, floor), short, all_counts, HIGH_PRESSURE, cached=False, room=False),
    ]
    if "snapshot_catchup_entries" in case.pinned:
        steps = [replace(step, entries=[case.settings.snapshot_catchup_entries]) for step in steps]
    return steps


def snapshot_counts(case: Case) -> tuple[list[int], list[int], list[int]]:
    """Return the values of snapshot-count for rare disk snapshots, those that CPU and fsync can bear, and all of them."""
    if "snapshot_count" in case.pinned:
        pinned = [case.settings.snapshot_count]
        return pinned, pinned, pinned
    rules, soft = case.rules, case.rules["snapshot_count_soft"]
    put = storage.put_size(case.workload)
    # A start replays the log since the last disk snapshot, so the log on disk has a limit too.
    counts = [count for count in rules["snapshot_counts"] if count <= soft or count * put <= rules["wal_bytes"]]
    sustainable = [count for count in counts if count >= soft]
    # The puts during a disk snapshot wait for two more syncs; if snapshots are rare, p99 does not show it.
    lowest_rare = min(rules["snapshot_seconds"] * case.workload.puts_per_second, sustainable[0])
    return [count for count in sustainable if count >= lowest_rare], sustainable, counts
