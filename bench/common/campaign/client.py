"""A client that writes unique keys at a steady pace during a fault, and reads all of them back at the end.

A write is due every 50 ms, however long earlier ones take. It goes to the endpoints in turn, each waited for 0.4 s, until one accepts it or
2 s have passed since it was due. A probe also asks each member four times a second whether it serves (a serializable health check) and has a vote,
to judge a failed write: did a majority of the voting members serve during all of its 2 s?
"""

from __future__ import annotations

import math
import queue
import ssl
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bench.common.gateway import Endpoint, Errors, Refused, Session, decode, encode
from bench.common.processes import run_first

# With 0.4 s for an endpoint, a write still reaches two members after an election that took a second.
INTERVAL, LIMIT, ATTEMPT = 0.05, 2.0, 0.4
PROBE_INTERVAL, PROBE_LIMIT = 0.25, 0.5
PAGE = 2000


@dataclass(frozen=True)
class Write:
    """One write: when it was due and when it ended (Unix times), and the revision that etcd gave it; 0 if nobody acknowledged it."""

    number: int
    due: float
    ended: float
    revision: int

    @property
    def acknowledged(self) -> bool:
        """Return whether a member acknowledged it."""
        return self.revision > 0


@dataclass(frozen=True)
class Probe:
    """Which voting members served at a moment."""

    at: float
    serving: frozenset[str]


