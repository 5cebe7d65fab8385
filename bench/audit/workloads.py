"""Known workloads on real members: keys that exist, puts at a rate, and watchers."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from bench.common.member import Member, binary

# With the flags of ENTRIES_FLAGS the raft log holds its most after this many puts. 3.5 takes longest: 15,001 entries after 20,002 puts.
ENTRIES = 20_100
ENTRIES_FLAGS = ("--snapshot-count=10000",)
CONNECTIONS = 4
_WATCHED_SECONDS = 30


@dataclass(frozen=True)
class Workload:
    """A workload. Sizes in bytes; rate: puts a second; rules: those that it breaks, since nothing compacts its history."""

    name: str
    key_size: int
    value_size: int
    keys: int
    rate: int
    watchers: int = 0
    rules: frozenset[str] = frozenset()

    def key(self, number: int) -> bytes:
        """Return the key of a number."""
        return b"/audit/%d" % number + b"x" * (self.key_size - len(b"/audit/%d" % number))


WORKLOADS = (
    Workload("small values", 32, 100, 20_000, 200),
    Workload("objects of Kubernetes", 60, 1500, 10_000, 100, watchers=40),
    Workload("events of Kubernetes", 90, 800, 30_000, 60, watchers=6),
    Workload("large values", 40, 50_000, 300, 15, rules=frozenset({"memory/large_history"})),
    Workload("heartbeats", 24, 16, 5, 300, watchers=5),
    Workload("leader election of Patroni", 50, 300, 12, 20, watchers=4),
    Workload("routes of a gateway", 48, 3000, 4000, 10, watchers=200),
    Workload("service discovery", 80, 250, 2000, 150, watchers=500),
    Workload("long keys", 400, 200, 10_000, 50),
    Workload("idle", 40, 800, 5000, 0, watchers=12),
)


@dataclass
class Written:
    """The puts of a writer: the time of each, and how long it took, in seconds."""

    times: list[float] = field(default_factory=list)
    took: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Return the puts a second."""
        return (len(self.times) - 1) / (self.times[-1] - self.times[0]) if len(self.times) > 1 else 0.0


def fill(member: Member, workload: Workload, puts: int = ENTRIES) -> None:
    """Put a value to each key, then start over, until this many puts are made."""
    total = max(puts, workload.keys)

    def write(first: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", member.port, timeout=60)
        for number in range(first, total, CONNECTIONS):
            put(connection, workload, number)
        connection.close()

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(write, range(CONNECTIONS)))


def put(connection: http.client.HTTPConnection, workload: Workload, number: int) -> None:
    """Put a value to the key of a number, after the last one to the first again."""
    key, value = workload.key(number % workload.keys), b"v" * workload.value_size
    body = {"key": base64.b64encode(key).decode(), "value": base64.b64encode(value).decode()}
    connection.request("POST", "/v3/kv/put", json.dumps(body))
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != 200:
        raise OSError(text.decode(errors="replace"))


@contextlib.contextmanager
def writing(member: Member, workload: Workload) -> Iterator[Written]:
    """Put to the keys in turn, at the workload's rate."""
    ended, written = threading.Event(), Written()

    def write() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", member.port, timeout=60)
        began = time.monotonic()
        number = 0
        while not ended.wait(max(0.0, began + number / workload.rate - time.monotonic())):
            due = time.monotonic()
            put(connection, workload, number)
            written.times.append(time.monotonic())
            written.took.append(written.times[-1] - due)
            number += 1
        connection.close()

    thread = threading.Thread(target=write)
    if workload.rate:
        thread.start()
    try:
        yield written
    finally:
        ended.set()
        if workload.rate:
            thread.join()


@contextlib.contextmanager
def watching(member: Member, workload: Workload) -> Iterator[None]:
    """Hold the workload's watchers on one stream."""
    command = [str(binary(member.version, "etcdctl")), f"--endpoints={member.endpoint}", "watch", "-i"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet) as client:
        assert client.stdin
        client.stdin.write(b"watch nothing\n" * workload.watchers)
        client.stdin.flush()
        deadline = time.monotonic() + _WATCHED_SECONDS
        while time.monotonic() < deadline and member.mvcc_metric("watcher_total") < workload.watchers:
            time.sleep(0.05)
        try:
            yield
        finally:
            client.kill()
