#!/usr/bin/env python3
"""Measure what each remedy for a slow disk is worth: a real etcd with a noisy neighbour on its disk.

    python -m bench.storage.run                 everything, three times; writes bench/storage/results.csv (15 minutes)
    python -m bench.storage.run --quick         a part, once, into .headroom (under 2 minutes)
    python -m bench.storage.run --real FOLDER   on the disk of this folder instead of simulated ones, into .headroom

A disk is a loop device with direct I/O. Its volumes are partitions, so they share one request queue and one I/O scheduler. The file below
the loop device is served through FUSE at the speed of a common cloud volume: 3000 requests and 125 MiB a second, in the order of arrival,
with 0.5 ms of latency, and an acknowledged write is durable. A disk is therefore equally fast in every run, and a second disk does not
share the speed of the first, as two files on one real disk would. `--real` measures on a real disk, with that caveat.

A disk accepts at most 32 requests of 256 KiB each at once; further requests wait in the scheduler.

The neighbour is fio. Two jobs write 16 KiB at random places with 16 requests in flight each, as fast as they can. One job writes new files
of 256 MiB through the page cache, with an fsync every 16 MiB, at 64 MiB a second at most. The disk is therefore the bottleneck.

etcd gets a fixed load: puts of 1 KiB, each sent when it is due, even if earlier ones are not answered yet. The latency counts from that time. The first
moments of each combination are discarded. All members of a layout share one neighbour and are loaded in turn, under one scheduler
after the other. Repeats start with a different layout, scheduler and priority. Ratios compare figures of the same repeat.

Needs root (loop devices, mounts, negative nice), fio and FUSE.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB
from ansible_collections.etcdops.headroom.plugins.module_utils._host.process import read_process
from ansible_collections.etcdops.headroom.plugins.module_utils._host.weights import bfq_weight
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import live_latency

from bench.common import control_groups
from bench.common.member import Member, releases
from bench.common.signals import exit_on_signals
from bench.storage import disk, results, weights
from bench.storage.load import Load
from bench.storage.machine import describe, obstacle
from bench.storage.matrix import (
    ALL_THREADS,
    ALONE,
    DEFAULT,
    HEAVY_UNIT,
    LAYOUTS,
    MAIN_THREAD,
    NICE,
    OWN_DEVICE,
    OWN_VOLUME,
    OWN_WAL,
    SCHEDULERS,
    SHARED,
    UNIT,
    WEIGHTS,
    Combination,
    combinations,
    priorities,
    rotated,
)
from bench.storage.neighbour import Neighbour

PROJECT = Path(__file__).resolve().parents[2]
STATE = PROJECT / ".headroom" / "bench-storage"
RESULTS = PROJECT / "bench" / "storage" / "results.csv"
PORT = 25300
PORTS_PER_MEMBER = 3
VOLUMES = {"first": [("shared", 2048 * MIB), ("etcd", 1024 * MIB)], "second": [("etcd", 1024 * MIB)]}
# The priority that `ionice -c2 -n0` sets, in etcd_cluster_info's notation.
WANTED = "best-effort/0"


@dataclass(frozen=True)
class Pace:
    """Puts a second, discarded seconds at the start, and measured seconds."""

    rate: float
    warmup: float
    seconds: float


@dataclass(frozen=True)
class Bench:
    """The facilities that all combinations share."""

    version: str
    first: disk.Disk
    second: disk.Disk
    groups: dict[str, Path]
    pace: Pace
    port: int

    def place(self, layout: str, name: str) -> tuple[Path, Path | None]:
        """Return a member's folder, and its WAL directory if it is separate."""
        shared, own, other = self.first.mounts[0], self.first.mounts[1], self.second.mounts[0]
        wal = other / "wal" / name if layout == OWN_WAL else None
        return {OWN_VOLUME: own, OWN_DEVICE: other}.get(layout, shared) / "members", wal


def member(bench: Bench, layout: str, priority: str, number: int) -> Member:
    """Return a member that starts with this priority, except for `ionice -p`, which is applied later."""
    name = f"{layout}-{priority}".replace(" ", "-").replace(",", "")
    folder, wal = bench.place(layout, name)
    prefix = (
        control_groups.command_prefix(bench.groups[priority if priority in bench.groups else DEFAULT])
        if bench.groups
        else []
    )
    if priority in (UNIT, HEAVY_UNIT):
        prefix += ["nice", "-n", str(NICE)]
    if priority in (ALL_THREADS, UNIT, HEAVY_UNIT):
        prefix += ["ionice", "-c2", "-n0"]
    flags = [f"--wal-dir={wal}"] if wal else []
    return Member(bench.version, folder, bench.port + number * PORTS_PER_MEMBER, flags, prefix=prefix, name=name)