@dataclass
class Record:
    """What the client wrote and what the probes saw."""

    members: int
    writes: list[Write] = field(default_factory=list)
    probes: list[Probe] = field(default_factory=list)

    def since_first(self) -> list[Write]:
        """Return the writes in the order in which they were due, without those that failed and were due before the first acknowledgement.

        Until then there was no cluster. The first write to be acknowledged may have waited for it longer than others, which failed.
        """
        formed = min((write.ended for write in self.writes if write.acknowledged), default=math.inf)
        ordered = sorted(self.writes, key=lambda write: write.due)
        return [write for write in ordered if write.acknowledged or write.due >= formed]

    def had_majority(self, write: Write) -> bool:
        """Return whether a majority served at each probe within the write's time limit."""
        seen = [probe for probe in self.probes if write.due - PROBE_INTERVAL <= probe.at <= write.due + LIMIT]
        return all(len(probe.serving) > self.members // 2 for probe in seen)

    def failed(self) -> tuple[int, int]:
        """Return how many writes failed while a majority served, and how many while none did."""
        failures = [write for write in self.since_first() if not write.acknowledged]
        blamed = sum(self.had_majority(write) for write in failures)
        return blamed, len(failures) - blamed

    def longest_pause(self) -> float:
        """Return the longest time in seconds between two acknowledgements, or from the last one to the end."""
        ended = sorted(write.ended for write in self.since_first() if write.acknowledged)
        ended += [max(write.ended for write in self.writes)] if ended else []
        return max((later - earlier for earlier, later in zip(ended, ended[1:], strict=False)), default=0.0)

    def lost(self, found: dict[int, str], kept: Callable[[Write], bool]) -> list[int]:
        """Return the numbers of the acknowledged writes that the cluster must still have (`kept`) and has not."""
        return [
            write.number
            for write in self.writes
            if write.acknowledged and kept(write) and found.get(write.number) != value_of(write.number)
        ]


def value_of(number: int) -> str:
    """Return the value of a key."""
    return f"write {number}"


class Client:
    """Writes to all endpoints from background threads until it is stopped.

    connect: returns the TLS context, or None as long as there are no certificates. session: where authentication is on.
    """

    def __init__(
        self,
        prefix: str,
        urls: Sequence[str],
        connect: Callable[[], ssl.SSLContext | None],
        session: Session | None = None,
    ) -> None:
        self.prefix, self.urls, self.connect, self.session = prefix, list(urls), connect, session
        self.record = Record(len(self.urls))
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._connecting = threading.Lock()
        self._idle: queue.LifoQueue[_Worker] = queue.LifoQueue()
        self._workers: list[_Worker] = []
        self._context: ssl.SSLContext | None = None
        self._threads = [threading.Thread(target=self._pace, daemon=True)]
        self._threads += [threading.Thread(target=self._probe, args=(url,), daemon=True) for url in self.urls]
        self._serving: set[str] = set()

    def start(self) -> None:
        """Begin to write as soon as there are certificates."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> Record:
        """Stop, wait for the writes that are under way, and return what happened."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()
        for worker in self._workers:
            worker.finish()
        return self.record

    def acknowledged(self, within: float) -> bool:
        """Return whether a write was acknowledged in the last seconds."""
        with self._lock:
            return any(write.acknowledged and write.ended > time.time() - within for write in self.record.writes[-200:])

    def _connected(self) -> ssl.SSLContext | None:
        """Wait for the certificates. Returns None if the client is stopped before."""
        while not self._stopping.is_set():
            with self._connecting:  # one thread fetches the certificates for all
                self._context = self._context or self.connect()
            if self._context:
                return self._context
            self._stopping.wait(0.5)
        return None

    def _pace(self) -> None:
        context = self._connected()
        run_first()  # only now, because the commands that fetch the certificates would inherit it
        due, number = time.time(), 0
        while context and not self._stopping.wait(max(0.0, due - time.time())):
            try:
                worker = self._idle.get_nowait()
            except queue.Empty:
                worker = _Worker(self, context)
                self._workers.append(worker)
            worker.take(number, due)
            number, due = number + 1, due + INTERVAL

    def ended(self, worker: _Worker, write: Write) -> None:
        """Record a write, and let its worker do another one."""
        with self._lock:
            self.record.writes.append(write)
        self._idle.put(worker)

    def _probe(self, url: str) -> None:
        context = self._connected()
        run_first()
        endpoint = Endpoint(url, context) if context else None
        while endpoint and not self._stopping.wait(PROBE_INTERVAL):
            try:
                serves = has_vote(endpoint)
            except Errors:
                serves = False
            with self._lock:
                (self._serving.add if serves else self._serving.discard)(url)
                self.record.probes.append(Probe(time.time(), frozenset(self._serving)))
        if endpoint:
            endpoint.close()


def has_vote(endpoint: Endpoint) -> bool:
    """Return whether a member that serves has a vote. Raises one of Errors if it does not serve."""
    endpoint.get("/health?serializable=true", PROBE_LIMIT)
    try:
        return not endpoint.post("/v3/maintenance/status", {}, PROBE_LIMIT).get("isLearner")
    except Refused:  # with authentication, etcd tells it to users only
        return True


class _Worker:
    """A thread with a connection to each endpoint, which does one write at a time."""

    def __init__(self, client: Client, context: ssl.SSLContext) -> None:
        self.client = client
        self.endpoints = [Endpoint(url, context, client.session) for url in client.urls]
        self.work: queue.SimpleQueue[tuple[int, float] | None] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def take(self, number: int, due: float) -> None:
        self.work.put((number, due))

    def finish(self) -> None:
        self.work.put(None)
        self.thread.join()

    def _run(self) -> None:
        while task := self.work.get():
            number, due = task
            revision = self._write(number, due)
            self.client.ended(self, Write(number, due, time.time(), revision))
        for endpoint in self.endpoints:
            endpoint.close()

    def _write(self, number: int, due: float) -> int:
        """Write once, through one endpoint after the other; return the revision, or 0 if the time was over."""
        body = {"key": encode(f"{self.client.prefix}{number:08d}"), "value": encode(value_of(number))}
        turn = number
        while (left := due + LIMIT - time.time()) > 0:
            try:
                answer = self.endpoints[turn % len(self.endpoints)].call("/v3/kv/put", body, min(left, ATTEMPT))
                return int(answer["header"]["revision"])
            except Errors:
                turn += 1
                time.sleep(0.01)
        return 0


def read_back(
    prefix: str, urls: Sequence[str], context: ssl.SSLContext, session: Session | None = None
) -> dict[int, str]:
    """Return the value of each key below the prefix, by its number, from a linearizable read. Raises OSError if no member answers."""
    problem: Exception = OSError("there are no endpoints")
    for url in urls:
        endpoint = Endpoint(url, context, session)
        if session:
            session.log_in(url, context)
        try:
            return _read(endpoint, prefix)
        except Errors as error:
            problem = error
        finally:
            endpoint.close()
    raise OSError(f"no member answers a read: {problem}")


def _read(endpoint: Endpoint, prefix: str) -> dict[int, str]:
    """Read page by page, all at the revision of the first page."""
    found: dict[int, str] = {}
    start, end, revision = prefix, after(prefix), 0
    while True:
        body = {"key": encode(start), "range_end": encode(end), "limit": PAGE, "revision": revision}
        answer = endpoint.call("/v3/kv/range", body, 10)
        revision = int(answer["header"]["revision"]) if not revision else revision
        pairs = answer.get("kvs", [])
        keys = [decode(pair["key"]) for pair in pairs]
        found.update(
            {int(key[len(prefix) :]): decode(pair.get("value", "")) for key, pair in zip(keys, pairs, strict=True)}
        )
        if not answer.get("more"):
            return found
        start = keys[-1] + "\0"


def after(prefix: str) -> str:
    """Return the end of the range of all keys with this prefix."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)
