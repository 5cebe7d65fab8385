"""The published tables, and the cases that measure their rows today where the machine is large enough."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB

from bench.memory.cases import Case

# Fields as in the source; sizes in bytes, memory in MB as published.
RAFT_SOURCE = "heap in use under a load of transactions, low and high of the sawtooth (etcd issue 18382, 2024)"
RAFT_LOG = (
    ("3.5.16", 1000, 10000, 5000, 6, 28),
    ("3.5.16", 10000, 10000, 5000, 64, 180),
    ("3.5.16", 100000, 10000, 5000, 569, 1500),
    ("3.5.16", 1000000, 10000, 5000, 5000, 14200),
    ("3.5.16", 1000, 100000, 5000, 15, 143),
    ("3.5.16", 10000, 100000, 5000, 67, 1100),
    ("3.5.16", 100000, 100000, 5000, 900, 10600),
    ("3.5.16", 1000000, 500, 500, 550, 1000),
    ("3.6.0-alpha.0", 1000, 10000, 5000, 13, 31.7),
    ("3.6.0-alpha.0", 100000, 10000, 5000, 536, 1620),
    ("3.6.0-alpha.0", 1000, 100000, 5000, 15, 152),
    ("3.6.0-alpha.0", 100000, 100000, 5000, 690, 10400),
)
INDEX_SOURCE = "the in-memory index alone, allocated bytes (etcd's storage memory benchmark, 2016)"
INDEX = (
    (100000, 1, 64, 22),
    (100000, 5, 64, 39),
    (1000000, 1, 64, 218),
    (1000000, 5, 64, 432),
    (100000, 1, 256, 41),
    (100000, 5, 256, 65),
    (1000000, 1, 256, 409),
    (1000000, 5, 256, 506),
)
STORAGE_SOURCE = "RSS of the whole process (etcd's storage memory benchmark, 2016)"
STORAGE = (
    (100000, 1, 64, 256, 40),
    (100000, 5, 64, 256, 89),
    (1000000, 1, 64, 256, 470),
    (1000000, 5, 64, 256, 880),
    (100000, 1, 64, 1024, 102),
    (100000, 5, 64, 1024, 164),
    (1000000, 1, 64, 1024, 587),
    (1000000, 5, 64, 1024, 836),
)
WATCH_SOURCE = "RSS of the whole process, may vary by 10 % (etcd's watch memory benchmark, 2016)"
# clients, streams a client, watchers a stream, RSS in MB; None: out of memory
WATCH = (
    (1000, 1, 1, 50),
    (2000, 1, 1, 90),
    (5000, 1, 1, 200),
    (1000, 10, 1, 217),
    (2000, 10, 1, 417),
    (5000, 10, 1, 980),
    (1000, 50, 1, 1001),
    (2000, 50, 1, 1960),
    (5000, 50, 1, 4700),
    (1000, 50, 10, 1171),
    (2000, 50, 10, 2371),
    (5000, 50, 10, 5710),
    (1000, 50, 100, 2380),
    (2000, 50, 100, 4672),
    (5000, 50, 100, None),
)


@dataclass(frozen=True)
class Row:
    """A row of a published table. name: the case that measures it today, if the machine is large enough."""

    name: str
    series: str
    figure: str
    formula_mb: float | None
    case: Case


def raft_rows() -> Iterator[Row]:
    """The raft log. Published formula: put size × entries, 5,000 at the low end, snapshot-count more at the high one."""
    for version, size, snapshot, catchup, low, high in RAFT_LOG:
        series = version[:3]
        puts = catchup + (2 if series == "3.5" else 1) * snapshot + snapshot * 9 // 10
        name = f"published-log-{size}-{snapshot}"
        yield Row(
            name,
            series,
            f"{low:g} to {high:g} MB ({version})",
            size * (catchup + snapshot) / 1e6,
            Case(
                name,
                "raft log",
                "published",
                series,
                value_size=size,
                puts=puts,
                clients=32,
                snapshot_count=snapshot,
                catchup=catchup,
            ),
        )


def keys_rows() -> Iterator[Row]:
    """The index alone, then the whole process. Published: 120 B a key and the key, 30 B a version and 8 for its pointer."""
    rows = [(keys, versions, key, None, mb) for keys, versions, key, mb in INDEX]
    for keys, versions, key, value, mb in [*rows, *STORAGE]:
        name = f"published-{'index' if value is None else f'store-{value}'}-{keys}-{versions}-{key}"
        formula = keys * (120 + key + versions * 38) / 1e6
        case = Case(
            name,
            "index",
            "published",
            "3.7",
            value_size=value or 16,
            key_size=key,
            keys=keys,
            puts=keys * versions,
            txn_ops=20,
            rate=1000,
            snapshot_count=500,
        )
        yield Row(name, "3.7", f"{mb:g} MB", formula, case)


def watch_rows() -> Iterator[Row]:
    """Watches. Published: 17 kB a connection, 18 kB a stream, 350 B a watching."""
    for clients, streams, watchers, mb in WATCH:
        name = f"published-watch-{clients}-{streams}-{watchers}"
        total = clients * streams
        formula = (clients * 17000 + total * 18000 + total * watchers * 350) / 1e6
        case = Case(
            name,
            "watches",
            "published",
            "3.7",
            connections=clients,
            streams=total,
            watchers_per_stream=watchers,
            watched_keys=min(total * watchers, 1000),
        )
        yield Row(name, "3.7", "out of memory" if mb is None else f"{mb:g} MB", formula, case)


def rows() -> list[Row]:
    """Return all rows, in the order of their tables."""
    return [*raft_rows(), *keys_rows(), *watch_rows()]


# Bounds on heap, time and the load generator's memory.
MAX_LOG = 1600 * MIB
MAX_PUTS = 500000
MAX_STREAMS = 10000


def measurable(row: Row) -> bool:
    """Return whether the row is measured: its raft log, puts and streams must be within the bounds."""
    case = row.case
    log = case.value_size * (case.catchup + case.snapshot_count)
    return log <= MAX_LOG and case.puts <= MAX_PUTS and case.streams <= MAX_STREAMS
