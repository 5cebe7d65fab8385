"""The cases that the memory model is fitted to (part "fit") and compared with (parts "check" and "unseen").

A case describes how a member is started and loaded. Each component of the model has cases in the first two parts. Those of part
"check" have different sizes and counts, and no constant was fitted to them. The figures for a restart were corrected after they had
been seen, so the cases of part "unseen" were measured later; accuracy.md.in lists what has changed since.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB

# In 3.5 the log grows to catch-up + snapshot-count; the default of 100,000 suits only small values.
SERIES = ("3.5", "3.6", "3.7")


@dataclass(frozen=True)
class Case:
    """One start of etcd under one load.

    Sizes in bytes. puts: by etcd's benchmark, put_size each; rate: puts (transactions) a second, 0 is as fast as it goes. txn_ops: puts in
    one transaction. compact_every: seconds between two compactions that keep compact_keep revisions, 0 is never.
    retention: of etcd's own periodic compaction, in seconds, 0 is never. defrag: save a snapshot and defragment after the restart.
    """

    name: str
    component: str
    part: str
    series: str
    value_size: int = 16
    key_size: int = 32
    keys: int = 1000
    puts: int = 0
    rate: int = 0
    txn_ops: int = 1
    clients: int = 16
    snapshot_count: int = 1000
    catchup: int = 100
    gogc: int = 100
    gomemlimit: int = 0
    members: int = 1
    tls: bool = False
    compact_every: int = 0
    compact_keep: int = 1000
    retention: int = 0
    connections: int = 0
    streams: int = 0
    watchers_per_stream: int = 1
    watched_keys: int = 1
    leases: int = 0
    range_clients: int = 0
    range_keys: int = 0
    defrag: bool = False
    quick: bool = False

    @property
    def held(self) -> bool:
        """Return whether the case holds connections or watches, with only a small load of puts."""
        return not self.puts and (self.connections > 0 or self.streams > 0)

    @property
    def puts_after_restart(self) -> int:
        """Return the puts needed for the longest raft log and a garbage collection."""
        refill = self.catchup + (self.snapshot_count if self.series == "3.5" else 200)
        least = 500 if self.value_size > 4096 else max(3000, self.keys // 100)
        return max(refill, least) * self.txn_ops


def log(name: str, value: int, catchup: int, snapshot: int, part: str, series: str, **more: Any) -> Case:
    """Return a case that fills the raft log and leaves nearly snapshot-count entries in the WAL for the restart."""
    teeth = 4 if series == "3.5" else 1
    puts = max(catchup, teeth * snapshot) // snapshot * snapshot + snapshot * 19 // 20
    while puts < catchup + snapshot:
        puts += snapshot
    fields: dict[str, Any] = {"keys": 1000, "puts": puts, "clients": 32, **more}
    return Case(
        name,
        "raft log",
        part,
        series,
        value_size=value,
        catchup=catchup,
        snapshot_count=snapshot,
        **fields,
    )


def raft_log(series: str) -> Iterator[Case]:
    """Vary value sizes, catch-up entries, snapshot-count, the collector's settings, and one or three members."""
    yield log("log-512B-slow", 512, 500, 1000, "fit", series, rate=300)
    yield log("log-256B", 256, 5000, 10000, "fit", series)
    yield log("log-10k", 10240, 5000, 10000, "fit", series, defrag=True)
    yield log("log-100k", 102400, 5000, 10000, "fit", series)
    yield log("log-100k-small", 102400, 500, 1000, "fit", series, defrag=True, quick=True)
    yield log("log-1m", 1048576, 500, 500, "fit", series)
    yield log("log-100k-gogc50", 102400, 3000, 2000, "fit", series, gogc=50)
    yield log("log-100k-limit", 102400, 3000, 2000, "fit", series, gomemlimit=(640 if series == "3.5" else 420) * MIB)
    yield log("log-100k-three", 102400, 1000, 1000, "fit", series, members=3)
    yield log("log-2k-slow", 2048, 1000, 1000, "check", series, rate=200)
    yield log("log-1k", 1024, 5000, 10000, "check", series)
    yield log(
        "log-1k-default-35" if series == "3.5" else "log-2k",
        1024 if series == "3.5" else 2048,
        5000,
        100000 if series == "3.5" else 10000,
        "check",
        series,
    )
    yield log("log-30k", 30000, 3000, 5000, "check", series)
    yield log("log-100k-even", 102400, 2000, 2000, "check", series, quick=True)
    yield log("log-300k", 300000, 1000, 1000, "check", series, defrag=True)
    yield log("log-1m-default-catchup", 1000000, 1500, 500, "check", series)
    yield log("log-50k-gogc50", 51200, 4000, 5000, "check", series, gogc=50)
    yield log("log-50k-limit", 51200, 2000, 6000, "check", series, gomemlimit=(600 if series == "3.5" else 400) * MIB)
    yield log("log-20k-three", 20480, 5000, 5000, "check", series, members=3)
    yield log("log-100k-slow", 102400, 400, 1000, "check", series, rate=150)
    yield log("log-5k-compacted", 5120, 5000, 10000, "check", series, compact_every=2, compact_keep=2000, keys=5000)


