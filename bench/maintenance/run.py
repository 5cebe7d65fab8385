#!/usr/bin/env python3
"""Defragment a cluster under load, with etcdctl and with Headroom, and record what its clients notice.

    python -m bench.maintenance.run           writes runs.csv, windows.csv and events.csv in bench/maintenance; under ten minutes
    python -m bench.maintenance.run --quick   a smaller database, once, into .headroom; under two minutes

Three real members on loopback are filled with keys. Three in five keys are then deleted, evenly distributed over the database. Every run
starts from a copy of that data. Two groups of clients put, range, watch and keep leases alive through all endpoints, with etcd's own Go
client. The plain group uses the client's defaults, which send requests to the endpoints in turn, also to those that do not serve. The other group
enables health checks (a dial option) and skips a member that does not serve. Requests are sent at a steady rate, at the time when they are
due, even if earlier ones are not answered yet. Their latency counts from that time. A request has failed if it returned an error or took more than
5 s, etcdctl's own limit.

After some idle seconds the cluster is defragmented. The members' logs show what each member did and when. p99 is computed over half a
second, and counts as too high above three times its idle value, for puts or for ranges. A lease is lost if its client gave it up or its
key no longer exists. A watcher has missed the events that it has not seen, in order, fifteen seconds after the load ended.

All members, the clients and the maintenance share one machine and its disk, unlike in production. That makes every figure worse, for every
method alike.
"""

from __future__ import annotations

import argparse
import collections
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import GIB
from ansible_collections.etcdops.headroom.plugins.module_utils._base.versions import minor

from bench.common.machine import facts
from bench.common.member import PROJECT, leader_of, releases, running
from bench.common.signals import exit_on_signals
from bench.maintenance import results
from bench.maintenance.cluster import GATE, Filling, Size, copied, endpoints, events, members, seed, sizes
from bench.maintenance.load import GROUPS, REQUESTS, Load, Sample, loaded, quantile, windows
from bench.maintenance.methods import METHODS, Method

STATE = PROJECT / ".headroom" / "bench-maintenance"
RESULTS = PROJECT / "bench" / "maintenance"
SIZE, QUICK_SIZE, FREE = int(1.15 * GIB), 3 * GIB // 8, 0.6
SPARE_DISK = 2 * GIB
# Puts, and as many ranges, per second and group. Twice as many keep two cores busy before any maintenance.
RATE = 50
# An idle p99 above this, in milliseconds, means that other work disturbs the measurement.
BUSY = 150.0
WARM_SECONDS, IDLE_SECONDS, AFTER_SECONDS = 4.0, 12.0, 6.0


def measure(
    method: Method, repeat: int, version: str, folder: Path, port: int, filling: Filling, rate: int
) -> results.Run:
    """Defragment a fresh copy with this method, under load."""
    copied(folder / "seed", folder / "run")
    cluster = members(version, folder / "run", port, GATE[minor(version)] if method.gate else [])
    with running(cluster), loaded(endpoints(cluster), filling.keys, rate, folder / "samples.csv") as load:
        time.sleep(WARM_SECONDS)
        idle_since = time.time()
        time.sleep(IDLE_SECONDS)
        before, led_by = sizes(cluster), leader_of(cluster).name
        began = time.time()
        message = method.do(cluster, folder / "run")
        ended = time.time()
        time.sleep(AFTER_SECONDS)
        after = sizes(cluster)
        load.stop()
    message = message or not_smaller(before, after)
    seen = [replace(event, at=round(event.at - began, 3), seconds=round(event.seconds, 3)) for event in events(cluster)]
    common: dict[str, Any] = {
        "method": method.name,
        "repeat": repeat,
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "version": version,
        "gate": method.gate,
        "leader": led_by,
        "size_before": max(size.total for size in before.values()),
        "free_before": round(max(size.free for size in before.values()), 3),
        "size_after": max(size.total for size in after.values()),
        "seconds": round(ended - began, 2),
        "message": message,
        "rate": rate,
    }
    rows = [row(common, group, load, (idle_since, began, ended)) for group in GROUPS]
    kept = [window for window in windows(load.samples, began) if window.start >= -IDLE_SECONDS]
    last = ended - began + AFTER_SECONDS
    return results.Run(tuple(rows), tuple(kept), tuple(event for event in seen if -IDLE_SECONDS < event.at < last))


def not_smaller(before: dict[str, Size], after: dict[str, Size]) -> str:
    """Return a message that names the members that were not defragmented; empty if there are none."""
    left = [name for name in before if after[name].total > 0.8 * before[name].total]
    return f"not defragmented: {', '.join(left)}" if left else ""