@contextlib.contextmanager
def members(bench: Bench, layout: str, quick: bool) -> Iterator[dict[str, Member]]:
    """Run the members of a layout on empty data, one for each priority, and remove their data afterwards."""
    wanted = dict.fromkeys(combination.priority for combination in combinations(layout, quick=quick))
    made = {priority: member(bench, layout, priority, number) for number, priority in enumerate(wanted)}
    try:
        for one in made.values():
            one.start()
            assert one.sampler
            one.sampler.stop()  # memory is not measured here, and sampling costs time
        for one in made.values():
            one.wait_ready()
        if MAIN_THREAD in made:
            process = made[MAIN_THREAD].process
            assert process
            subprocess.run(["ionice", "-c2", "-n0", "-p", str(process.pid)], check=True)
        yield made
    finally:
        for one in made.values():
            if one.process:
                one.stop()
            shutil.rmtree(one.folder, ignore_errors=True)
        for mount in bench.second.mounts:
            shutil.rmtree(mount / "wal", ignore_errors=True)


def measure(
    bench: Bench, combination: Combination, one: Member, neighbour: Neighbour | None, repeat: int
) -> results.Row:
    """Drive one member under one scheduler."""
    for each in (bench.first, bench.second):
        each.schedule(combination.scheduler)
    assert one.process
    pace = bench.pace
    begin = time.monotonic() + 0.1
    since = begin + pace.warmup
    load = Load(one.endpoint, pace.rate, begin, pace.warmup + pace.seconds)
    load.start()
    time.sleep(max(0.0, since - time.monotonic()))
    before, written, moment = page(one), neighbour.written() if neighbour else 0, time.monotonic()
    time.sleep(max(0.0, since + pace.seconds - time.monotonic()))
    wrote, passed = neighbour.written() - written if neighbour else 0, time.monotonic() - moment
    puts = load.result(since)
    after = page(one)
    if neighbour and not neighbour.alive():
        raise RuntimeError(f"the neighbour ended before {combination.name} was measured")
    live = live_latency.latency_between(before, after, passed)
    process = read_process(Path("/"), one.process.pid)
    if process is None or live.wal_fsync.p50_us is None or live.wal_fsync.p99_us is None:
        raise RuntimeError(f"{combination.name}: etcd ended, or synchronised nothing:\n{one.log_tail()}")
    return results.Row(
        repeat=repeat,
        scheduler=combination.scheduler,
        priority=combination.priority,
        layout=combination.layout,
        date=datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        puts=len(puts.latencies),
        unanswered=puts.unanswered,
        put_p50=round(puts.quantile(0.5) * 1000, 2),
        put_p99=round(puts.quantile(0.99) * 1000, 2),
        put_max=round(puts.latencies[-1] * 1000, 2),
        fsyncs=live.wal_fsync.samples,
        fsync_p50=round(live.wal_fsync.p50_us / 1000, 2),
        fsync_p99=round(live.wal_fsync.p99_us / 1000, 2),
        neighbour=round(wrote / passed),
        threads=len(process["threads"]),
        with_priority=process["io_classes"].get(WANTED, 0),
        weight=bfq_weight(WEIGHTS[combination.priority]) if combination.priority in WEIGHTS and bench.groups else 0,
    )


def page(one: Member) -> live_latency.Metrics:
    """Return the member's current histograms."""
    with urllib.request.urlopen(f"{one.metrics_url}/metrics", timeout=30) as answer:
        return live_latency.parse_metrics(answer.read().decode())


def turn(bench: Bench, layout: str, repeat: int, schedulers: Sequence[str], quick: bool) -> Iterator[results.Row]:
    """Measure all combinations of a layout, one scheduler after the other; with the shared volume also without a neighbour."""
    order = rotated(schedulers, repeat)
    for each in (bench.first, bench.second):
        each.schedule(order[0])
    with members(bench, layout, quick) as made, contextlib.ExitStack() as stack:
        if layout == SHARED:
            for scheduler in order:
                yield measure(bench, Combination(scheduler, DEFAULT, ALONE), made[DEFAULT], None, repeat)
        neighbour = Neighbour(bench.first.mounts[0] / "neighbour", bench.groups.get(DEFAULT))
        stack.callback(neighbour.stop)
        neighbour.start()
        found = {
            (combination.scheduler, combination.priority): combination
            for combination in combinations(layout, schedulers, quick)
        }
        for scheduler in order:
            for priority in rotated(priorities(layout), repeat):
                if combination := found.get((scheduler, priority)):
                    yield measure(bench, combination, made[priority], neighbour, repeat)


