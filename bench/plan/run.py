"""Run real etcd inside the plan's MemoryMax, and with default flags for comparison.

    python -m bench.plan.run                        all workloads; writes bench/plan/results.csv and slices.csv
    python -m bench.plan.run --workload '3.5 1 MB'  one workload; replaces its earlier rows
    python -m bench.plan.run --quick                one workload once, into .headroom; under two minutes

Three configurations are compared: the plan's flags under the plan's MemoryMax; default flags under the same limit; default flags without
a limit. Each member has its own control group. All three run at the same time, and the load drives one after the other for a few seconds,
in changing order (ABC BCA CAB …): the speed of a shared disk may drift by tens of percent within a minute, so only figures that were
measured next to each other are compared. All three handle the database in the same way, with the plan's quota and compaction, because the
default quota of 2 GiB would stop the defaults before memory does. Swap is disabled for all of them.

The load is etcd's own benchmark tool with a fixed number of clients. Most workloads are a burst between two compactions, as fast as etcd
answers. A burst fills memory fastest and shows the throughput, but its latency is that of a queue. The paced workloads keep a rate well
below the maximum and compact every half second. The plan's workload always states at least the rate that is driven, and nothing else: no
watches and no ranges that would add a margin. The benchmark measures a put from the moment it is sent, so the wait of a paced client for
its turn does not count.

In the last repeat a member is restarted inside the limit when its WAL is as long as its snapshot-count allows, and driven again. If the
database and the heap do not fit into memory together, the restart takes long: etcd reads the whole file at start, through a
mapping for which the kernel does not read ahead.

Needs root or a memory controller (cgroup v1 or v2) in which it may create groups, and a real disk.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import GIB
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.plan import plan_flags

from bench.common.machine import available_memory, facts, ports_in_use
from bench.common.signals import exit_on_signals
from bench.plan import cgroup, results
from bench.plan.configurations import CONFIGURATIONS, PLAN, PORTS_PER_CONFIGURATION, UNLIMITED, Configuration, close_all
from bench.plan.workloads import WORKLOADS, Workload

PROJECT = Path(__file__).resolve().parents[2]
SPARE_DISK, SPARE_MEMORY = 4 * GIB, GIB
STATE = PROJECT / ".headroom" / "bench-plan"
RESULTS = PROJECT / "bench" / "plan"


def machine(folder: Path) -> dict[str, str]:
    """Return what the figures depend on."""
    return {**facts(folder), "cgroup": f"v{cgroup.find(cgroup.mountinfo()).version}"}


def obstacles(workloads: list[Workload], folder: Path, ports: range) -> list[str]:
    """Return why this cannot run here: too little disk or memory, no real disk, or ports that are in use."""
    found = []
    if busy := ports_in_use(ports):
        found.append(f"port {busy[0]} is taken: name the first of {len(ports)} free ports with --port")
    free = shutil.disk_usage(folder).free - SPARE_DISK
    memory = available_memory() - SPARE_MEMORY
    for work in workloads:
        for what, need, have in (("disk", work.disk, free), ("memory", work.memory, memory)):
            if need > have:
                found.append(
                    f"{work.name} needs {need / GIB:.1f} GiB of {what}, {max(have, 0) / GIB:.1f} GiB can be spared"
                )
    if machine(folder)["filesystem"] in ("tmpfs", "ramfs"):
        found.append(f"{folder} is in memory: name a folder on a disk with --folder")
    return found


def measure(
    work: Workload, repeat: int, restart: bool, hierarchy: cgroup.Hierarchy, folder: Path, port: int
) -> list[results.Run]:
    """Run the three configurations of a workload alternately, once."""
    planned = plan_flags(work.version, work.stated(), work.members, work.budget, work.compaction)
    configurations = [Configuration(name, work, planned, folder / name.replace(", ", "-")) for name in CONFIGURATIONS]
    with ExitStack() as stack:
        stack.callback(close_all, configurations)
        for number, configuration in enumerate(configurations):
            configuration.start(hierarchy, port + number * PORTS_PER_CONFIGURATION)
        for turn in range(work.slices):
            first = (turn + repeat) % len(configurations)
            for configuration in configurations[first:] + configurations[:first]:
                if configuration.running:
                    configuration.slice()
                    if not configuration.running:
                        configuration.close()
        for configuration in configurations:
            if restart and configuration.running and configuration.name != UNLIMITED:
                configuration.restart()
            if configuration.running:
                configuration.outcome = "survived"
            configuration.close()
    return [results.Run(row(configuration, repeat), tuple(configuration.slices)) for configuration in configurations]


def row(configuration: Configuration, repeat: int) -> results.Row:
    """Return the results row of a configuration."""
    work, planned, is_plan = configuration.workload, configuration.plan, configuration.name == PLAN
    settings: dict[str, Any] = planned["settings"] if is_plan else {}
    environment: dict[str, str] = planned["environment"] if is_plan else {}
    return results.Row(
        workload=work.name,
        repeat=repeat,
        configuration=configuration.name,
        date=datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        version=work.version,
        members=work.members,
        value_size=work.value_size,
        keys=work.keys,
        stated_puts_per_second=work.rate,
        paced=work.paced,
        clients=work.clients,
        puts=work.puts,
        budget=work.budget,
        memory_max=0 if configuration.name == UNLIMITED else planned["memory_max"],
        memory_high=planned["memory_high"] if is_plan and configuration.groups[0].hierarchy.version == 2 else 0,
        gomemlimit=environment.get("GOMEMLIMIT", ""),
        gogc=environment.get("GOGC", ""),
        snapshot_count=configuration.snapshot_count,
        snapshot_catchup_entries=settings.get(
            "snapshot_catchup_entries", configuration.default("snapshot_catchup_entries")
        ),
        planned_rss_anon_peak=planned["estimate"]["rss_anon_peak"] if is_plan else 0,
        planned_restart_rss_anon_peak=planned["estimate"]["restart_rss_anon_peak"] if is_plan else 0,
        outcome=configuration.outcome,
        rss_anon_peak=configuration.rss_anon_peak,
        restart_rss_anon_peak=configuration.restart_rss_anon_peak,
        restart_entries=configuration.restart_entries,
        restart_seconds=round(configuration.restart_seconds, 2),
        cgroup_peak=configuration.cgroup_peak,
        major_faults=configuration.major_faults,
        oom_kills=configuration.oom_kills,
    )


def line(run: results.Run) -> str:
    """Return one configuration's outcome in a line."""
    row, slices = run.row, run.slices
    seconds = sum(part.seconds for part in slices)
    speed = f"{sum(part.puts for part in slices) / seconds:,.0f} puts/s" if seconds else "no whole slice"
    peaks = f"RssAnon {row.rss_anon_peak / (1 << 20):,.0f} MiB"
    if row.restart_rss_anon_peak:
        peaks += (
            f", after a restart over {row.restart_entries:,} entries {row.restart_rss_anon_peak / (1 << 20):,.0f} MiB"
        )
    return f"  {row.configuration:17} {row.outcome}: {len(slices)} slices, {speed}, {peaks}"


