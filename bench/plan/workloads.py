"""The workloads of the proof: what the plan's workload states is exactly what is driven.

They include the cases that the project began with: 100 kB and 1 MB values, 10 kB values with a snapshot-count of 100,000 (the default of
3.5), and Easegress' one large value that is overwritten continuously. Most budgets are too small for etcd's defaults. Those of small values
are not, because only such cases show what the plan costs where the defaults would fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB

KEY_SIZE = 64
# Kubernetes compacts every five minutes, so a burst of puts ends before the first compaction.
SELDOM = {"auto_compaction_mode": "periodic", "auto_compaction_retention": "5m"}
# Continuously, as in the published measurements.
OFTEN = {"auto_compaction_mode": "periodic", "auto_compaction_retention": "5s"}


@dataclass(frozen=True)
class Workload:
    """A workload as stated and driven. Sizes in bytes.

    A paced workload sends `rate` puts a second, well below etcd's maximum, and compacts continuously: its latency is that of a member
    with spare time. The others are bursts between two compactions: a fixed number of clients put as fast as etcd answers, which fills
    memory fastest. The stated rate is above the one reached (the report says if it is not), and the stated revisions are those per key.
    puts: for each configuration, in `slices` slices that alternate with those of the other configurations.
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
        """Return the workload as the plan takes it, without watches and ranges, which would add a margin."""
        workload = {
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
            workload["revisions_per_key"] = -(
                -self.puts * 3 // 2 // self.keys
            )  # in addition, a full WAL for the restart
        return workload

    @property
    def compaction(self) -> dict[str, Any]:
        """Return the settings of compaction, the same in every configuration."""
        return OFTEN if self.paced else SELDOM

    @property
    def slice_puts(self) -> int:
        """Return the number of puts in one slice."""
        return self.puts // self.slices

    @property
    def disk(self) -> int:
        """Return the upper bound in bytes of disk for all three configurations: WAL, database, and a full WAL for the restart."""
        written = self.members * self.puts * (self.value_size + 1024)
        return 3 * 2 * written + 3 * self.members * 512 * MIB + 2 * self.budget * self.members

    @property
    def memory(self) -> int:
        """Return the upper bound in bytes of memory for all three configurations, without page cache.

        Without a limit, memory holds at most as many entries as there were puts, and Go's heap grows to twice the live heap.
        """
        return self.members * (2 * self.budget + int(2.3 * self.puts * (self.value_size + 256)) + 64 * MIB)


WORKLOADS = [
    # --quick takes the first one: its defaults are killed soon.
    Workload("3.7 100 kB", "3.7.3", 100_000, 500, 2500, 768 * MIB, 12_000, 8),
    Workload("3.5 100 kB", "3.5.35", 100_000, 500, 2500, 1024 * MIB, 16_000, 8),
    Workload("3.5 1 MB", "3.5.35", 1_000_000, 50, 500, 2048 * MIB, 2_000, 8, clients=16),
    Workload("3.5 10 kB", "3.5.35", 10_000, 20_000, 12_000, 512 * MIB, 110_000, 10),
    Workload("3.6 1 MB", "3.6.16", 1_000_000, 50, 500, 1536 * MIB, 2_000, 8, clients=16),
    Workload("3.7 1 MB, one key", "3.7.3", 1_000_000, 1, 400, 1280 * MIB, 2_000, 8, clients=16),
    Workload("3.6 100 kB, three members", "3.6.16", 100_000, 500, 1200, 768 * MIB, 6_000, 6, members=3),
    Workload("3.7 1 kB", "3.7.3", 1_000, 100_000, 12_000, 384 * MIB, 120_000, 8),
    Workload("3.5 10 kB, paced", "3.5.35", 10_000, 2000, 2000, 768 * MIB, 48_000, 8, paced=True),
    # The same with a budget too small for five seconds of writes between two disk snapshots, to show the cost.
    Workload("3.5 10 kB, paced, tight", "3.5.35", 10_000, 2000, 2000, 512 * MIB, 48_000, 8, paced=True),
    Workload("3.7 100 kB, paced", "3.7.3", 100_000, 500, 400, 1024 * MIB, 7_200, 6, paced=True),
]
