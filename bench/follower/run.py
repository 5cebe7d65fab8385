#!/usr/bin/env python3
"""Take a follower away from real etcd inside the plan's MemoryMax until it needs a snapshot, and measure the leader when it returns.

Three members of one cluster run with the planned flags, each in its own control group with the plan's MemoryMax. Clients put values to one key
after the other at the stated rate. A follower is killed, and starts again when the leader has compacted the entries that it misses. The leader then
sends it a snapshot, and does not compact its raft log until 30 s later. The load goes on until the log is compacted again.

Needs root or a memory controller (cgroup v1 or v2) in which it may create groups, and a real disk.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.prometheus import parse_samples

from bench.common.lab import PROJECT
from bench.common.machine import facts, ports_in_use
from bench.common.member import Member, leader_of, metrics
from bench.common.signals import exit_on_signals
from bench.common.tables import column_names, read_rows, write_table
from bench.follower.cases import CASES, Case
from bench.plan import cgroup
from bench.plan.configurations import PLAN, Configuration
from bench.plan.load import put_command

RESULTS = Path(__file__).parent / "results.csv"
PORT = 25400
WARM_SECONDS = 15
# At least this long, in addition to the writes that the leader keeps.
AWAY_SECONDS = 8
# The leader compacts 30 s after the snapshot; before 3.6 only at the next disk snapshot.
BACK_SECONDS = 55
WAIT_SECONDS = 90


@dataclass(frozen=True)
class Row:
    """One case. Sizes in bytes; rates in puts a second. outcome: survived, or killed."""

    case: str
    date: str
    version: str
    value_size: int
    stated_puts_per_second: int
    puts_per_second: float
    budget: str
    memory_max: int
    gomemlimit: str
    snapshot_count: int
    snapshot_catchup_entries: int
    planned_rss_anon_peak: int
    planned_restart_rss_anon_peak: int
    planned_follower_snapshot_rss_anon_peak: int
    rss_anon_before: int
    rss_anon_peak: int
    snapshots: int
    oom_kills: int
    outcome: str


def snapshots_sent(member: Member) -> int:
    """Return how many snapshots the member sent to others."""
    with urllib.request.urlopen(f"{member.metrics_url}/metrics", timeout=30) as answer:
        samples = parse_samples(answer.read().decode())
    return round(sum(sample.value for sample in samples if sample.name == "etcd_network_snapshot_send_success"))


def applied(member: Member) -> float:
    """Return how many entries the member applied."""
    return metrics(member.metrics_url)["etcd_server_proposals_applied_total"]


def start_load(endpoints: Sequence[str], case: Case, seconds: float) -> subprocess.Popen[bytes]:
    """Start the clients, for this many seconds."""
    command = put_command(endpoints, case.workload(0), round(case.rate * seconds))
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def rss_anon(member: Member) -> int:
    """Return the highest RssAnon of a member since it started, in bytes."""
    assert member.sampler
    return member.sampler.peaks.rss_anon


def seconds_away(case: Case, settings: dict[str, Any]) -> float:
    """Return how long a follower must be away until the leader has compacted the entries that it misses."""
    catchup, count = int(settings["snapshot_catchup_entries"]), int(settings["snapshot_count"])
    until_compaction = count if case.version.startswith("3.5.") else 100
    return AWAY_SECONDS + 1.2 * (catchup + until_compaction) / case.rate


def is_alive(member: Member) -> bool:
    """Return whether a member's process runs."""
    return member.process is not None and member.process.poll() is None


def watch(leader: Member) -> tuple[int, float]:
    """Wait until a leader that sends a snapshot has compacted its log again, or has ended. Return the snapshots, and the puts a second."""
    began, before, sent, after = time.monotonic(), applied(leader), 0, 0.0
    deadline = began + WAIT_SECONDS
    while time.monotonic() < deadline:
        time.sleep(1)
        try:
            after = applied(leader)
            if not sent and (sent := snapshots_sent(leader)):
                deadline = time.monotonic() + BACK_SECONDS
        except OSError:
            # A leader at its limit may be too slow to answer.
            if not is_alive(leader):
                return sent, 0.0
    return sent, (after - before) / (time.monotonic() - began)


