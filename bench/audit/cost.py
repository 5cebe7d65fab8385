"""Measure what an audit costs the clients of a cluster: the 99th percentile of their puts, with and without it.

A single member and its clients run on one core and the audit on another, as on another machine. Of three members, the follower from which
the audit reads keys is on the audit's core, the leader and the other follower on that of the clients. Periods with and without the audit
take turns.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

from bench.audit.measure import PORT, audited, scratch
from bench.audit.workloads import WORKLOADS, fill, writing
from bench.common.audit import PROJECT
from bench.common.member import Member, binary, leader_of, running

WORKLOAD = next(one for one in WORKLOADS if one.name == "objects of Kubernetes")
PERIODS = 3
TRIES = 5
SECONDS = 12.0
CLUSTER_CORE, AUDIT_CORE = 0, 1


@dataclass(frozen=True)
class Row:
    """The 99th percentile of puts to a cluster of `members` in milliseconds, without and with an operation, and the number of puts of each."""

    version: str
    members: int
    operation: str
    without: float
    with_it: float
    puts: int
    puts_with_it: int


@contextmanager
def on_core(core: int) -> Iterator[None]:
    """Keep this process, and those that it starts, on one core."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _words(core: int) -> tuple[str, ...]:
    return ("taskset", "--cpu-list", str(core))


def _audit(leader: Member) -> str:
    with scratch() as folder:
        _, said = audited(folder, leader.endpoint, leader.version, prefix=_words(AUDIT_CORE), window=10)
    read = re.search(r"of keys and values from ([\w-]+)", said)
    if read is None:
        raise RuntimeError(f"the audit does not say from which member it read:\n{said}")
    return read[1]


def _keyspace(leader: Member) -> str:
    ctl = str(binary(leader.version, "etcdctl"))
    arguments = {"endpoints": [leader.endpoint], "etcdctl_path": ctl, "request_timeout": 15}
    command = ["ansible", "localhost", "-m", "etcdops.headroom.etcd_keyspace_info", "-a", json.dumps(arguments)]
    env = {**os.environ, "ANSIBLE_CALLBACK_RESULT_FORMAT": "json"}
    words = [*_words(AUDIT_CORE), *command]
    done = subprocess.run(words, cwd=PROJECT, env=env, capture_output=True, text=True, timeout=240, check=True)
    return str(json.loads(done.stdout[done.stdout.index("{") :])["read"]["member"])


# What disturbs a cluster, given its leader. Each returns the member from which it read keys.
OPERATIONS: dict[str, Callable[[Member], str]] = {"audit": _audit, "etcd_keyspace_info": _keyspace}


@contextmanager
def _cluster(version: str, folder: Path, size: int) -> Iterator[tuple[Member, Member]]:
    """Run a cluster, and return its leader and the member from which keys are to be read."""
    peers = {f"m{number}": PORT + 10 * number for number in range(size)}
    members = [Member(version, folder, port, name=name, peers=peers) for name, port in peers.items()]
    with running(members):
        leader = leader_of(members)
        reader = next((member for member in members if member is not leader), leader)
        if reader is not leader:
            assert reader.process
            subprocess.run(
                ["taskset", "--all-tasks", "--cpu-list", "--pid", str(AUDIT_CORE), str(reader.process.pid)],
                stdout=subprocess.DEVNULL,
                check=True,
            )
        yield leader, reader


def percentile(took: list[float]) -> float:
    """Return the 99th percentile in milliseconds."""
    return round(quantiles(took, n=100, method="inclusive")[98] * 1000, 2)


def measure(version: str, size: int, operation: str) -> Row:
    """Write at a rate in turns with and without the operation, which is repeated while a period lasts. Raises RuntimeError."""
    without: list[float] = []
    with_it: list[float] = []
    with scratch() as folder, on_core(CLUSTER_CORE), _cluster(version, folder, size) as (leader, reader):
        fill(leader, WORKLOAD)
        for _ in range(PERIODS):
            with writing(leader, WORKLOAD) as written:
                time.sleep(SECONDS)
            without += written.took
            with_it += _disturbed(leader, reader, OPERATIONS[operation])
    return Row(version, size, operation, percentile(without), percentile(with_it), len(without), len(with_it))


def _disturbed(leader: Member, reader: Member, operation: Callable[[Member], str]) -> list[float]:
    """Return how long puts took during the operation, while it read from `reader`. It reads from the follower that lags least at that moment."""
    took: list[float] = []
    for _ in range(TRIES):
        begun = time.monotonic()
        while time.monotonic() < begun + SECONDS:
            with writing(leader, WORKLOAD) as written:
                read = operation(leader)
            took += written.took if read == reader.name else []
        if len(took) >= SECONDS * WORKLOAD.rate:
            return took
    raise RuntimeError(f"keys were rarely read from {reader.name}: {len(took)} puts in {TRIES} periods")


def measure_single(versions: list[str]) -> Iterator[Row]:
    """Measure each operation on a single member of each release."""
    return _measure_all(versions, 1)


def measure_follower(versions: list[str]) -> Iterator[Row]:
    """Measure each operation on three members of the newest release, where keys are read from a follower."""
    return _measure_all(versions[-1:], 3)


def _measure_all(versions: list[str], size: int) -> Iterator[Row]:
    if not {CLUSTER_CORE, AUDIT_CORE} <= os.sched_getaffinity(0):
        raise RuntimeError("two cores are needed, one for the member and its clients and one for the audit")
    for version in versions:
        for operation in OPERATIONS:
            yield measure(version, size, operation)
