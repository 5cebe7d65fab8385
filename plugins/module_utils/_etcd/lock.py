# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One lock for a whole cluster, held by everything that takes a member out of service.

The lock is one key in etcd, attached to a lease: the lock of a holder that dies is released when the lease expires.
``etcdctl get /headroom/lock`` shows who holds it, for what and since when. While the alarm NOSPACE is set, etcd accepts
no writes and the lock is unavailable (NoSpaceError); callers that proceed without it need another way to take turns.
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
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.answers import (
    may_pass,
    request_anywhere,
    was_received,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    Connection,
    failure_reason,
    run_etcdctl,
)

KEY = "/headroom/lock"

# A holder that was killed blocks the others for this long at most. Renewed after each quarter of it.
TTL_SECONDS = 60
# Between two attempts while another holder has the lock.
POLL_SECONDS = 2.0
# How long a play tries to release the lock, and the pause between two attempts. A lock that stays blocks its next member.
RELEASE_SECONDS, RELEASE_PAUSE = 15.0, 1.0


class LockError(ValueError):
    """The lock cannot be acquired or read; the text says why."""


class TransientLockError(LockError):
    """The lock may be available later. received: whether a member accepted the connection."""

    def __init__(self, text: str, *, received: bool = True) -> None:
        super().__init__(text)
        self.received = received


class LockBusyError(TransientLockError):
    """Another holder has the lock: ``held``, if it is known."""

    def __init__(self, text: str, held: HeldLock | None = None) -> None:
        super().__init__(text)
        self.held = held


class NoSpaceError(LockError):
    """The alarm NOSPACE is set: etcd refuses the lease and the key."""


class CorruptError(LockError):
    """The alarm CORRUPT is set: etcd refuses the lease and the key."""


class LockLostError(LockError):
    """The lease expired while it was needed: another holder may have the lock."""


@dataclass(frozen=True)
class Holder:
    """Who wants the lock: a host, the member concerned (may be empty), and the operation, such as "backup".

    play: identifies the play of Ansible that took it, so that its controller can say whether the play still runs. Empty for
    a timer.
    """

    host: str
    member: str
    operation: str
    play: str = ""


@dataclass(frozen=True)
class HeldLock:
    """The lock and its holder. ``since`` is UTC in ISO 8601, ``lease`` an id in hexadecimal, ``revision`` the key's."""

    holder: Holder
    since: str
    lease: str
    revision: int

    def __str__(self) -> str:
        where = f" of {self.holder.member}" if self.holder.member else ""
        return f"{self.holder.host} holds the cluster's lock since {self.since} for a {self.holder.operation}{where}"


def read_lock(connection: Connection, endpoints: list[str]) -> HeldLock | None:
    """Return the lock and its holder, None if nobody holds it. Raises LockError or EtcdctlError."""
    return parse_lock(_output_of(request_anywhere(connection, endpoints, "get", KEY), "reading the lock"))


def parse_lock(text: str) -> HeldLock | None:
    """Parse what ``etcdctl get -w json`` prints for the lock's key. Raises LockError."""
    data = _json(text)
    pairs = data.get("kvs") or []
    return _held(pairs[0]) if pairs else None


def _held(pair: dict[str, Any]) -> HeldLock:
    try:
        value = json.loads(base64.b64decode(pair["value"]))
        host, member, operation = (str(value[name]) for name in ("host", "member", "operation"))
        holder = Holder(host, member, operation, str(value.get("play", "")))
        return HeldLock(holder, str(value["since"]), format(int(pair.get("lease", 0)), "x"), int(pair["mod_revision"]))
    except (KeyError, TypeError, ValueError, binascii.Error) as error:
        raise LockError(
            f"the value of the key {KEY} was not written by Headroom: check it, and delete the key if nobody needs it"
        ) from error


