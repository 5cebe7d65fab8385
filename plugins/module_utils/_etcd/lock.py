# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One lock for a whole cluster, shared by everything that takes a member out of service. Private to the collection.

It is one key in etcd, held by a lease: a holder that dies lets go when its lease ends, and who holds it, for what and
since when can be read by anyone: ``etcdctl get /headroom/lock``. While the alarm NOSPACE is set, etcd takes no writes,
so that there can be no lock: that is NoSpaceError, and those who may go on without one have to take turns in another way.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.durations import format_utc
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import ProcessResult
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    Connection,
    failure_reason,
    run_etcdctl,
)

KEY = "/headroom/lock"

# A holder that was killed blocks the others for so long at most. Kept alive each quarter of it.
TTL_SECONDS = 60
# Between two looks at a lock that another one holds.
POLL_SECONDS = 2.0


class LockError(ValueError):
    """The lock cannot be taken or read; the text says why."""


class LockBusyError(LockError):
    """Another one holds the lock."""


class NoSpaceError(LockError):
    """The alarm NOSPACE is set: etcd refuses the lease and the key."""


class LockLostError(LockError):
    """The lease ended while it was needed: another one may hold the lock."""


@dataclass(frozen=True)
class Holder:
    """Who wants the lock and what for: a host, the member that it concerns (may be empty), and the operation in words."""

    host: str
    member: str
    operation: str


@dataclass(frozen=True)
class HeldLock:
    """The lock as it is held. ``since`` is UTC, ISO 8601; ``lease`` its id in hexadecimal."""

    holder: Holder
    since: str
    lease: str
    revision: int

    def __str__(self) -> str:
        where = f" of {self.holder.member}" if self.holder.member else ""
        return f"{self.holder.host} holds the cluster's lock since {self.since} for a {self.holder.operation}{where}"


def read_lock(link: Connection, endpoints: list[str]) -> HeldLock | None:
    """Return who holds the lock, None if nobody does. Raises LockError or EtcdctlError."""
    return parse_lock(_answered(run_etcdctl(link, endpoints, "get", KEY), "reading the lock"))


def parse_lock(text: str) -> HeldLock | None:
    """Read what ``etcdctl get -w json`` prints for the lock."""
    data = _json(text)
    pairs = data.get("kvs") or []
    return _held(pairs[0]) if pairs else None


def _held(pair: dict[str, Any]) -> HeldLock:
    try:
        value = json.loads(base64.b64decode(pair["value"]))
        holder = Holder(*(str(value[name]) for name in ("host", "member", "operation")))
        return HeldLock(holder, str(value["since"]), format(int(pair.get("lease", 0)), "x"), int(pair["mod_revision"]))
    except (KeyError, TypeError, ValueError, binascii.Error) as error:
        raise LockError(
            f"the key {KEY} holds no lock of Headroom: look at it, and delete it if nobody needs it"
        ) from error


def acquire_lock(
    link: Connection,
    endpoints: list[str],
    holder: Holder,
    ttl: int,
    *,
    again: bool = False,
    clock: Callable[[], float] = time.time,
) -> str:
    """Take the lock for ``ttl`` seconds. Returns the id of its lease in hexadecimal.

    again: take it over from an earlier attempt of the very same holder, such as a play that was cut off.
    Raises BusyError, NoSpaceError, LockError or EtcdctlError; nothing is held then.
    """
    answer = run_etcdctl(link, endpoints, "lease", "grant", str(ttl))
    _refuse_without_space(answer)
    lease = format(int(_json(_answered(answer, "a lease for the lock"))["ID"]), "x")
    taken = False
    try:
        held = _put(link, endpoints, holder, lease, 0, clock)
        if held is not None and again and held.holder == holder:
            old, held = held, _put(link, endpoints, holder, lease, held.revision, clock)
            if held is None:
                run_etcdctl(link, endpoints, "lease", "revoke", old.lease)
        if held is not None:
            raise LockBusyError(str(held))
        taken = True
    finally:
        if not taken:
            run_etcdctl(link, endpoints, "lease", "revoke", lease)
    return lease


