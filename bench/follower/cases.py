"""The cases: three members under the plan's MemoryMax, whose clients keep to the stated rate while a follower is away and returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._plan.plan import parse_case, plan_flags
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.remedies import smallest_budget

from bench.plan.workloads import Workload

MEMBERS = 3
# The smallest budget that has room for the leader's raft log while a follower receives a snapshot, and the smallest of all.
ROOM, LEAST = BUDGETS = ("with room", "the smallest")


@dataclass(frozen=True)
class Case:
    """A workload with one of its two budgets. rate: puts a second, which two members of three on this machine sustain."""

    version: str
    value_size: int
    keys: int
    rate: int
    budget: str

    @property
    def name(self) -> str:
        """The case as the results name it."""
        return f"{self.version}, {self.rate} puts/s of {self.value_size:,} B, {self.budget}"

    def workload(self, budget: int) -> Workload:
        """Return the workload as the plan states it and as the load drives it."""
        return Workload(
            self.name, self.version, self.value_size, self.keys, self.rate, budget, 0, 1, members=MEMBERS, paced=True
        )

    def pinned(self) -> dict[str, Any]:
        """Return the settings that the plan does not choose.

        Before 3.6 the log is compacted every snapshot-count entries. A small one shows a whole skipped compaction within the time of a case.
        """
        compaction = self.workload(0).compaction
        return {**compaction, "snapshot_count": 1000} if self.version.startswith("3.5.") else compaction

    def plan(self) -> dict[str, Any]:
        """Return the plan for the case's budget."""
        stated, pinned = self.workload(0).stated(), self.pinned()
        whole, _assumed = parse_case(self.version, stated, MEMBERS, 1 << 34, pinned, None)

        budget = smallest_budget(whole, lambda choice: self.budget == LEAST or choice.has_room)
        assert budget is not None
        return plan_flags(self.version, stated, MEMBERS, budget, pinned)


CASES = [
    Case(version, value_size, keys, rate, budget)
    for version in ("3.5.35", "3.6.16", "3.7.3")
    for value_size, keys, rate in ((100_000, 300, 60), (4_000, 5000, 700))
    for budget in BUDGETS
]