def acquire_lock(
    connection: Connection,
    endpoints: list[str],
    holder: Holder,
    ttl: int,
    *,
    again: bool = False,
    ended_play: str = "",
    clock: Callable[[], float] = time.time,
) -> str:
    """Acquire the lock for ``ttl`` seconds. Returns the id of its lease in hexadecimal.

    again: take it over from an earlier attempt of the same holder. ended_play: take it over from this play, which has ended.
    Raises TransientLockError, LockBusyError, NoSpaceError, LockError or EtcdctlError; the lock is not held then.
    """
    answer = request_anywhere(connection, endpoints, "lease", "grant", str(ttl))
    _raise_without_writes(answer)
    lease = format(int(_json(_output_of(answer, "granting a lease for the lock"))["ID"]), "x")
    taken = False
    try:
        held = _write_key(connection, endpoints, holder, lease, 0, clock)
        if held is not None and ((again and held.holder == holder) or (ended_play and held.holder.play == ended_play)):
            old, held = held, _write_key(connection, endpoints, holder, lease, held.revision, clock)
            if held is None:
                request_anywhere(connection, endpoints, "lease", "revoke", old.lease)
        if held is not None:
            raise LockBusyError(str(held), held)
        taken = True
    finally:
        if not taken:
            request_anywhere(connection, endpoints, "lease", "revoke", lease)
    return lease


def _write_key(
    connection: Connection, endpoints: list[str], holder: Holder, lease: str, revision: int, clock: Callable[[], float]
) -> HeldLock | None:
    """Write the key if its mod revision equals ``revision`` (0: if it does not exist). Returns another holder's lock."""
    answer = request_anywhere(connection, endpoints, "txn", text=lock_transaction(holder, lease, revision, clock()))
    _raise_without_writes(answer)
    data = _json(_output_of(answer, "acquiring the lock"))
    if data.get("succeeded"):
        return None
    responses = data.get("responses") or [{}]
    inner = responses[0].get("Response") or responses[0]
    pairs = (inner.get("ResponseRange") or inner.get("response_range") or {}).get("kvs") or []
    if not pairs:
        raise LockBusyError("another holder acquired or released the cluster's lock at this moment")
    held = _held(pairs[0])
    # A member that did not answer in time has written the key nevertheless.
    return None if held.lease == lease else held


def lock_transaction(holder: Holder, lease: str, revision: int, now: float) -> str:
    """Return the input of ``etcdctl txn``: compares, success requests and failure requests, each ended by an empty line."""
    fields = {name: text for name, text in asdict(holder).items() if name != "play" or text}
    value = json.dumps({**fields, "since": format_utc(now)})
    return f'mod("{KEY}") = "{revision}"\n\nput "{KEY}" {json.dumps(value)} --lease={lease}\n\nget "{KEY}"\n\n'


def remaining_seconds(connection: Connection, endpoints: list[str], lease: str) -> int:
    """Return the seconds until a lease (an id in hexadecimal) expires, 0 if it has. Raises LockError."""
    answer = request_anywhere(connection, endpoints, "lease", "timetolive", lease)
    return max(int(_json(_output_of(answer, "reading the lock's lease")).get("ttl", 0)), 0)


def release_lock(connection: Connection, endpoints: list[str], lease: str, patience: float = 0) -> None:
    """Release the lock by revoking its lease, unless it has expired. Without an answer, try again for ``patience`` seconds.

    Raises LockError or EtcdctlError. The lease then expires by itself.
    """
    deadline = time.monotonic() + patience
    while True:
        answer = request_anywhere(connection, endpoints, "lease", "revoke", lease)
        if answer.returncode == 0 or "lease not found" in answer.stderr:
            return
        if time.monotonic() >= deadline:
            raise LockError(f"releasing the lock: {failure_reason(answer)}")
        time.sleep(RELEASE_PAUSE)