def _put(
    link: Connection, endpoints: list[str], holder: Holder, lease: str, revision: int, clock: Callable[[], float]
) -> HeldLock | None:
    """Write the key if its revision of modification is this one (0: if there is none). Returns who else holds it."""
    answer = run_etcdctl(link, endpoints, "txn", text=lock_transaction(holder, lease, revision, clock()))
    _refuse_without_space(answer)
    data = _json(_answered(answer, "taking the lock"))
    if data.get("succeeded"):
        return None
    responses = data.get("responses") or [{}]
    inner = responses[0].get("Response") or responses[0]
    pairs = (inner.get("ResponseRange") or inner.get("response_range") or {}).get("kvs") or []
    if not pairs:
        raise LockBusyError("another one took or left the cluster's lock at this moment")
    return _held(pairs[0])


def lock_transaction(holder: Holder, lease: str, revision: int, now: float) -> str:
    """Return what ``etcdctl txn`` reads: comparison, what to do then, what else, each ended by an empty line."""
    value = json.dumps({**asdict(holder), "since": format_utc(now)})
    return f'mod("{KEY}") = "{revision}"\n\nput "{KEY}" {json.dumps(value)} --lease={lease}\n\nget "{KEY}"\n\n'


def release_lock(link: Connection, endpoints: list[str], lease: str) -> None:
    """Let go. A lease that is gone already is let go; one that cannot be revoked ends by itself."""
    run_etcdctl(link, endpoints, "lease", "revoke", lease)


def release_lock_of(link: Connection, endpoints: list[str], holder: Holder) -> bool:
    """Let go of what this holder took, in whatever process. Returns whether it held the lock."""
    held = read_lock(link, endpoints)
    if held is None or held.holder != holder:
        return False
    release_lock(link, endpoints, held.lease)
    return True


class LeaseKeeper(threading.Thread):
    """Keeps a lease alive until it is stopped, and knows when it is lost."""

    def __init__(self, link: Connection, endpoints: list[str], lease: str, ttl: int) -> None:
        super().__init__(daemon=True)
        self._ask = link, endpoints, lease
        self._ttl = ttl
        self._until = time.monotonic() + ttl
        self._gone = ""
        self._stop = threading.Event()

    def run(self) -> None:
        """Renew the lease each quarter of its life, at one endpoint after the other until one answers."""
        while not self._stop.wait(self._ttl / 4) and not self._gone:
            self._renew()

    def _renew(self) -> None:
        link, endpoints, lease = self._ask
        for endpoint in endpoints:
            began = time.monotonic()
            answer = run_etcdctl(link, [endpoint], "lease", "keep-alive", "--once", lease)
            if answer.returncode == 0:
                self._until = began + self._ttl
                return
            if "lease not found" in answer.stderr:
                self._gone = "its lease is gone"
                return

    def check(self) -> None:
        """Raise LostError unless the lock is certainly still held."""
        if self._gone or time.monotonic() >= self._until:
            raise LockLostError(f"the cluster's lock was lost: {self._gone or 'its lease could not be kept alive'}")

    def stop(self) -> None:
        """End the thread, in the midst of a question if need be."""
        self._stop.set()


@contextlib.contextmanager
def hold_lock(
    link: Connection, endpoints: list[str], holder: Holder, *, ttl: int = TTL_SECONDS, wait: float = 0
) -> Iterator[LeaseKeeper]:
    """Hold the lock for as long as the block runs, waiting up to ``wait`` seconds for it.

    The guard's ``check`` says before each further step whether it is still held. Raises what ``take`` raises.
    """
    deadline = time.monotonic() + wait
    while True:
        try:
            lease = acquire_lock(link, endpoints, holder, ttl)
            break
        except LockBusyError:
            if time.monotonic() >= deadline:
                raise
        time.sleep(POLL_SECONDS)
    guard = LeaseKeeper(link, endpoints, lease, ttl)
    guard.start()
    try:
        yield guard
    finally:
        guard.stop()
        release_lock(link, endpoints, lease)


def _answered(answer: ProcessResult, what: str) -> str:
    if answer.returncode != 0:
        raise LockError(f"{what}: {failure_reason(answer)}")
    return answer.stdout


def _refuse_without_space(answer: ProcessResult) -> None:
    if answer.returncode != 0 and "database space exceeded" in answer.stderr:
        raise NoSpaceError("the alarm NOSPACE is set, so that etcd takes no lock: playbooks/nospace.yml clears it")


def _json(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise LockError(f"etcdctl printed no JSON but {text[:80]!r}") from error
    return data if isinstance(data, dict) else {}
