"""Measure one case on real etcd: load its members, restart them over the same data, and save the figures."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import GIB, MIB

from bench.common.machine import available_memory
from bench.common.member import Member, Sampler, binary, metrics, running
from bench.memory import load
from bench.memory.cases import Case
from bench.memory.results import MEASURED, keep, row_of
from bench.plan.configurations import flags

PORT = 24300
# The garbage that remains after a replay varies by a third between starts, so the highest of several counts.
RESTARTS = 3
NEEDED_DISK = 25 * GIB
NEEDED_MEMORY = 10 * GIB


class Load(Protocol):
    """The load of a case: load.py, or random_workloads/load.py."""

    def apply(self, members: Sequence[Member], case: Case) -> float: ...

    def after_restart(self, members: Sequence[Member], case: Case) -> None: ...


def flags_of(case: Case, version: str) -> list[str]:
    """Return the member's flags: those of the case, and a quota that no case reaches."""
    log = {"snapshot_count": case.snapshot_count, "snapshot_catchup_entries": case.catchup}
    compaction = {"auto_compaction_retention": f"{case.retention}s"} if case.retention else {}
    return [*flags(version, {**log, **compaction, "quota_backend_bytes": 16 * GIB}), "--enable-pprof"]


def go_environment(case: Case) -> dict[str, str]:
    """Return GOGC and GOMEMLIMIT if the case sets them."""
    found = {} if case.gogc == 100 else {"GOGC": str(case.gogc)}
    return {**found, "GOMEMLIMIT": f"{case.gomemlimit // MIB}MiB"} if case.gomemlimit else found


def members_of(case: Case, version: str, folder: Path) -> list[Member]:
    """Return the members of the case, not yet started."""
    ports = {f"m{number}": PORT + 10 * number for number in range(case.members)}
    tls = load.certificates(folder / "tls") if case.tls else None
    return [
        Member(version, folder, port, flags_of(case, version), go_environment(case), (), name, ports, tls)
        for name, port in ports.items()
    ]


def heap_profile(member: Member, query: str = "") -> bytes:
    """Return the member's heap profile, as of its last garbage collection. query: such as ?gc=1, which triggers one."""
    context = None
    if member.tls:
        context = ssl.create_default_context(cafile=str(member.tls / "ca.crt"))
        context.load_cert_chain(member.tls / "client.crt", member.tls / "client.key")
    with urllib.request.urlopen(f"{member.endpoint}/debug/pprof/heap{query}", timeout=60, context=context) as answer:
        profile: bytes = answer.read()
    return profile


def live_heap(member: Member) -> dict[str, float]:
    """Trigger a garbage collection through the profiler and return the member's metrics."""
    heap_profile(member, "?gc=1")
    return metrics(member.metrics_url)


class Held(threading.Thread):
    """A thread that reads the live heap two seconds after the last connection or watch was opened."""

    def __init__(self, member: Member, case: Case) -> None:
        super().__init__(daemon=True)
        self.member = member
        self.watchers = case.streams * case.watchers_per_stream
        self.files = case.connections
        self.found: dict[str, float] = {}

    def run(self) -> None:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            now = metrics(self.member.metrics_url)
            if now["etcd_debugging_mvcc_watcher_total"] >= self.watchers and now["process_open_fds"] >= self.files:
                time.sleep(2)
                self.found = live_heap(self.member)
                return
            time.sleep(0.5)


def peak_during(member: Member, *arguments: str) -> int:
    """Return the highest RssAnon while etcdctl runs a command on a member."""
    assert member.process
    sampler = Sampler(member.process.pid)
    sampler.start()
    command = [str(binary(member.version, "etcdctl")), f"--endpoints={member.endpoint}", *arguments]
    subprocess.run(command, check=True, capture_output=True, timeout=180)
    return sampler.stop().rss_anon


def measure(case: Case, version: str, folder: Path, starts: int = RESTARTS, loads: Load = load) -> dict[str, float]:
    """Run one case, restart its members `starts` times, and return its figures by the names in MEASURED, and its number of keys."""
    members = members_of(case, version, folder)
    figures: dict[str, float] = dict.fromkeys(MEASURED, 0.0)
    with running(members):
        held = Held(members[0], case)
        if case.held:
            held.start()
        figures["puts_per_second"] = loads.apply(members, case)
        time.sleep(0.5)
        peaks = [member.sampler.peaks for member in members if member.sampler]
        figures["rss_anon_peak"] = max(peak.rss_anon for peak in peaks)
        figures["rss_file_peak"] = max(peak.rss_file for peak in peaks)
        figures["rss_peak"] = max(peak.rss for peak in peaks)
        after = held.found or live_heap(members[0])
        figures["heap_live"] = after["go_memstats_heap_alloc_bytes"]
        figures["heap_inuse"] = after["go_memstats_heap_inuse_bytes"]
        figures["stacks"] = after["go_memstats_stack_inuse_bytes"]
        figures["db_size"] = after["etcd_mvcc_db_total_size_in_bytes"]
        figures["db_in_use"] = after["etcd_mvcc_db_total_size_in_use_in_bytes"]
        figures["keys"] = after["etcd_debugging_mvcc_keys_total"]
        figures["revisions"] = after["etcd_debugging_mvcc_current_revision"] - max(
            after["etcd_debugging_mvcc_compact_revision"], 0
        )
        applied = {
            member.name: metrics(member.metrics_url)["etcd_server_proposals_applied_total"] for member in members
        }
    figures["replayed"] = max(index - snapshot_index(folder / name) for name, index in applied.items())
    if case.puts and not case.range_clients:
        figures.update(restarts(case, version, folder, starts, loads))
    return figures