def index(series: str) -> Iterator[Case]:
    """Vary the number of keys and of revisions per key."""

    def keys(name: str, part: str, count: int, size: int, versions: int, **more: Any) -> Case:
        return Case(
            name,
            "index",
            part,
            series,
            key_size=size,
            keys=count,
            puts=count * versions,
            **{"txn_ops": 20, "rate": 1000, "snapshot_count": 500, **more},
        )

    yield keys("keys-200k", "fit", 200000, 64, 1, defrag=True, quick=True)
    yield keys("keys-1m", "fit", 1000000, 64, 1)
    yield keys("keys-200k-256B", "fit", 200000, 256, 1)
    yield keys("keys-100k-x10", "fit", 100000, 64, 10)
    yield keys("keys-500k", "check", 500000, 48, 1)
    yield keys("keys-150k-x5", "check", 150000, 128, 5)
    # One put an entry: transactions of 20 such puts would be entries of 20 kB, which the model's workload cannot say.
    yield keys("keys-300k-1k", "check", 300000, 40, 1, value_size=1000, txn_ops=1, rate=8000)


def clients(series: str) -> Iterator[Case]:
    """Vary connections with and without TLS, watch streams and watchers."""

    def held(name: str, component: str, part: str, **more: Any) -> Case:
        return Case(name, component, part, series, **more)

    yield held("conns-1000", "connections", "fit", connections=1000)
    yield held("conns-1000-tls", "connections", "fit", connections=1000, tls=True)
    yield held("streams-2000", "watches", "fit", connections=50, streams=2000, watched_keys=100)
    yield held("streams-2000-tls", "watches", "fit", connections=50, streams=2000, watched_keys=100, tls=True)
    shared = {"connections": 20, "streams": 200, "watchers_per_stream": 500}
    yield held("watchers-100k-shared", "watches", "fit", **shared, watched_keys=100)
    yield held("watchers-100k-apart", "watches", "fit", **shared, watched_keys=100000)
    yield held("conns-500", "connections", "check", connections=500, quick=True)
    yield held("conns-2000-tls", "connections", "check", connections=2000, tls=True)
    yield held(
        "streams-1000-on-500",
        "watches",
        "check",
        connections=500,
        streams=1000,
        watchers_per_stream=5,
        watched_keys=100,
    )
    yield held(
        "watchers-60k", "watches", "check", connections=50, streams=1000, watchers_per_stream=60, watched_keys=1000
    )


def leases(series: str) -> Iterator[Case]:
    """Vary the number of leases."""
    yield Case("leases-30k", "leases", "fit", series, leases=30000)
    yield Case("leases-15k", "leases", "check", series, leases=15000)


def ranges(series: str) -> Iterator[Case]:
    """Vary the range answers in flight."""

    def answers(name: str, part: str, keys: int, value: int, count: int) -> Case:
        return Case(
            name,
            "range answers",
            part,
            series,
            value_size=value,
            keys=keys,
            puts=keys,
            snapshot_count=500,
            range_clients=count,
            range_keys=keys,
        )

    yield answers("range-8", "fit", 1000, 10240, 8)
    yield answers("range-16", "check", 5000, 2048, 16)


def mixed(series: str) -> Iterator[Case]:
    """Load all components at once, and compact often."""
    load = {"keys": 20000, "clients": 200, "tls": True, "connections": 200, "streams": 400, "rate": 1500}
    yield log("mixed-20k", 20480, 2000, 5000, "check", series, **load)
    churn = {"keys": 20000, "puts": 120000, "compact_every": 2, "compact_keep": 5000}
    yield log("churn-4k", 4096, 1000, 10000, "fit", series, defrag=True, **churn)
    churn = {"keys": 5000, "puts": 60000, "compact_every": 3, "compact_keep": 3000}
    yield log("churn-16k", 16384, 1000, 10000, "check", series, defrag=True, **churn)


def between(series: str) -> Iterator[Case]:
    """Vary value sizes between those of the other cases. They were unseen until the spread between starts was derived from them."""
    yield log("log-700B", 700, 4000, 8000, "check", series)
    yield log("log-7k", 7000, 2500, 7000, "check", series)
    yield log("log-70k", 70000, 1500, 3000, "check", series)
    yield log("log-200k", 200000, 800, 1500, "check", series)
    yield log("log-40k-three", 40000, 1200, 2500, "check", series, members=3)
    yield log("log-3k", 3000, 2000, 6000, "check", series)
    yield log("log-15k", 15000, 3000, 4000, "check", series)
    yield log("log-150k", 150000, 600, 1200, "check", series)
    yield log("log-500k", 500000, 300, 800, "check", series)
    yield log("log-60k-three", 60000, 1000, 2000, "check", series, members=3)


def unseen(series: str) -> Iterator[Case]:
    """Vary value sizes that were measured after the model was finished."""
    yield log("log-2500B", 2500, 3000, 7000, "unseen", series)
    yield log("log-25k", 25000, 2000, 4000, "unseen", series)
    yield log("log-250k", 250000, 700, 1000, "unseen", series)
    yield log("log-35k-three", 35000, 1500, 3000, "unseen", series, members=3)


def grid() -> list[Case]:
    """Return the cases of all series."""
    found: list[Case] = []
    for series in SERIES:
        for part in (raft_log, index, clients, leases, ranges, mixed, between, unseen):
            found += list(part(series))
    return found