def measure(case: Case, folder: Path, hierarchy: cgroup.Hierarchy) -> Row:
    """Run one case and return its row. Raises RuntimeError if the leader ends for another reason than its limit, or sends no snapshot."""
    planned = case.plan()
    away = seconds_away(case, planned["settings"])
    configuration = Configuration(PLAN, case.workload(planned["budget"]), planned, folder / "data")
    load = None
    try:
        configuration.start(hierarchy, PORT)
        leader = leader_of(configuration.members)
        follower = next(member for member in configuration.members if member is not leader)
        others = [member.endpoint for member in configuration.members if member is not follower]
        load = start_load(others, case, WARM_SECONDS + away + WAIT_SECONDS + BACK_SECONDS)
        time.sleep(WARM_SECONDS)
        assert follower.process
        follower.process.kill()
        follower.process.wait()
        time.sleep(away)
        before = rss_anon(leader)
        follower.start()
        sent, rate = watch(leader)
        alive = is_alive(leader)
        kills = configuration.groups[configuration.members.index(leader)].oom_kills()
        if not alive and not kills:
            raise RuntimeError(f"{case.name}: the leader ended, but not by its memory limit:\n{leader.log_tail()}")
        if alive and not sent:
            raise RuntimeError(f"{case.name}: the follower needed no snapshot")
        peak = rss_anon(leader)
    finally:
        if load is not None:
            load.kill()
            load.wait()
        configuration.close()
    estimate = planned["estimate"]
    return Row(
        case=case.name,
        date=datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        version=case.version,
        value_size=case.value_size,
        stated_puts_per_second=case.rate,
        puts_per_second=round(rate, 1),
        budget=case.budget,
        memory_max=planned["memory_max"],
        gomemlimit=planned["environment"].get("GOMEMLIMIT", ""),
        snapshot_count=planned["settings"]["snapshot_count"],
        snapshot_catchup_entries=planned["settings"]["snapshot_catchup_entries"],
        planned_rss_anon_peak=estimate["rss_anon_peak"],
        planned_restart_rss_anon_peak=estimate["restart_rss_anon_peak"],
        planned_follower_snapshot_rss_anon_peak=estimate["follower_snapshot_rss_anon_peak"],
        rss_anon_before=before,
        rss_anon_peak=peak,
        snapshots=sent,
        oom_kills=kills,
        outcome="survived" if alive else "killed",
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--case", action="append", choices=[case.name for case in CASES], help="only this one, again")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the figures are kept")
    options = parser.parse_args()
    exit_on_signals()
    if busy := ports_in_use(range(PORT, PORT + 10)):
        sys.exit(f"port {busy[0]} is taken")
    try:
        hierarchy = cgroup.prepared_hierarchy()
    except cgroup.NoMemoryCgroup as error:
        sys.exit(str(error))
    rows = read_rows(options.results, Row)[1] if options.results.exists() else []
    known = {row.case for row in rows if row.case not in (options.case or ())}
    rows = [row for row in rows if row.case in known]
    failed = 0
    for case in CASES:
        if case.name in known or (options.case and case.name not in options.case):
            continue
        with tempfile.TemporaryDirectory(prefix="headroom-follower-") as folder:
            try:
                row = measure(case, Path(folder), hierarchy)
            except (RuntimeError, OSError) as error:
                print(f"{case.name}: failed: {error}", flush=True)
                failed += 1
                continue
            rows.append(row)
            write_table(options.results, facts(PROJECT), column_names(Row), [asdict(one) for one in rows])
        mib = 1 << 20
        print(
            f"{row.case}: {row.outcome}, RssAnon {row.rss_anon_before // mib} MiB before, {row.rss_anon_peak // mib} MiB after, planned "
            f"{row.planned_follower_snapshot_rss_anon_peak // mib} MiB; MemoryMax {row.memory_max // mib} MiB, {row.puts_per_second:.0f} puts/s",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