def row(common: dict[str, Any], group: str, load: Load, moments: tuple[float, float, float]) -> results.Row:
    """Return a group's results row. moments: when the idle time began, and when the maintenance began and ended."""
    idle_since, began, ended = moments
    requests = [sample for sample in load.samples if sample.group == group and sample.kind in REQUESTS]
    late = [sample for sample in requests if sample.at >= began]
    errors = collections.Counter(sample.error for sample in late if sample.error)

    def p99(kind: str, since: float, until: float) -> float:
        return round(1000 * quantile(latencies(requests, kind, since, until), 0.99), 2)

    return results.Row(
        **common,
        **asdict(load.streams[group]),
        group=group,
        requests=len(late),
        failed=sum(errors.values()),
        errors="; ".join(f"{count}× {text}" for text, count in errors.most_common()),
        idle_put_p99=p99("put", idle_since, began),
        idle_range_p99=p99("range", idle_since, began),
        put_p99=p99("put", began, ended),
        range_p99=p99("range", began, ended),
        slowest=round(1000 * max(sample.latency for sample in late), 1),
    )


def latencies(samples: Sequence[Sample], kind: str, since: float, until: float) -> list[float]:
    """Return the sorted latencies in seconds of the requests of this kind that were due in this interval."""
    return sorted(sample.latency for sample in samples if sample.kind == kind and since <= sample.at < until)


def line(run: results.Run) -> list[str]:
    """Return the results of a run, in a line for each group."""
    first = run.rows[0]
    head = f"  {first.size_before / GIB:.2f} GiB, {first.free_before:.0%} free, to {first.size_after / GIB:.2f} GiB in {first.seconds:.1f} s"
    return [
        head + (f"; {first.message}" if first.message else ""),
        *(
            f"  {row.group:6} {row.failed} of {row.requests:,} requests failed; p99 put {row.idle_put_p99:.1f} to {row.put_p99:.1f} ms, "
            f"range {row.idle_range_p99:.1f} to {row.range_p99:.1f} ms, slowest {row.slowest:,.0f} ms; "
            f"leases lost {row.leases_lost}, events missed {row.watch_missed}"
            for row in run.rows
        ),
    ]


def busy(run: results.Run) -> bool:
    """Return whether other work made the idle figures too high to be meaningful."""
    return any(max(row.idle_put_p99, row.idle_range_p99) > BUSY for row in run.rows)


def releases_by_series() -> dict[str, str]:
    """Return the releases that can be measured, by series."""
    return {minor(version): version for version in releases()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--series", default="3.6", choices=sorted(releases_by_series()), help="which etcd")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument(
        "--rate", type=int, default=RATE, help="puts, and as many ranges, per second and group of clients"
    )
    parser.add_argument("--method", action="append", choices=[method.name for method in METHODS], help="only this one")
    parser.add_argument("--quick", action="store_true", help="a smaller database, once, into .headroom")
    parser.add_argument("--folder", type=Path, default=STATE, help="where etcd's data goes, on a disk")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the results go")
    parser.add_argument("--port", type=int, default=27400, help="the first of nine loopback ports")
    arguments = parser.parse_args()
    version = releases_by_series()[arguments.series]
    size, repeats, target = SIZE, arguments.repeats, arguments.results
    if arguments.quick:
        size, repeats, target = QUICK_SIZE, 1, STATE / "quick"
    chosen = [method for method in METHODS if not arguments.method or method.name in arguments.method]
    folder = arguments.folder / "data"
    folder.mkdir(parents=True, exist_ok=True)
    needed = 3 * 3 * size + SPARE_DISK
    if shutil.disk_usage(folder).free < needed:
        sys.exit(f"{folder} needs {needed / GIB:.0f} GiB free: name a folder on another disk with --folder")
    exit_on_signals()
    began = time.monotonic()
    runs: list[results.Run] = []
    try:
        print(f"etcd {version}: filling three members", flush=True)
        filling = Filling.of(size, FREE)
        seed(version, folder / "seed", arguments.port, filling)
        for repeat in range(repeats):
            for method in chosen:
                print(f"{method.name}, {repeat + 1} of {repeats}, after {time.monotonic() - began:.0f} s", flush=True)
                run = measure(method, repeat, version, folder, arguments.port, filling, arguments.rate)
                print("\n".join(line(run)), flush=True)
                if busy(run) and not arguments.quick:
                    sys.exit(
                        f"p99 was above {BUSY:g} ms when idle: something else keeps the machine busy; nothing was written"
                    )
                runs.append(run)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    order = [method.name for method in METHODS]
    results.write(target, facts(arguments.folder), sorted(runs, key=lambda run: (order.index(run.method), run.repeat)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
