#!/usr/bin/env python3
"""Show what the heap of each member of a random workload consists of when it is largest, from Go's heap profiles.

Profiles are read twice a second while the load of the case runs. Needs `go`.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB

from bench.common.member import Member, binary, leader_of, releases, running
from bench.common.signals import exit_on_signals
from bench.memory.cases import SERIES
from bench.memory.measure import heap_profile, members_of
from bench.memory.random_workloads import load
from bench.memory.random_workloads.cases import generate

PERIOD_SECONDS = 0.5
PLACES = 6
# A line of `go tool pprof -traces`: bytes and the innermost function of a stack, or a further function of it.
_FIRST, _FURTHER = re.compile(r" *([0-9.]+)MB {2,}(\S+)"), re.compile(r" {10,}(\S+)")
# etcd's functions, without those that only encode and decode.
_OWN, _CODEC = re.compile(r"go\.etcd\.io/"), re.compile(r"/[a-z]*pb\.|/pbutil\.")


def places(traces: str) -> dict[str, float]:
    """Return the MiB of each function of etcd that allocated, from the output of `go tool pprof -traces`."""
    found: dict[str, float] = {}
    for block in re.split(r"^-+\+-+$", traces, flags=re.M):
        size, stack = 0.0, []
        for line in block.splitlines():
            if first := _FIRST.match(line):
                size, stack = float(first[1]), [first[2]]
            elif (further := _FURTHER.match(line)) and stack:
                stack.append(further[1])
        if size:
            where = place(stack)
            found[where] = found.get(where, 0.0) + size
    return found


def place(stack: Sequence[str]) -> str:
    """Return the innermost function of etcd, raft or bbolt in a stack that does more than encode or decode."""
    own = [name for name in stack if _OWN.match(name)]
    return next((name for name in own if not _CODEC.search(name)), (own or list(stack))[0]).rpartition("/")[2]


def read_profile(member: Member, folder: Path) -> dict[str, float]:
    """Return the places of allocation in a member's heap with their MiB, as of its last garbage collection."""
    file = folder / f"{member.name}.profile"
    file.write_bytes(heap_profile(member))
    command = ["go", "tool", "pprof", "-traces", "-unit=MB", "-sample_index=inuse_space"]
    done = subprocess.run(
        [*command, str(binary(member.version)), str(file)], check=True, capture_output=True, text=True, timeout=60
    )
    return places(done.stdout)


def watch(member: Member, folder: Path, done: threading.Event, largest: dict[str, dict[str, float]]) -> None:
    """Keep the member's largest profile until the event."""
    while not done.wait(PERIOD_SECONDS):
        found = read_profile(member, folder)
        if sum(found.values()) > sum(largest[member.name].values()):
            largest[member.name] = found


def main() -> None:
    parser = argparse.ArgumentParser(description="Show what the heap of the members of a random workload consists of.")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--series", choices=SERIES, required=True)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="where etcd keeps its data")
    options = parser.parse_args()
    exit_on_signals()
    version = {version.rpartition(".")[0]: version for version in releases()}[options.series]
    case = generate(options.seed, options.series)
    with tempfile.TemporaryDirectory(prefix="headroom-heap-", dir=options.folder) as temporary:
        folder = Path(temporary)
        members = members_of(case, version, folder)
        largest: dict[str, dict[str, float]] = {member.name: {} for member in members}
        done = threading.Event()
        with running(members):
            threads = [
                threading.Thread(target=watch, args=(one, folder, done, largest), daemon=True) for one in members
            ]
            for thread in threads:
                thread.start()
            try:
                load.apply(members, case)
            finally:
                done.set()
                for thread in threads:
                    thread.join()
            leader = leader_of(members).name
            peaks = {one.name: one.sampler.peaks.rss_anon // MIB for one in members if one.sampler}
    for name, found in sorted(largest.items()):
        print(
            f"{name}{' (leader)' if name == leader else ''}: RssAnon {peaks[name]} MiB, live heap {sum(found.values()):.0f} MiB:"
        )
        for where, size in sorted(found.items(), key=lambda one: -one[1])[:PLACES]:
            print(f"  {size:6.1f}  {where}")


if __name__ == "__main__":
    main()
