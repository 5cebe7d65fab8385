"""The load of a random case: each key once, then puts to keys in random order, while watches receive the events."""

from __future__ import annotations

import contextlib
import math
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB

from bench.common.member import BENCHMARK, Member, metrics
from bench.memory import load
from bench.memory.cases import Case
from bench.memory.random_workloads.cases import reached

OPEN_SECONDS = 30
# The tool puts this many keys of its own, one a second, and ends after as many events as they make. It counts the events in 32 bits.
WATCH_PUTS, MAX_WATCH_EVENTS = 10_000_000, 2**31 - 1
# After a restart the load lasts so long, or until it has written so much, and at least until the raft log is at its longest.
SECONDS_AFTER, BYTES_AFTER = 4, 300 * MIB


def apply(members: Sequence[Member], case: Case) -> float:
    """Apply the load of a case and return the puts a second."""
    with watching(members[0], case):
        return write(members, case)


def after_restart(members: Sequence[Member], case: Case) -> None:
    """Open the watches again, and continue the puts until the raft log is at its longest."""
    alone = replace(case, connections=0)
    with watching(members[0], case):
        load.put(members, alone, puts_after_restart(case), case.rate, sequential=False)
        time.sleep(1)


def puts_after_restart(case: Case) -> int:
    """Return the puts that fill the raft log and then, within limits of time and bytes, start garbage collections."""
    size = case.value_size + case.key_size
    refill = case.catchup + (case.snapshot_count if case.series == "3.5" else 120)
    more = min(
        reached(case.rate, case.clients, size, case.members) * SECONDS_AFTER, BYTES_AFTER // size // case.members
    )
    return max(refill, more)


def write(members: Sequence[Member], case: Case) -> float:
    """Put each key once in sequence, and the rest to random keys; return the puts a second."""
    alone = replace(case, connections=0)
    parts = [(case.keys, True), (case.puts - case.keys, False)]
    spent = [count / load.put(members, alone, count, case.rate, in_sequence) for count, in_sequence in parts if count]
    return case.puts / sum(spent)


@contextlib.contextmanager
def watching(member: Member, case: Case) -> Iterator[None]:
    """Hold the watches of a case on one member. Raises LoadFailed if they do not open or do not last."""
    if not case.streams:
        yield
        return
    tls = member.tls
    command = [str(BENCHMARK), "--endpoints", member.endpoint]
    if tls:
        command += ["--cacert", f"{tls}/ca.crt", "--cert", f"{tls}/client.crt", "--key", f"{tls}/client.key"]
    command += ["--clients", str(case.connections), "--conns", str(case.connections), "watch"]
    command += ["--streams", str(case.streams), "--watch-per-stream", str(case.watchers_per_stream)]
    command += ["--watched-key-total", str(case.watched_keys), "--key-space-size", str(case.watched_keys)]
    command += ["--sequential-keys", "--key-size", str(case.key_size)]
    command += ["--put-rate", "1", "--put-total", str(watch_puts(case))]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for_watchers(member, case)
        yield
        if process.poll() is not None:
            raise load.LoadFailed(f"the watches ended with {process.returncode} before the load did")
    finally:
        process.kill()
        process.wait()


def watch_puts(case: Case) -> int:
    """Return how many puts the tool makes, so that it does not end before the load and can count the events."""
    watchers_of_a_key = math.ceil(case.streams * case.watchers_per_stream / case.watched_keys)
    return min(WATCH_PUTS, MAX_WATCH_EVENTS // watchers_of_a_key)


def wait_for_watchers(member: Member, case: Case) -> None:
    """Wait until the member has all watchers of a case."""
    wanted = case.streams * case.watchers_per_stream
    deadline = time.monotonic() + OPEN_SECONDS
    while metrics(member.metrics_url)["etcd_debugging_mvcc_watcher_total"] < wanted:
        if time.monotonic() > deadline:
            raise load.LoadFailed(f"fewer than {wanted} watchers after {OPEN_SECONDS} s")
        time.sleep(0.2)
