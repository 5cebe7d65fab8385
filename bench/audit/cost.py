"""Measure what an audit costs the clients of a member: the 99th percentile of their puts, with and without it.

Member and clients run on one core and the audit on another, as on another machine. Periods with and without the audit take turns.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import quantiles

from bench.audit.measure import PORT, audited, scratch
from bench.audit.workloads import WORKLOADS, fill, writing
from bench.common.audit import PROJECT
from bench.common.member import Member, binary, running

WORKLOAD = next(one for one in WORKLOADS if one.name == "objects of Kubernetes")
PERIODS = 3
SECONDS = 12.0
CLUSTER_CORE, AUDIT_CORE = 0, 1


@dataclass(frozen=True)
class Row:
    """The 99th percentile of puts in milliseconds, without and with an operation, and the number of puts of each."""

    version: str
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


def _audit(member: Member) -> None:
    with scratch() as folder:
        audited(folder, member.endpoint, member.version, prefix=_words(AUDIT_CORE), window=10)


def _keyspace(member: Member) -> None:
    ctl = str(binary(member.version, "etcdctl"))
    arguments = {"endpoints": [member.endpoint], "etcdctl_path": ctl, "request_timeout": 15}
    command = ["ansible", "localhost", "-m", "etcdops.headroom.etcd_keyspace_info", "-a", json.dumps(arguments)]
    subprocess.run([*_words(AUDIT_CORE), *command], cwd=PROJECT, capture_output=True, timeout=240, check=True)


OPERATIONS: dict[str, Callable[[Member], None]] = {"audit": _audit, "etcd_keyspace_info": _keyspace}


def percentile(took: list[float]) -> float:
    """Return the 99th percentile in milliseconds."""
    return round(quantiles(took, n=100, method="inclusive")[98] * 1000, 2)


def measure(version: str, operation: str) -> Row:
    """Write at a rate in turns with and without the operation, which is repeated while a period lasts."""
    without: list[float] = []
    with_it: list[float] = []
    with scratch() as folder, on_core(CLUSTER_CORE):
        member = Member(version, folder, PORT, name="m0")
        with running([member]):
            fill(member, WORKLOAD)
            for _ in range(PERIODS):
                with writing(member, WORKLOAD) as written:
                    time.sleep(SECONDS)
                without += written.took
                end = time.monotonic() + SECONDS
                with writing(member, WORKLOAD) as written:
                    while time.monotonic() < end:
                        OPERATIONS[operation](member)
                with_it += written.took
    return Row(version, operation, percentile(without), percentile(with_it), len(without), len(with_it))


def measure_all(versions: list[str]) -> Iterator[Row]:
    """Measure each operation on each release."""
    if not {CLUSTER_CORE, AUDIT_CORE} <= os.sched_getaffinity(0):
        raise RuntimeError("two cores are needed, one for the member and its clients and one for the audit")
    for version in versions:
        for operation in OPERATIONS:
            yield measure(version, operation)
