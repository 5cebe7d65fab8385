"""Three members with a fragmented database: filled once, then copied for each run."""

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

from bench.common.member import Member, binary, metrics, running
from bench.maintenance.load import fill

NAMES = ("m1", "m2", "m3")
PORTS_PER_MEMBER = 3
VALUE_SIZE = 3800  # two records of it fill a leaf page of the database
RECORD = 2 * 4096 // 2
SETTLE_SECONDS = 60
# While it is filled, a log as short as can be: a member that starts from a copy replays it.
SHORT_LOG = {
    "3.5": ["--snapshot-count=200", "--experimental-snapshot-catchup-entries=100"],
    "3.6": ["--snapshot-count=200", "--snapshot-catchup-entries=100"],
    "3.7": ["--snapshot-count=200", "--snapshot-catchup-entries=100"],
}
# The health service of a member that defragments says that it does not serve.
GATE = {
    "3.5": ["--experimental-stop-grpc-service-on-defrag"],
    "3.6": ["--feature-gates=StopGRPCServiceOnDefrag=true"],
    "3.7": ["--feature-gates=StopGRPCServiceOnDefrag=true"],
}


@dataclass(frozen=True)
class Filling:
    """How large the database is to be. keys stay, gone are deleted again."""

    keys: int
    gone: int

    @classmethod
    def of(cls, size: int, free: float) -> Filling:
        """A database of at least this many bytes, of which this share is free."""
        records = size // RECORD + 1
        return cls(round(records * (1 - free)), round(records * free))


@dataclass(frozen=True)
class Size:
    """A member's database in bytes: the file, and what of it is in use."""

    total: int
    in_use: int

    @property
    def free(self) -> float:
        """The share that a defragmentation gives back."""
        return 1 - self.in_use / self.total


@dataclass(frozen=True)
class Event:
    """Something that a member logged. at: Unix time, of its begin. seconds: 0 for what has no duration."""

    kind: str
    member: str
    at: float
    seconds: float


def series(version: str) -> str:
    """The series of a release."""
    return ".".join(version.split(".")[:2])


def members(version: str, folder: Path, port: int, flags: Iterable[str] = ()) -> list[Member]:
    """A cluster of three on the ports from this one on; its members log what they do."""
    peers = {name: port + number * PORTS_PER_MEMBER for number, name in enumerate(NAMES)}
    return [
        Member(version, folder, peers[name], ["--log-level=info", *flags], name=name, peers=peers) for name in NAMES
    ]


def endpoints(cluster: Sequence[Member]) -> list[str]:
    """Where clients connect."""
    return [member.endpoint for member in cluster]


def sizes(cluster: Sequence[Member]) -> dict[str, Size]:
    """The databases, as the members' metrics say."""
    found = {}
    for member in cluster:
        values = metrics(member.metrics_url)
        found[member.name] = Size(
            int(values["etcd_mvcc_db_total_size_in_bytes"]), int(values["etcd_mvcc_db_total_size_in_use_in_bytes"])
        )
    return found


def leader(cluster: Sequence[Member]) -> str:
    """The name of the member that leads."""
    for member in cluster:
        if metrics(member.metrics_url)["etcd_server_is_leader"]:
            return member.name
    raise RuntimeError("no member leads")


def etcdctl(version: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run etcdctl of this release; its output, also where it failed."""
    return subprocess.run(
        [binary(version, "etcdctl"), *arguments], capture_output=True, text=True, timeout=300, check=False
    )


def seed(version: str, folder: Path, port: int, filling: Filling) -> dict[str, Size]:
    """Fill a cluster below the folder and leave it stopped; its sizes."""
    shutil.rmtree(folder, ignore_errors=True)
    with running(members(version, folder, port, ["--log-level=error", *SHORT_LOG[series(version)]])) as cluster:
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
    """A fresh copy of a filled cluster, on the disk when this returns: writing back would disturb what is measured."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in NAMES:
        subprocess.run(["cp", "-a", "--reflink=auto", seeded / name, folder / name], check=True)
    subprocess.run(["sync", "-f", folder], check=True)


def events(cluster: Sequence[Member]) -> list[Event]:
    """Defragmentations and elections by the members' own logs, in their order."""
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
    """The Unix time of a time stamp in etcd's log."""
    return datetime.strptime(text.replace("Z", "+0000"), "%Y-%m-%dT%H:%M:%S.%f%z").timestamp()
