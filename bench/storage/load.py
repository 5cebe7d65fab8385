"""A fixed load of puts: each is sent when it is due, however long earlier ones took, and its latency counts from that time.

A load that waits for answers would send fewer puts while the disk is slow and would miss the latency of those that it did not send. It uses
etcd's JSON gateway, which adds well below a millisecond, with one connection for each worker.
"""

from __future__ import annotations

import base64
import http.client
import json
import threading
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

WORKERS = 64
# How long a load waits for answers after its end. An unanswered put counts with the time it has waited by then.
GRACE_SECONDS = 5.0
KEYS = 1000
VALUE_SIZE = 1024


@dataclass(frozen=True)
class Puts:
    """Sorted latencies in seconds, including the waiting time of unanswered puts."""

    latencies: tuple[float, ...]
    unanswered: int

    def quantile(self, share: float) -> float:
        """Return the latency that this share of the puts does not exceed."""
        return self.latencies[min(len(self.latencies) - 1, int(share * len(self.latencies)))]


class Load(threading.Thread):
    """A load of puts on one member, starting at a given time.monotonic()."""

    def __init__(self, url: str, rate: float, begin: float, seconds: float) -> None:
        super().__init__(daemon=True)
        self.address = urlsplit(url).netloc
        self.due = [begin + number / rate for number in range(round(rate * seconds))]
        self.last = begin + seconds + GRACE_SECONDS
        self.taken = 0
        self.lock = threading.Lock()
        self.done: dict[int, float] = {}

    def run(self) -> None:
        workers = [threading.Thread(target=self._work, daemon=True) for _ in range(WORKERS)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    def _take(self) -> int | None:
        """Return the number of the next put, or None after the last one or when time is up."""
        with self.lock:
            if self.taken == len(self.due) or time.monotonic() > self.last:
                return None
            self.taken += 1
            return self.taken - 1

    def _work(self) -> None:
        connection = http.client.HTTPConnection(self.address)
        try:
            while (number := self._take()) is not None:
                time.sleep(max(0.0, self.due[number] - time.monotonic()))
                connection.timeout = max(0.1, self.last - time.monotonic())
                if connection.sock:
                    connection.sock.settimeout(connection.timeout)
                connection.request("POST", "/v3/kv/put", body(number))
                answer = connection.getresponse()
                answer.read()
                if answer.status == 200:
                    self.done[number] = time.monotonic()
        except (OSError, http.client.HTTPException):
            return  # its put stays unanswered
        finally:
            connection.close()

    def result(self, since: float) -> Puts:
        """Wait for the end and return the puts that were due after this moment."""
        self.join()
        counted = [number for number, due in enumerate(self.due) if due >= since]
        latencies = [self.done.get(number, self.last) - self.due[number] for number in counted]
        return Puts(tuple(sorted(latencies)), sum(number not in self.done for number in counted))


def body(number: int) -> bytes:
    """Return the request body of one put."""
    key = base64.b64encode(f"/headroom/{number % KEYS:08d}".encode()).decode()
    value = base64.b64encode(bytes(VALUE_SIZE)).decode()
    return json.dumps({"key": key, "value": value}).encode()
