"""Audit clusters with planted defects. Each defect is one rule that has to find it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.audit.measure import audited, inspecting_this_machine, rules, scratch
from bench.audit.workloads import Workload, fill
from bench.common.member import Member, running
from bench.memory import load

PORT = 27510
LARGE = Workload("large values", 20, 700 << 10, 3, 0)
SMALL_QUOTA = 4 << 20


@dataclass(frozen=True)
class Row:
    """Clusters with planted defects of one kind on one release: the rules that had to find them, and those that did not."""

    version: str
    kind: str
    planted: list[str]
    missed: list[str]


def _bad_flags(version: str, folder: Path) -> list[Member]:
    urls = f"http://127.0.0.1:{PORT},http://10.9.9.9:2379"
    flags = ["--unsafe-no-fsync", f"--quota-backend-bytes={16 << 30}", "--election-timeout=600"]
    return [Member(version, folder, PORT, [*flags, f"--advertise-client-urls={urls}"])]


def _more_bad_flags(version: str, folder: Path) -> list[Member]:
    flags = ["--force-new-cluster", "--auto-compaction-mode=periodic", "--auto-compaction-retention=24"]
    flags += [f"--max-request-bytes={20 << 20}", "--quota-backend-bytes=-1", "--snapshot-count=50"]
    return [Member(version, folder, PORT, flags, name="m0")]


def _full_database(version: str, folder: Path) -> list[Member]:
    return [Member(version, folder, PORT, [f"--quota-backend-bytes={SMALL_QUOTA}"], name="m0")]


def _free_pages(version: str, folder: Path) -> list[Member]:
    return [Member(version, folder, PORT, name="m0")]


def _unequal_members(version: str, folder: Path) -> list[Member]:
    ports = {f"m{number}": PORT + 10 * number for number in range(4)}
    flags = [f"--quota-backend-bytes={4 << 30}", "--heartbeat-interval=200", "--election-timeout=2000"]
    catchup = "experimental-snapshot-catchup-entries" if version.startswith("3.5.") else "snapshot-catchup-entries"
    return [
        Member(
            version,
            folder / name,
            port,
            [f"--{catchup}=10", *(flags if name == "m1" else [])],
            name=name,
            peers=ports,
        )
        for name, port in ports.items()
    ]


def _fill_up(members: Sequence[Member]) -> None:
    """Put values until etcd sets the alarm NOSPACE."""
    fill(members[0], LARGE, LARGE.keys)
    value = base64.b64encode(b"v" * (700 << 10)).decode()
    for number in range(20):
        try:
            load.gateway(members[0], "kv/put", {"key": base64.b64encode(b"%d" % number).decode(), "value": value})
        except OSError:
            return


def _delete_most(members: Sequence[Member]) -> None:
    """Leave pages behind that a defragmentation would give back."""
    fill(members[0], Workload("values", 20, 100_000, 2000, 0), 2000)
    everything = {"key": base64.b64encode(b"\0").decode(), "range_end": base64.b64encode(b"\0").decode()}
    answer = load.gateway(members[0], "kv/deleterange", everything)
    load.gateway(members[0], "kv/compaction", {"revision": int(answer["header"]["revision"]), "physical": True})


def _stop_one(members: Sequence[Member]) -> None:
    members[-1].stop()


def _large_values(members: Sequence[Member]) -> None:
    fill(members[0], LARGE, LARGE.keys)


Make = Callable[[str, Path], list[Member]]
Use = Callable[[Sequence[Member]], None]
# Kind → the members, what is done to them, whether the processes are read, and the rules that have to find it.
DEFECTS: dict[str, tuple[Make, Use, bool, list[str]]] = {
    "flags": (
        _bad_flags,
        _large_values,
        True,
        [
            "compaction/off",
            "durability/unsafe_no_fsync",
            "memory/quota_over_8_gib",
            "security/plain_http",
            "topology/default_name",
            "topology/election_ratio",
        ],
    ),
    "more flags": (
        _more_bad_flags,
        _large_values,
        True,
        [
            "compaction/bare_hours",
            "durability/force_new_cluster",
            "memory/max_request_bytes",
            "memory/quota_unlimited",
            "memory/snapshot_count_too_low",
        ],
    ),
    "a full database": (_full_database, _fill_up, False, ["live/alarm", "live/quota_use", "memory/large_values"]),
    "free pages": (_free_pages, _delete_most, False, ["live/fragmentation"]),
    "unequal members": (
        _unequal_members,
        _stop_one,
        True,
        [
            "live/unhealthy",
            "memory/catchup_too_few",
            "topology/even_members",
            "topology/uneven_quota",
            "topology/uneven_timings",
        ],
    ),
}


def plant(version: str, kind: str, folder: Path) -> Row:
    """Audit a cluster with the defects of a kind."""
    make, use, inspected, planted = DEFECTS[kind]
    members = make(version, folder)
    with running(members):
        use(members)
        access = inspecting_this_machine(folder) if inspected else {}
        found, _ = audited(folder, members[0].endpoint, version, **access)
    return Row(version, kind, planted, sorted(set(planted) - rules(found)))


def measure_all(versions: list[str]) -> Iterator[Row]:
    """Plant each kind of defects on each release."""
    for version in versions:
        for kind in DEFECTS:
            with scratch() as folder:
                yield plant(version, kind, folder)
