"""A fixed load of puts: each is due at its time, however long those before it took, and its latency counts from then.

A load that waits for answers before it goes on would put less while the disk is slow, and would not see what it then did not send. Speaks
etcd's JSON gateway, which adds well below a millisecond, one connection for each worker.
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
# How long after its end a load waits for answers; a put without one counts with the time that it has waited by then.
GRACE_SECONDS = 5.0
KEYS = 1000
VALUE_SIZE = 1024


@dataclass(frozen=True)
class Puts:
    """Latencies in seconds, in order; unanswered puts are among them with the time that they had waited."""

    latencies: tuple[float, ...]
    unanswered: int

    def quantile(self, share: float) -> float:
        """The latency that this share of the puts stay within."""
        return self.latencies[min(len(self.latencies) - 1, int(share * len(self.latencies)))]


class Load(threading.Thread):
    """Puts to one member from a given moment (time.monotonic) on."""

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
        """The number of the next put, None after the last one or when time is up."""
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
            return  # what it had taken stays unanswered
        finally:
            connection.close()

    def result(self, since: float) -> Puts:
        """Wait for the end; the puts that were due from this moment on."""
        self.join()
        counted = [number for number, due in enumerate(self.due) if due >= since]
        latencies = [self.done.get(number, self.last) - self.due[number] for number in counted]
        return Puts(tuple(sorted(latencies)), sum(number not in self.done for number in counted))


def body(number: int) -> bytes:
    """The request of one put."""
    key = base64.b64encode(f"/headroom/{number % KEYS:08d}".encode()).decode()
    value = base64.b64encode(bytes(VALUE_SIZE)).decode()
    return json.dumps({"key": key, "value": value}).encode()
