"""Random workloads: each seed is one case of one release, drawn without looking at the model.

A seed always gives the same case. Odd seeds are held out: no constant is ever fitted to them.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from bench.memory.cases import MIB, SERIES, Case

SEEDS = range(1, 16)
PARTS = ("random", "held out")
# Bounds on the time, the disk and the memory of one case.
MOST_PUTS = 20000
MOST_PUTS_IN_TXNS = 300000
MOST_BYTES = 120 * MIB
MOST_INDEX = 120 * MIB
TXN_OPS = 20
TXN_VALUE = 2048  # larger values are written one by one
SECONDS = 6
RATE_OF_A_CLIENT = 250  # puts a second that a client reaches on a slow disk


def generate(seed: int, series: str) -> Case:
    """Return the case of a seed for a series of releases."""
    draw = random.Random(f"memory of {series}, {seed}")
    value, key = log_uniform(draw, 64, MIB), log_uniform(draw, 16, 400)
    txn_ops = TXN_OPS if value <= TXN_VALUE else 1
    members = draw.choice((1, 1, 3))
    clients = log_uniform(draw, 1, 300)
    rate = 0 if draw.random() < 0.6 else log_uniform(draw, 100, 3000)
    reached = min(rate or MOST_PUTS, clients * RATE_OF_A_CLIENT)
    entries = most_entries((value + key) * txn_ops, txn_ops, members, reached)
    revisions = draw.choice((1, 1, 2, 3, 5, 8))
    keys = max(
        20,
        min(
            log_uniform(draw, 100 * txn_ops * txn_ops, 400000),
            entries * txn_ops // revisions,
            MOST_INDEX // (key + 200),
        ),
    )
    # Fewer entries than this fill no log and start no garbage collection.
    entries = max(min(entries, keys * revisions // txn_ops), min(entries, 1000))
    snapshot, catchup = raft_flags(draw, series, entries)
    streams, per_stream, watched = watches(draw, keys)
    return Case(
        f"seed-{seed}",
        "random",
        PARTS[seed % 2],
        series,
        value_size=value,
        key_size=key,
        keys=keys,
        puts=entries * txn_ops,
        rate=rate,
        txn_ops=txn_ops,
        clients=clients,
        snapshot_count=snapshot,
        catchup=catchup,
        gogc=draw.choice((100, 100, 100, 200, 50, 25)),
        gomemlimit=draw.choice((0, 0, 0, 0, 128, 512)) * MIB,
        members=members,
        tls=draw.random() < 0.3,
        connections=min(20, streams),
        streams=streams,
        watchers_per_stream=per_stream,
        watched_keys=watched,
    )


def log_uniform(draw: random.Random, low: int, high: int) -> int:
    """Return an integer between low and high whose logarithm is uniform."""
    return round(math.exp(draw.uniform(math.log(low), math.log(high))))


def most_entries(size: int, txn_ops: int, members: int, rate: int) -> int:
    """Return how many raft entries of this size a case may write, so that it ends in time and fits the disk."""
    count = MOST_PUTS_IN_TXNS // txn_ops if txn_ops > 1 else MOST_PUTS
    return max(120, min(count // members, MOST_BYTES // size // members, rate * SECONDS))


def raft_flags(draw: random.Random, series: str, entries: int) -> tuple[int, int]:
    """Return snapshot-count and catch-up entries of a raft log that so many entries fill to its longest."""
    snapshot = draw.choice((500, 1000, 2000, 5000, 10000))
    catchup = min(log_uniform(draw, 20, 5000), entries // 3)
    teeth = 2 if series == "3.5" else 1
    return min(snapshot, (entries - catchup) * 9 // 10 // teeth), catchup


def watches(draw: random.Random, keys: int) -> tuple[int, int, int]:
    """Return streams, watchers on each, and watched keys. On average a put makes at most one event."""
    if draw.random() < 0.5:
        return 0, 1, 1
    streams = min(log_uniform(draw, 2, 1000), keys)
    per_stream = max(1, min(log_uniform(draw, 1, 100), keys // streams, 5000 // streams))
    return streams, per_stream, min(keys, log_uniform(draw, 1, 1000), streams * per_stream)


def cases(seeds: Sequence[int] = SEEDS, series: Sequence[str] = SERIES) -> list[Case]:
    """Return the cases of these seeds, one seed of all series after the other."""
    return [generate(seed, one) for seed in seeds for one in series]