def release_lock_of(connection: Connection, endpoints: list[str], holder: Holder, patience: float = 0) -> bool:
    """Release the lock if this holder has it, whichever process acquired it, as ``release_lock`` does. Returns whether it had the lock."""
    deadline = time.monotonic() + patience
    while True:
        try:
            held = read_lock(connection, endpoints)
            break
        except LockError:
            if time.monotonic() >= deadline:
                raise
        time.sleep(RELEASE_PAUSE)
    if held is None or held.holder != holder:
        return False
    release_lock(connection, endpoints, held.lease, deadline - time.monotonic())
    return True


class LeaseKeeper(threading.Thread):
    """Keeps a lease alive until it is stopped, and detects that it was lost."""

    def __init__(self, connection: Connection, endpoints: list[str], lease: str, ttl: int) -> None:
        super().__init__(daemon=True)
        self._reach = connection, endpoints, lease
        self._ttl = ttl
        self._until = time.monotonic() + ttl
        self._gone = ""
        self._stop = threading.Event()

    def run(self) -> None:
        """Renew the lease after each quarter of its lifetime, through the first endpoint that answers."""
        while not self._stop.wait(self._ttl / 4) and not self._gone:
            self._renew()

    def _renew(self) -> None:
        connection, endpoints, lease = self._reach
        for endpoint in endpoints:
            began = time.monotonic()
            answer = run_etcdctl(connection, [endpoint], "lease", "keep-alive", "--once", lease)
            if answer.returncode == 0:
                self._until = began + self._ttl
                return
            if "lease not found" in answer.stderr:
                self._gone = "its lease expired"
                return

    def check(self) -> None:
        """Raise LockLostError unless the lock is known to be held."""
        if self._gone or time.monotonic() >= self._until:
            raise LockLostError(f"the cluster's lock was lost: {self._gone or 'its lease could not be renewed'}")

    def stop(self) -> None:
        """End the thread, even while a request is running."""
        self._stop.set()


@contextlib.contextmanager
def hold_lock(
    connection: Connection, endpoints: list[str], holder: Holder, *, ttl: int = TTL_SECONDS, wait: float = 0
) -> Iterator[LeaseKeeper]:
    """Hold the lock while the block runs, after waiting up to ``wait`` seconds for it.

    Errors that pass, such as those of a member that is being defragmented, are waited for too, unless no member is reachable at first.
    Call the keeper's ``check`` before each step that needs the lock. Raises what ``acquire_lock`` raises.
    """
    deadline, received = time.monotonic() + wait, False
    while True:
        try:
            lease = acquire_lock(connection, endpoints, holder, ttl)
            break
        except TransientLockError as error:
            received = received or error.received
            if not received or time.monotonic() >= deadline:
                raise
        time.sleep(POLL_SECONDS)
    keeper = LeaseKeeper(connection, endpoints, lease, ttl)
    keeper.start()
    try:
        yield keeper
    finally:
        keeper.stop()
        with contextlib.suppress(LockError):  # the lease expires by itself
            release_lock(connection, endpoints, lease)


def _output_of(answer: ProcessResult, what: str) -> str:
    if answer.returncode != 0:
        text = f"{what}: {failure_reason(answer)}"
        raise TransientLockError(text, received=was_received(answer)) if may_pass(answer) else LockError(text)
    return answer.stdout


def _raise_without_writes(answer: ProcessResult) -> None:
    if answer.returncode != 0 and "database space exceeded" in answer.stderr:
        raise NoSpaceError(
            "the alarm NOSPACE is set, so etcd accepts no lock: run the playbook etcdops.headroom.nospace to clear it"
        )
    if answer.returncode != 0 and "corrupt cluster" in answer.stderr:
        raise CorruptError(
            "the alarm CORRUPT is set, so etcd accepts no lock: replace that member with the playbook etcdops.headroom.replace"
        )


def _json(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise LockError(f"etcdctl printed {text[:80]!r}, which is not JSON") from error
    return data if isinstance(data, dict) else {}