@contextlib.contextmanager
def disks(state: Path, real: Path | None) -> Iterator[tuple[disk.Disk, disk.Disk]]:
    """Provide the two disks, on simulated ones or on files in a folder of a real disk."""
    with contextlib.ExitStack() as stack:
        found = []
        for name, volumes in VOLUMES.items():
            size = sum(length for _, length in volumes) + 2 * MIB
            below = disk.written(real / name / "below", size) if real else disk.simulated(state / name / "below", size)
            found.append(stack.enter_context(disk.disk(state / name / "volumes", stack.enter_context(below), volumes)))
        yield found[0], found[1]


@contextlib.contextmanager
def weighted_groups() -> Iterator[dict[str, Path]]:
    """Create control groups by priority, the neighbour's as DEFAULT; none if the machine has no I/O weights."""
    with contextlib.ExitStack() as stack:
        try:
            controller = weights.find()
            control_groups.remove_left_behind(controller.top, weights.PREFIX)
            groups = {DEFAULT: stack.enter_context(weights.group(controller, "neighbour", 100))}
            for priority, weight in WEIGHTS.items():
                name = f"weight-{weight}"
                groups[priority] = stack.enter_context(weights.group(controller, name, bfq_weight(weight)))
        except weights.NoWeights as error:
            print(f"No I/O weights here, the units have none: {error}", flush=True)
            groups = {}
        yield groups


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure what each remedy for a slow disk is worth.")
    parser.add_argument("--quick", action="store_true", help="a part of it, once, into .headroom")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rate", type=float, default=100, help="puts a second (default 100)")
    parser.add_argument("--real", type=Path, metavar="FOLDER", help="use the disk of this folder, not simulated ones")
    parser.add_argument("--port", type=int, default=PORT, help=f"first of 15 free ports (default {PORT})")
    parser.add_argument("--results", type=Path, help="where the figures go")
    options = parser.parse_args()
    if problem := obstacle(options.real):
        print(problem, file=sys.stderr)
        return 2
    exit_on_signals()
    disk.release_left_behind(STATE)
    layouts = (SHARED, OWN_VOLUME) if options.quick else LAYOUTS
    pace = Pace(options.rate, 1.0, 2.5) if options.quick else Pace(options.rate, 1.5, 3.5)
    kept = STATE / ("real.csv" if options.real else "quick.csv") if options.real or options.quick else RESULTS
    path, version, began = options.results or kept, releases()[-1], time.monotonic()
    rows: list[results.Row] = []
    with disks(STATE, options.real) as (first, second), weighted_groups() as groups:
        about = describe(version, options.real, bool(groups))
        schedulers = [name for name in SCHEDULERS if name in first.schedulers()]
        for missing in sorted(set(SCHEDULERS) - set(schedulers)):
            print(f"This kernel has no I/O scheduler {missing}: left out", flush=True)
        bench = Bench(version, first, second, groups, pace, options.port)
        for repeat in range(1 if options.quick else options.repeats):
            for layout in rotated(layouts, repeat):
                for row in turn(bench, layout, repeat, schedulers, options.quick):
                    rows.append(row)
                    print(line(row, time.monotonic() - began), flush=True)
            results.write(path, about, rows)
    return 0


def line(row: results.Row, seconds: float) -> str:
    """Return one combination's results in a line."""
    return (
        f"{seconds:4.0f} s  {row.repeat} {row.combination.name:46} put p50 {row.put_p50:8.1f} p99 {row.put_p99:8.1f} ms, "
        f"WAL fsync p99 {row.fsync_p99:8.1f} ms ({row.fsyncs}), neighbour {row.neighbour / MIB:5.0f} MiB/s, "
        f"{row.with_priority} of {row.threads} threads{f', {row.unanswered} unanswered' if row.unanswered else ''}"
    )


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, OSError) as problem:
        sys.exit(f"bench/storage: {problem}")
