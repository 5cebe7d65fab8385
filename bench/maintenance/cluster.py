"""Three members with a fragmented database, filled once and copied for each run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ansible_collections.etcdops.headroom.plugins.module_utils._base.versions import minor

from bench.common.member import Member, binary, metrics, running
from bench.maintenance.load import fill

NAMES = ("m1", "m2", "m3")
PORTS_PER_MEMBER = 3
VALUE_SIZE = 3800  # two such records fill a leaf page of the database
RECORD = 2 * 4096 // 2
SETTLE_SECONDS = 60
# The shortest possible log while filling, because a member that starts from a copy replays it.
SHORT_LOG = {
    "3.5": ["--snapshot-count=200", "--experimental-snapshot-catchup-entries=100"],
    "3.6": ["--snapshot-count=200", "--snapshot-catchup-entries=100"],
    "3.7": ["--snapshot-count=200", "--snapshot-catchup-entries=100"],
}
# With these flags a defragmenting member reports through its health service that it does not serve.
GATE = {
    "3.5": ["--experimental-stop-grpc-service-on-defrag"],
    "3.6": ["--feature-gates=StopGRPCServiceOnDefrag=true"],
    "3.7": ["--feature-gates=StopGRPCServiceOnDefrag=true"],
}


@dataclass(frozen=True)
class Filling:
    """The size of the database: `keys` stay, `gone` are deleted again."""

    keys: int
    gone: int

    @classmethod
    def of(cls, size: int, free: float) -> Filling:
        """Return the filling for a database of at least this many bytes with this share of them free."""
        records = size // RECORD + 1
        return cls(round(records * (1 - free)), round(records * free))


@dataclass(frozen=True)
class Size:
    """The size of a member's database file in bytes, and the bytes in use."""

    total: int
    in_use: int

    @property
    def free(self) -> float:
        """Return the share that a defragmentation frees."""
        return 1 - self.in_use / self.total


@dataclass(frozen=True)
class Event:
    """An event from a member's log. at: Unix time of its start. seconds: its duration, 0 for an instant."""

    kind: str
    member: str
    at: float
    seconds: float


def members(version: str, folder: Path, port: int, flags: Iterable[str] = ()) -> list[Member]:
    """Return a cluster of three members on the ports starting here, with logs at level info."""
    peers = {name: port + number * PORTS_PER_MEMBER for number, name in enumerate(NAMES)}
    return [
        Member(version, folder, peers[name], ["--log-level=info", *flags], name=name, peers=peers) for name in NAMES
    ]


def endpoints(cluster: Sequence[Member]) -> list[str]:
    """Return the client URL."""
    return [member.endpoint for member in cluster]


def sizes(cluster: Sequence[Member]) -> dict[str, Size]:
    """Return the size of each member's database, from its metrics."""
    found = {}
    for member in cluster:
        values = metrics(member.metrics_url)
        found[member.name] = Size(
            int(values["etcd_mvcc_db_total_size_in_bytes"]), int(values["etcd_mvcc_db_total_size_in_use_in_bytes"])
        )
    return found


def etcdctl(version: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run etcdctl of this release and return its output, even if it failed."""
    return subprocess.run(
        [binary(version, "etcdctl"), *arguments], capture_output=True, text=True, timeout=300, check=False
    )


def seed(version: str, folder: Path, port: int, filling: Filling) -> dict[str, Size]:
    """Fill a cluster below the folder, stop it, and return its sizes."""
    shutil.rmtree(folder, ignore_errors=True)
    with running(members(version, folder, port, ["--log-level=error", *SHORT_LOG[minor(version)]])) as cluster:
        fill(endpoints(cluster), filling.keys, filling.gone, VALUE_SIZE)
        wanted = filling.gone / (filling.keys + filling.gone) * 0.9
        deadline = time.monotonic() + SETTLE_SECONDS
        while True:
            found = sizes(cluster)
            if min(size.free for size in found.values()) >= wanted:
                return found
            if time.monotonic() > deadline:
                raise RuntimeError(f"compaction left fewer free pages than {wanted:.0%}: {found}")
            time.sleep(0.2)


def copied(seeded: Path, folder: Path) -> None:
    """Copy a filled cluster and flush the copy, because later write-back would disturb the measurement."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in NAMES:
        subprocess.run(["cp", "-a", "--reflink=auto", seeded / name, folder / name], check=True)
    subprocess.run(["sync", "-f", folder], check=True)


def events(cluster: Sequence[Member]) -> list[Event]:
    """Return defragmentations and elections from the members' logs, in order."""
    found = []
    for member in cluster:
        begin = 0.0
        for line in (member.folder / f"{member.name}.log").read_text(errors="replace").splitlines():
            if not line.startswith("{"):
                continue
            said = json.loads(line)
            at = moment(said["ts"])
            if said["msg"] == "defragmenting":
                begin = at
            elif said["msg"] in ("finished defragmenting directory", "finished defragment") and begin:
                found.append(Event("defragmentation", member.name, begin, at - begin))
                begin = 0.0
            elif re.match(r"\w+ became leader at term", said["msg"]):
                found.append(Event("elected", member.name, at, 0.0))
    return sorted(found, key=lambda event: event.at)


def moment(text: str) -> float:
    """Return the Unix time of a time stamp in etcd's log."""
    return datetime.strptime(text.replace("Z", "+0000"), "%Y-%m-%dT%H:%M:%S.%f%z").timestamp()
