"""Random workloads: each seed is one case of one release, drawn without looking at the model.

The load of a case lasts, because the model predicts the peak of a cluster that runs for days: each key is written several times, the raft log is
filled and compacted several times, etcd compacts old revisions several times, and the garbage collector runs often. A seed always gives the same
case. No constant is fitted to an odd seed or to one above 20 ("held out"). Seeds from FIRST_UNSEEN on are measured after the last change of the
model ("unseen"). bench/memory/accuracy.md.in names the exceptions.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB

from bench.memory.cases import SERIES, Case

SEEDS = range(1, 41)
LAST_FITTED, FIRST_UNSEEN = 20, 35
PARTS = ("random", "held out", "unseen")
# How long a case lasts, and what it may reach: puts and bytes a second of all clients on a slow disk, for one member.
SECONDS = 60
MAX_RATE, RATE_OF_A_CLIENT, BYTES_A_SECOND = 9000, 250, 150 * MIB
MIN_PUTS = 600
# Bounds on the disk and the memory of all members of a case.
MAX_BYTES, MAX_LOG, MAX_INDEX = 4096 * MIB, 600 * MIB, 150 * MIB
# How often the raft log becomes full, at least, and how often each key is written on average.
FILLS, WRITES_OF_A_KEY = 3, 4
MAX_EVENTS = 5000


def generate(seed: int, series: str) -> Case:
    """Return the case of a seed for a series of releases."""
    draw = random.Random(f"workload with compactions of {series}, {seed}")
    value, key = log_uniform(draw, 64, MIB), log_uniform(draw, 16, 400)
    members = draw.choice((1, 1, 3))
    clients = log_uniform(draw, 1, 300)
    rate = 0 if draw.random() < 0.6 else log_uniform(draw, 100, 3000)
    puts = puts_of(value + key, members, reached(rate, clients, value + key, members))
    keys = min(log_uniform(draw, 1000, 300000), puts // WRITES_OF_A_KEY, MAX_INDEX // members // (key + 200))
    snapshot, catchup = raft_flags(draw, min(puts // FILLS, MAX_LOG // members // (value + key)))
    streams, per_stream, watched = watches(draw, keys)
    log = (snapshot + catchup) * (value + key)
    return Case(
        f"seed-{seed}",
        "random",
        part_of(seed),
        series,
        value_size=value,
        key_size=key,
        keys=keys,
        puts=puts,
        rate=rate,
        clients=clients,
        snapshot_count=snapshot,
        catchup=catchup,
        gogc=draw.choice((100, 100, 100, 200, 50, 25)),
        gomemlimit=draw.choice((0, 0, 0, 0, 1, 1)) * memory_limit(draw, log, keys * (key + 200)),
        members=members,
        tls=draw.random() < 0.3,
        retention=draw.choice((2, 4, 8)),
        connections=min(20, streams),
        streams=streams,
        watchers_per_stream=per_stream,
        watched_keys=watched,
    )


def part_of(seed: int, first_unseen: int = FIRST_UNSEEN) -> str:
    """Return the part that a seed belongs to."""
    fitted = seed <= LAST_FITTED and seed % 2 == 0
    return PARTS[2] if seed >= first_unseen else PARTS[0 if fitted else 1]


def log_uniform(draw: random.Random, low: int, high: int) -> int:
    """Return an integer between low and high whose logarithm is uniform."""
    return round(math.exp(draw.uniform(math.log(low), math.log(high))))


def reached(rate: int, clients: int, size: int, members: int) -> int:
    """Return about how many puts of this size a second the clients reach; rate: the wanted rate, 0 is as fast as it goes."""
    most = min(clients * RATE_OF_A_CLIENT, MAX_RATE // members, BYTES_A_SECOND // size // members)
    return max(1, min(rate or most, most))


def puts_of(size: int, members: int, rate: int) -> int:
    """Return how many puts of this size a case writes."""
    return max(MIN_PUTS, min(rate * SECONDS, MAX_BYTES // size // members))


def raft_flags(draw: random.Random, most: int) -> tuple[int, int]:
    """Return snapshot-count and catch-up entries; together at most this many."""
    snapshot = draw.choice((500, 1000, 2000, 5000, 10000))
    catchup = min(log_uniform(draw, 20, 5000), most // 2)
    return min(snapshot, most - catchup), catchup


def memory_limit(draw: random.Random, log: int, index: int) -> int:
    """Return a GOMEMLIMIT as somebody sets it who knows how large the raft log and the index become."""
    return round(draw.uniform(1.2, 2.0) * (log + index + 40 * MIB)) // MIB * MIB


def watches(draw: random.Random, keys: int) -> tuple[int, int, int]:
    """Return streams, watchers on each, and watched keys. On average a put makes at most one event."""
    if draw.random() < 0.5:
        return 0, 1, 1
    streams = min(log_uniform(draw, 2, 1000), keys)
    per_stream = max(1, min(log_uniform(draw, 1, 100), keys // streams, MAX_EVENTS // streams))
    return streams, per_stream, min(keys, log_uniform(draw, 1, 1000), streams * per_stream)


def cases(seeds: Sequence[int] = SEEDS, series: Sequence[str] = SERIES) -> list[Case]:
    """Return the cases of these seeds, one seed of all series after the other."""
    return [generate(seed, one) for seed in seeds for one in series]
