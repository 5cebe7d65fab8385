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
from dataclasses import dataclass, field

from bench.common.member import Member, binary, metrics
from bench.memory import load

# A transaction is one request, whose size etcd limits to 1.5 MiB.
_BATCH_BYTES = 1 << 19
_BATCH_KEYS = 100
_WATCHED_SECONDS = 30


@dataclass(frozen=True)
class Workload:
    """A workload. Sizes in bytes; rate: puts a second."""

    name: str
    key_size: int
    value_size: int
    keys: int
    rate: int
    watchers: int = 0

    def key(self, number: int) -> bytes:
        """Return the key of a number."""
        return b"/audit/%d" % number + b"x" * (self.key_size - len(b"/audit/%d" % number))


WORKLOADS = (
    Workload("small values", 32, 100, 20_000, 200),
    Workload("objects of Kubernetes", 60, 1500, 10_000, 100, watchers=40),
    Workload("large values", 40, 50_000, 300, 15),
    Workload("heartbeats", 24, 16, 5, 300, watchers=5),
    Workload("idle", 40, 800, 5_000, 0, watchers=12),
)


@dataclass
class Written:
    """The puts of a writer: the time of each, in seconds."""

    times: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Return the puts a second."""
        return (len(self.times) - 1) / (self.times[-1] - self.times[0]) if len(self.times) > 1 else 0.0


def fill(member: Member, workload: Workload) -> None:
    """Put a value to each key."""
    step = max(1, min(_BATCH_KEYS, _BATCH_BYTES // workload.value_size))
    for first in range(0, workload.keys, step):
        numbers = range(first, min(workload.keys, first + step))
        load.gateway(member, "kv/txn", {"success": [{"request_put": _put(workload, number)} for number in numbers]})


def _put(workload: Workload, number: int) -> dict[str, str]:
    key, value = workload.key(number), b"v" * workload.value_size
    return {"key": base64.b64encode(key).decode(), "value": base64.b64encode(value).decode()}


@contextlib.contextmanager
def writing(member: Member, workload: Workload) -> Iterator[Written]:
    """Put to the keys in turn, at the workload's rate."""
    ended, written = threading.Event(), Written()

    def write() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", member.port, timeout=60)
        began = time.monotonic()
        number = 0
        while not ended.wait(max(0.0, began + number / workload.rate - time.monotonic())):
            connection.request("POST", "/v3/kv/put", json.dumps(_put(workload, number % workload.keys)))
            connection.getresponse().read()
            written.times.append(time.monotonic())
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
        while time.monotonic() < deadline and figure(member, "watcher_total") < workload.watchers:
            time.sleep(0.05)
        try:
            yield
        finally:
            client.kill()


def figure(member: Member, name: str) -> int:
    """Return one of the member's figures below etcd_debugging_mvcc."""
    return int(metrics(member.metrics_url)[f"etcd_debugging_mvcc_{name}"])
