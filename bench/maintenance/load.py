"""Run tools/load, which uses etcd's Go client through all endpoints, and read what its clients noticed."""

from __future__ import annotations

import contextlib
import csv
import json
import math
import select
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.common.member import PROJECT

PROGRAM = PROJECT / ".headroom" / "bin" / "load"
GROUPS = ("plain", "health")
REQUESTS = ("put", "range")
READY_SECONDS = 60
END_SECONDS = 90
FILL_SECONDS = 600
WINDOW = 0.5  # seconds


@dataclass(frozen=True)
class Sample:
    """A request or a watch event. at: Unix time at which it was due. latency: in seconds. error: empty on success."""

    group: str
    kind: str
    at: float
    latency: float
    error: str


@dataclass(frozen=True)
class StreamResult:
    """The results of a group's leases and watchers. longest_renewal_pause: in seconds."""

    leases: int
    leases_lost: int
    longest_renewal_pause: float
    watch_events: int
    watch_missed: int
    watches_closed: int


@dataclass(frozen=True)
class Window:
    """The requests due within half a second. start: seconds since the maintenance began; latencies in milliseconds."""

    group: str
    kind: str
    start: float
    count: int
    failed: int
    p50: float
    p99: float
    slowest: float


class Load:
    """A running load. After `stop`, `samples` and `streams` hold its results."""

    def __init__(self, process: subprocess.Popen[str], file: Path) -> None:
        self.process, self.file = process, file
        self.samples: list[Sample] = []
        self.streams: dict[str, StreamResult] = {}

    def stop(self) -> None:
        """Stop the load and read its results."""
        out, _ = self.process.communicate("", timeout=END_SECONDS)
        if self.process.returncode:
            raise RuntimeError(f"the load ended with {self.process.returncode}")
        summary = json.loads(out)
        self.streams = {group: StreamResult(**summary[group]) for group in GROUPS}
        self.samples = read(self.file, summary["began"])


def read(file: Path, began: float) -> list[Sample]:
    """Read the samples of a file, whose times are microseconds since the load began."""
    with file.open(newline="") as lines:
        return [
            Sample(
                row["group"], row["kind"], began + int(row["at"]) / 1e6, int(row["latency"]) / 1e6, row["error"] or ""
            )
            for row in csv.DictReader(lines)
        ]


def fill(endpoints: Sequence[str], keys: int, gone: int, value_size: int) -> None:
    """Write keys that stay, and keys that are deleted again and leave free pages."""
    sizes = ["--live-keys", str(keys), "--fill", str(gone), "--value-size", str(value_size)]
    subprocess.run([PROGRAM, "--endpoints", ",".join(endpoints), *sizes], check=True, timeout=FILL_SECONDS)


@contextlib.contextmanager
def loaded(endpoints: Sequence[str], keys: int, rate: int, file: Path) -> Iterator[Load]:
    """Drive the cluster until `stop`, or at the latest until the block ends."""
    command = ["setpriv", "--pdeathsig", "KILL", "--", str(PROGRAM), "--endpoints", ",".join(endpoints)]
    command += ["--live-keys", str(keys), "--rate", str(rate), "--samples", str(file)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        if not select.select([process.stdout], [], [], READY_SECONDS)[0] or process.stdout.readline() != "ready\n":
            raise RuntimeError(f"the load was not ready within {READY_SECONDS} s")
        yield Load(process, file)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return the nearest-rank quantile: the smallest value that this share of all values does not exceed."""
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)]


def windows(samples: Sequence[Sample], zero: float) -> list[Window]:
    """Group samples by group, kind and half second since `zero` (Unix time), without the last, incomplete half second.

    The latency of a failed request is the time after which the client gave up.
    """
    found: dict[tuple[str, str, int], list[Sample]] = {}
    for sample in samples:
        found.setdefault((sample.group, sample.kind, math.floor((sample.at - zero) / WINDOW)), []).append(sample)
    last = max(number for _, _, number in found)
    rows = []
    for (group, kind, number), inside in sorted(found.items(), key=lambda item: (item[0][0], item[0][1], item[0][2])):
        if number == last:
            continue
        ordered = sorted(sample.latency * 1000 for sample in inside)
        failed = sum(bool(sample.error) for sample in inside)
        points = (quantile(ordered, 0.5), quantile(ordered, 0.99), ordered[-1])
        rows.append(Window(group, kind, number * WINDOW, len(inside), failed, *(round(point, 2) for point in points)))
    return rows