def parse_arguments() -> argparse.Namespace:
    """Return the command line's options; with `chosen`, the workloads to measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workload", action="append", choices=[work.name for work in WORKLOADS], help="only this one")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="one workload, once, into .headroom")
    parser.add_argument("--shrink", type=int, default=1, help="only 1/N of the puts and slices, to try the harness")
    parser.add_argument("--folder", type=Path, default=STATE, help="where etcd's data goes, on a disk")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the results go")
    parser.add_argument("--port", type=int, default=25300, help="the first of 90 loopback ports")
    options = parser.parse_args()
    chosen = [work for work in WORKLOADS if not options.workload or work.name in options.workload]
    if options.quick:
        chosen, options.repeats, options.results = chosen[:1], 1, STATE / "quick"
    if options.shrink > 1:
        slices = [max(work.slices // options.shrink, 1) for work in chosen]
        chosen = [replace(work, puts=work.slice_puts * n, slices=n) for work, n in zip(chosen, slices, strict=True)]
    options.chosen = chosen
    return options


def earlier_runs(options: argparse.Namespace, here: dict[str, str]) -> list[results.Run]:
    """Return the runs in the results file, none with --quick. Exits if another machine measured workloads that are not measured now."""
    if options.quick or not (options.results / "results.csv").exists():
        return []
    there, kept = results.read(options.results)
    if there != here and {run.row.workload for run in kept} - {work.name for work in options.chosen}:
        sys.exit(
            f"{options.results}/results.csv was measured on another machine: run all workloads, or name another folder with --results"
        )
    return kept


def measure_all(
    options: argparse.Namespace, hierarchy: cgroup.Hierarchy, folder: Path, here: dict[str, str]
) -> list[results.Run]:
    """Measure the chosen workloads. If that is interrupted, write the unfinished results, which may show the cause, into .headroom."""
    new: list[results.Run] = []
    began = time.monotonic()
    try:
        # Repeats are the outer loop, so that those of one workload are minutes apart and average over the machine's drift.
        for repeat in range(options.repeats):
            for work in options.chosen:
                name = f"{work.name}, {repeat + 1} of {options.repeats}"
                print(f"{name}, after {time.monotonic() - began:.0f} s", flush=True)
                found = measure(work, repeat, repeat == options.repeats - 1, hierarchy, folder, options.port)
                print("\n".join(map(line, found)), flush=True)
                new += found
    except BaseException:
        results.write(STATE / "unfinished", here, new)
        raise
    return new


def main() -> int:
    """Measure, and merge the results with the earlier ones."""
    options = parse_arguments()
    folder = options.folder / "data"
    folder.mkdir(parents=True, exist_ok=True)
    exit_on_signals()
    try:
        hierarchy = cgroup.prepared_hierarchy()
    except cgroup.NoMemoryCgroup as error:
        sys.exit(str(error))
    ports = range(options.port, options.port + len(CONFIGURATIONS) * PORTS_PER_CONFIGURATION)
    if problems := obstacles(options.chosen, folder, ports):
        sys.exit("\n".join(problems))
    here = machine(folder)
    kept = earlier_runs(options, here)
    try:
        new = measure_all(options, hierarchy, folder, here)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    order = [work.name for work in WORKLOADS]
    runs = sorted(results.merge(kept, new), key=lambda run: (order.index(run.row.workload), run.row.repeat))
    results.write(options.results, here, runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