def snapshot_index(data: Path) -> int:
    """Return the raft index of the newest disk snapshot in a stopped member's data directory: its next start replays what follows.

    Its file is named after term and index, as two hexadecimal numbers.
    """
    return max((int(path.stem.partition("-")[2], 16) for path in (data / "member" / "snap").glob("*.snap")), default=0)


def restarts(case: Case, version: str, folder: Path, starts: int, loads: Load) -> dict[str, float]:
    """Restart and load the members `starts` times over the same data; return the highest peaks and the lowest RssAnon."""
    names = sorted(path.parent.name for path in folder.glob("*/member"))
    kept = folder / "kept"
    kept.mkdir()
    for name in names:
        shutil.move(folder / name, kept / name)
    found: list[dict[str, float]] = []
    for number in range(1, starts + 1):
        for name in names:
            shutil.rmtree(folder / name, ignore_errors=True)
            if number < starts:
                shutil.copytree(kept / name, folder / name)
            else:
                shutil.move(kept / name, folder / name)
        found.append(restart(case, version, folder, loads, last=number == starts))
    peaks = [one["restart_rss_anon_peak"] for one in found]
    highest = {name: max(one[name] for one in found) for name in found[0]}
    return {**found[-1], **highest, "restarts": starts, "restart_rss_anon_least": min(peaks)}


def restart(case: Case, version: str, folder: Path, loads: Load, last: bool) -> dict[str, float]:
    """Start the members on their existing data and continue the load; after the last start, also defragment."""
    figures: dict[str, float] = {}
    again = members_of(case, version, folder)
    began = time.monotonic()
    with running(again):
        figures["restart_seconds"] = time.monotonic() - began
        loads.after_restart(again, case)
        peaks = [member.sampler.peaks for member in again if member.sampler]
        figures["restart_rss_anon_peak"] = max(peak.rss_anon for peak in peaks)
        figures["restart_rss_peak"] = max(peak.rss for peak in peaks)
        if case.defrag and last:
            figures["snapshot_rss_anon_peak"] = peak_during(again[0], "snapshot", "save", str(folder / "snapshot.db"))
            figures["defrag_rss_anon_peak"] = peak_during(again[0], "--command-timeout=120s", "defrag")
            figures["defrag_db_size"] = metrics(again[0].metrics_url)["etcd_mvcc_db_total_size_in_bytes"]
    return figures


def record(
    results: Path,
    case: Case,
    version: str,
    repeat: int,
    folder: Path,
    starts: int = RESTARTS,
    loads: Load = load,
    as_loaded: Callable[[Case, dict[str, float]], Case] = lambda case, _figures: case,
) -> dict[str, float] | None:
    """Measure one case in a new folder below `folder`, and save its row in the results. Return its figures; None if it failed, which is printed.

    as_loaded: returns the case as it is saved, for loads that cannot reach its fields exactly.
    """
    with tempfile.TemporaryDirectory(prefix="headroom-memory-", dir=folder) as temporary:
        try:
            figures = measure(case, version, Path(temporary), starts, loads)
        except (load.LoadFailed, RuntimeError, OSError) as error:
            print(f"{case.series} {case.name}: failed: {error}", flush=True)
            return None
    keep(results, row_of(as_loaded(case, figures), version, repeat, figures))
    return figures


def check_room(folder: Path, needed_disk: int = NEEDED_DISK, needed_memory: int = NEEDED_MEMORY) -> None:
    """Exit if there is too little disk or memory for the largest case."""
    free = shutil.disk_usage(folder).free
    available = available_memory()
    if free < needed_disk:
        raise SystemExit(
            f"{folder} has {free / GIB:.0f} GiB free, the largest case needs {needed_disk // GIB}: use --folder"
        )
    if available < needed_memory:
        raise SystemExit(
            f"{available / GIB:.0f} GiB of memory are available, the largest case needs {needed_memory // GIB}"
        )
