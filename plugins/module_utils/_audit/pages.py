# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read pages of keys from one member, without the leader and without values leaving this process.

etcdctl gets the requests as transactions on standard input: a command line cannot carry a key with a NUL byte. A transaction of
serializable reads is answered by the member alone. Source: IsTxnSerializable in server/etcdserver/txn of etcd 3.5, 3.6 and 3.7.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import ProcessResult
from ansible_collections.etcdops.headroom.plugins.module_utils._base.protobuf import fields
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    Connection,
    EtcdctlError,
    failure_reason,
    run_etcdctl,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.key_ranges import quote_key

_COMPACTED = "required revision has been compacted"
_DENIED = "permission denied"
# The numbers of the fields in a TxnResponse, a ResponseHeader, a RangeResponse and a KeyValue.
_HEADER, _RESPONSES = 1, 3
_REVISION = 3
_KVS, _MORE, _COUNT = 2, 3, 4
_KEY, _MOD_REVISION, _VERSION, _VALUE, _LEASE = 1, 3, 4, 5, 6
NO_USER = ("user name is empty", "invalid auth token", "authentication failed")


class ReadError(ValueError):
    """Keys that could not be read; the message says why."""


class DeniedError(ReadError):
    """etcd does not let this user read the keys."""


class CompactedError(ReadError):
    """The revision has been compacted since reading began."""


@dataclass(frozen=True)
class Key:
    """A key, the length of its value, and its metadata. ``version``: how often it was written since it was created."""

    name: bytes
    value_size: int
    mod_revision: int
    version: int
    lease: int

    @property
    def size(self) -> int:
        """Bytes of key and value."""
        return len(self.name) + self.value_size


@dataclass(frozen=True)
class Page:
    """Keys in order. ``count``: how many keys the whole range has, those of this page included. ``more``: whether some follow."""

    keys: list[Key]
    count: int
    more: bool
    revision: int

    @property
    def bytes(self) -> int:
        """Bytes of all keys and values."""
        return sum(key.size for key in self.keys)


@dataclass(frozen=True)
class Reader:
    """Reads pages from one member, at ``revision`` (0: the newest that it has)."""

    connection: Connection
    url: str
    revision: int = 0

    def at(self, revision: int) -> Reader:
        """Return a reader of the same member at a revision."""
        return replace(self, revision=revision)

    def read(self, start: bytes, end: bytes | None, limit: int, *, values: bool = True) -> Page:
        """Return up to ``limit`` keys from ``start`` to before ``end`` (None: to the last one). Raises ReadError.

        values: whether the values are sent, because only they tell their sizes.
        """
        words = ["get", "--consistency=s", f"--limit={limit}", f"--rev={self.revision}"]
        words += [] if values else ["--keys-only"]
        if end is None:
            words += ["--from-key", quote_key(start)]
        else:
            words += [quote_key(start or b"\0"), quote_key(end)]
        try:
            answer = run_etcdctl(self.connection, [self.url], "txn", text=f"\n{' '.join(words)}\n\n\n", binary=True)
        except EtcdctlError as error:
            raise ReadError(str(error)) from error
        if answer.returncode != 0:
            raise read_failure(answer, self.connection.timeout)
        return parse_page(answer.data)


def read_failure(answer: ProcessResult, timeout: float) -> ReadError:
    """Return the error for an etcdctl that failed."""
    reason = failure_reason(answer)
    if _COMPACTED in reason:
        return CompactedError("the cluster was compacted while the module read the keys; run it again")
    if _DENIED in reason:
        return DeniedError(
            "etcd denies this user reading them; set prefixes to those that it may read, or grant it a role that reads all keys"
        )
    if any(text in reason for text in NO_USER):
        return DeniedError(
            f"authentication is on ({reason}); set login_user and login_password, or a client_cert of a user"
        )
    if answer.returncode is None or "deadline exceeded" in reason:
        return ReadError(f"the member returned no keys within {timeout:g} s; raise request_timeout")
    return ReadError(f"the member returned no keys: {reason}")


def parse_page(answer: bytes) -> Page:
    """Parse the answer to a transaction of one read: a TxnResponse of api/etcdserverpb/rpc.proto. Raises ReadError."""
    try:
        revision, found = None, None
        for number, value, end in fields(answer):
            if number == _HEADER:
                revision = next(value for number, value, _end in fields(answer, value, end) if number == _REVISION)
            elif number == _RESPONSES:
                found = next(_page(answer, *part) for _number, *part in fields(answer, value, end))
        if revision is None or found is None:
            raise ValueError("no header, or no response")
        return replace(found, revision=revision)
    except (LookupError, StopIteration, ValueError) as error:
        # The answer may contain values, which must not appear in a message.
        raise ReadError("etcdctl printed an answer that is not a page of keys; is it etcdctl 3.5 or newer?") from error


def _page(answer: bytes, start: int, end: int) -> Page:
    """Return the page of a RangeResponse."""
    keys, numbers = [], {}
    for number, value, stop in fields(answer, start, end):
        if number == _KVS:
            keys.append(_key(answer, value, stop))
        else:
            numbers[number] = value
    return Page(keys, numbers.get(_COUNT, 0), bool(numbers.get(_MORE, 0)), 0)


def _key(answer: bytes, start: int, end: int) -> Key:
    """Return the key of a KeyValue of api/mvccpb/kv.proto."""
    name, value_size, numbers = b"", 0, {}
    for number, value, stop in fields(answer, start, end):
        if number == _KEY:
            name = answer[value:stop]
        elif number == _VALUE:
            value_size = stop - value
        else:
            numbers[number] = value
    return Key(name, value_size, numbers[_MOD_REVISION], numbers[_VERSION], numbers.get(_LEASE, 0))
