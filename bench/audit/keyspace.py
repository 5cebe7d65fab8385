"""Read the keys of a database of 2 GB, and compare what was found with etcd's own figures before and after a defragmentation."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.audit.measure import PORT, scratch
from bench.common.audit import PROJECT
from bench.common.member import Member, binary, metrics, running
from bench.common.processes import descendants
from bench.memory import load

VALUE = b"v" * 4000
KEYS = 500_000
BATCH = 100
CONNECTIONS = 4
# Every n-th key is written a second time, and every n-th key is deleted. A compaction removes this history.
REWRITTEN, DELETED = 20, 50
FLAGS = ("--quota-backend-bytes=8589934592", "--snapshot-count=1000", "--max-txn-ops=128")
READ_RATE = "100MB"
NAMESPACES = 40
MAX_SECONDS = 1800


@dataclass(frozen=True)
class Row:
    """One reading. live: bytes of keys and values that were written and not deleted. size, defragmented: of the file, before and after.

    predicted: the module's prediction of the latter. memory: the highest resident memory of the module and of the etcdctl that it runs, together.
    """

    version: str
    keys: int
    measured_keys: int
    live: int
    measured_live: int
    size: int
    defragmented: int
    predicted: int
    seconds: float
    memory: int


class Memory(threading.Thread):
    """The highest resident memory of a module's processes, below a process that runs it."""

    def __init__(self, ancestor: int) -> None:
        super().__init__(daemon=True)
        self.ancestor, self.highest, self.ended = ancestor, 0, threading.Event()

    def run(self) -> None:
        while not self.ended.wait(0.02):
            self.highest = max(self.highest, sum(map(self._size, descendants(self.ancestor))))

    @staticmethod
    def _size(process: int) -> int:
        try:
            words = Path(f"/proc/{process}/cmdline").read_bytes()
            status = Path(f"/proc/{process}/status").read_text()
        except OSError:
            return 0
        # The worker process of Ansible, from which the module was forked, has another command line.
        if b"AnsiballZ" not in words and b"etcdctl\0" not in words.partition(b"\0")[0] + b"\0":
            return 0
        found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.M)
        return int(found[1]) * 1024 if found else 0


def key(number: int) -> bytes:
    """Return the name of a key, like those of Kubernetes."""
    return b"/registry/pods/namespace-%d/pod-%07d" % (number % NAMESPACES, number)


def fill(member: Member) -> tuple[int, int]:
    """Write the database, a part of it a second time, and delete a part. Return the keys that are left and their bytes, with values."""
    value = base64.b64encode(VALUE).decode()

    def put(numbers: list[int]) -> None:
        send("request_put", [{"key": base64.b64encode(key(number)).decode(), "value": value} for number in numbers])

    def delete(numbers: list[int]) -> None:
        send("request_delete_range", [{"key": base64.b64encode(key(number)).decode()} for number in numbers])

    def send(kind: str, requests: list[dict[str, str]]) -> None:
        load.gateway(member, "kv/txn", {"success": [{kind: request} for request in requests]})

    everything = list(range(KEYS))
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        for write, numbers in ((put, everything), (put, everything[::REWRITTEN]), (delete, everything[1::DELETED])):
            batches = [numbers[first : first + BATCH] for first in range(0, len(numbers), BATCH)]
            list(pool.map(write, batches))
    left = sorted(set(everything) - set(everything[1::DELETED]))
    return len(left), sum(len(key(number)) + len(VALUE) for number in left)


def read(member: Member, folder: Path) -> tuple[dict[str, Any], float, int]:
    """Run the module as a task would. Return its result, the seconds that it took, and its memory."""
    arguments = {
        "endpoints": [member.endpoint],
        "etcdctl_path": str(binary(member.version, "etcdctl")),
        "request_timeout": 30,
        "max_size": "8GB",
        "read_rate": READ_RATE,
    }
    command = ["ansible", "localhost", "-m", "etcdops.headroom.etcd_keyspace_info", "-a", json.dumps(arguments)]
    began = time.monotonic()
    with (folder / "output").open("w") as out:
        process = subprocess.Popen([*command, "--tree", str(folder / "results")], cwd=PROJECT, stdout=out, stderr=out)
        memory = Memory(process.pid)
        memory.start()
        code = process.wait(MAX_SECONDS)
        memory.ended.set()
        memory.join()
    seconds = round(time.monotonic() - began, 1)
    if code:
        raise RuntimeError(f"etcd_keyspace_info failed:\n{(folder / 'output').read_text()}")
    found: dict[str, Any] = json.loads((folder / "results" / "localhost").read_text())
    return found, seconds, memory.highest


def size(member: Member) -> int:
    """Return the size of the database's file."""
    return int(metrics(member.metrics_url)["etcd_mvcc_db_total_size_in_bytes"])


def measure(version: str, folder: Path) -> Row:
    """Fill a member, read its keys, then compact and defragment it."""
    member = Member(version, folder, PORT, FLAGS, name="m0")
    with running([member]):
        keys, live = fill(member)
        before = size(member)
        found, seconds, memory = read(member, folder)
        load.gateway(member, "kv/compaction", {"revision": found["read"]["revision"], "physical": True})
        load.gateway(member, "maintenance/defragment", {})
        after = size(member)
    database, read_keys = found["database"], found["read"]["keys"]
    predicted = database["after_defragmentation"]
    return Row(version, keys, read_keys, live, database["live"], before, after, predicted, seconds, memory)


def measure_all(versions: list[str]) -> Iterator[Row]:
    """Measure each release."""
    for version in versions:
        with scratch() as folder:
            yield measure(version, folder)
