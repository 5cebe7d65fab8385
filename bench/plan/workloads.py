"""The workloads that the plan is proved on: what is stated to the plan, and exactly that is driven.

The seeds of the project are among them: 100 kB and 1 MB values, 10 kB values with a snapshot-count of 100,000 (the default of 3.5), and
Easegress' one large value that is written again and again. Budgets are so small that etcd's defaults need more, or (small values) are not:
a proof that only has cases where the defaults fail would not show what the plan costs where they do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MIB = 1 << 20
KEY_SIZE = 64
# Kubernetes compacts every five minutes: a burst of puts ends before the first compaction.
SELDOM = {"auto_compaction_mode": "periodic", "auto_compaction_retention": "5m"}
# As in the published measurements: all the while.
OFTEN = {"auto_compaction_mode": "periodic", "auto_compaction_retention": "5s"}


@dataclass(frozen=True)
class Workload:
    """What is stated, and driven. Sizes in bytes.

    A paced workload goes on for ever at `rate` puts a second, well below what etcd can do, and is compacted all the while: its latency is
    that of a member with time to spare. The others are bursts between two compactions: a fixed number of clients put as fast as etcd
    answers, which fills memory fastest. The plan is told a rate that is more than is reached (the report says if it was not), and how many
    revisions of each key there will be.
    puts: to each configuration, in as many slices; between two slices the other configurations have theirs.
    """

    name: str
    version: str
    value_size: int
    keys: int
    rate: int
    budget: int
    puts: int
    slices: int
    clients: int = 32
    connections: int = 8
    members: int = 1
    paced: bool = False

    def stated(self) -> dict[str, Any]:
        """What the plan is told. There are no watches and no ranges: whatever margin they would give is not there."""
        told = {
            "value_size": self.value_size,
            "key_size": KEY_SIZE,
            "keys": self.keys,
            "puts_per_second": self.rate,
            "clients": self.connections,
            "watch_streams": 0,
            "watchers": 0,
            "leases": 0,
            "range_size": 0,
        }
        if not self.paced:
            told["revisions_per_key"] = -(-self.puts * 3 // 2 // self.keys)  # a full WAL for the restart comes on top
        return told

    @property
    def compaction(self) -> dict[str, Any]:
        """How the database is compacted, in every configuration."""
        return OFTEN if self.paced else SELDOM

    @property
    def slice_puts(self) -> int:
        """Puts in one slice."""
        return self.puts // self.slices

    @property
    def disk(self) -> int:
        """Bytes of disk that the three configurations together take at most: WAL and database, and a full WAL for the restart."""
        written = self.members * self.puts * (self.value_size + 1024)
        return 3 * 2 * written + 3 * self.members * 512 * MIB + 2 * self.budget * self.members

    @property
    def memory(self) -> int:
        """Bytes of memory that the three configurations together take at most, page cache left out.

        Without a limit no more entries than puts can be in memory, and Go's heap grows to twice what is live.
        """
        return self.members * (2 * self.budget + int(2.3 * self.puts * (self.value_size + 256)) + 64 * MIB)


WORKLOADS = [
    # The first is the quick one: its defaults are killed soon.
    Workload("3.7 100 kB", "3.7.3", 100_000, 500, 2500, 768 * MIB, 12_000, 8),
    Workload("3.5 100 kB", "3.5.35", 100_000, 500, 2500, 1024 * MIB, 16_000, 8),
    Workload("3.5 1 MB", "3.5.35", 1_000_000, 50, 500, 2048 * MIB, 2_000, 8, clients=16),
    Workload("3.5 10 kB", "3.5.35", 10_000, 20_000, 12_000, 512 * MIB, 110_000, 10),
    Workload("3.6 1 MB", "3.6.16", 1_000_000, 50, 500, 1536 * MIB, 2_000, 8, clients=16),
    Workload("3.7 1 MB, one key", "3.7.3", 1_000_000, 1, 400, 1280 * MIB, 2_000, 8, clients=16),
    Workload("3.6 100 kB, three members", "3.6.16", 100_000, 500, 1200, 768 * MIB, 6_000, 6, members=3),
    Workload("3.7 1 kB", "3.7.3", 1_000, 100_000, 12_000, 384 * MIB, 120_000, 8),
    Workload("3.5 10 kB, paced", "3.5.35", 10_000, 2000, 2000, 768 * MIB, 48_000, 8, paced=True),
    # The same with less than it needs to leave five seconds of writes between two disk snapshots: what that costs.
    Workload("3.5 10 kB, paced, tight", "3.5.35", 10_000, 2000, 2000, 512 * MIB, 48_000, 8, paced=True),
    Workload("3.7 100 kB, paced", "3.7.3", 100_000, 500, 400, 1024 * MIB, 7_200, 6, paced=True),
]
