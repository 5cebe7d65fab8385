# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""List the keys of a member in bounded requests, to compare a restored backup with its cluster.

etcdctl gets the requests as transactions on standard input: a command line cannot carry a key with a NUL byte.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._backup.key_sizes import KeySizes
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.scratch_member import Limits, ScratchMemberError
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import ProcessResult
from ansible_collections.etcdops.headroom.plugins.module_utils._base.versions import minor_key
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    Connection,
    failure_reason,
    run_etcdctl,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.key_ranges import next_key, quote_key

_MAX_REQUESTS = 400
_MAX_KEYS = 100_000
# From this release on, a member lists keys without reading their values.
_KEYS_FROM_INDEX = (3, 7)


@dataclass(frozen=True)
class Endpoint:
    """A member to compare: its connection, its URL, and its name for messages."""

    link: Connection
    url: str
    name: str


@dataclass(frozen=True)
class Key:
    """A key without its value: the revisions of its creation and last change, and its number of changes since creation."""

    create_revision: int
    mod_revision: int
    version: int


def first_pages(endpoint: Endpoint, sizes: KeySizes, limits: Limits) -> Iterator[tuple[bytes, bytes, dict[bytes, Key]]]:
    """Yield the first pages of a cluster's keys in the order of names, each with the range that it covers."""
    start, seen = b"\0", 0
    for _number in range(_MAX_REQUESTS):
        limits.seconds_left()
        limit, end = sizes.page(start)
        page = list_keys(endpoint, start, end, limit)
        seen += len(page)
        following = next_key(max(page)) if page and (len(page) == limit or end is None) else end
        if page and following is not None:
            yield start, following, page
        if following is None or seen >= _MAX_KEYS or (end is None and len(page) < limit):
            return
        start = following


def keys_between(
    endpoint: Endpoint, start: bytes, stop: bytes, revision: int, sizes: KeySizes, limits: Limits
) -> dict[bytes, Key]:
    """Return the keys from ``start`` to before ``stop`` at a revision."""
    found: dict[bytes, Key] = {}
    while start < stop:
        limits.seconds_left()
        limit, end = sizes.page(start)
        end = stop if end is None else min(end, stop)
        page = list_keys(endpoint, start, end, limit, revision)
        found.update(page)
        start = next_key(max(page)) if len(page) == limit else end
    return found


def list_keys(endpoint: Endpoint, start: bytes, end: bytes | None, limit: int, revision: int = 0) -> dict[bytes, Key]:
    """Return up to ``limit`` keys from ``start`` to before ``end`` (None: to the last one). Raises ScratchMemberError."""
    words = ["get", "--consistency=s", "--keys-only", f"--limit={limit}", f"--rev={revision}"]
    words += ["--from-key", quote_key(start)] if end is None else [quote_key(start), quote_key(end)]
    answer = run_etcdctl(endpoint.link, [endpoint.url], "txn", text=f"\n{' '.join(words)}\n\n\n")
    if answer.returncode != 0:
        raise ScratchMemberError(f"{endpoint.name} could not list its keys: {failure_reason(answer)}")
    try:
        response = _parse_json(answer, endpoint)["responses"][0]["Response"]
        # etcdctl 3.5 and 3.6, and 3.7
        found = response.get("ResponseRange") or response.get("response_range") or {}
        return {
            base64.b64decode(entry["key"]): Key(
                int(entry["create_revision"]), int(entry["mod_revision"]), int(entry["version"])
            )
            for entry in found.get("kvs") or []
        }
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ScratchMemberError(f"{endpoint.name} returned no keys, but {answer.stdout[:80]!r}") from error


def lists_from_index(endpoint: Endpoint) -> bool:
    """Return whether the member lists keys without reading their values. Raises ScratchMemberError."""
    return minor_key(str(read_status(endpoint)["version"])) >= _KEYS_FROM_INDEX


def read_status(endpoint: Endpoint) -> dict[str, Any]:
    """Return the status of a member as etcdctl prints it. Raises ScratchMemberError."""
    answer = run_etcdctl(endpoint.link, [endpoint.url], "endpoint", "status")
    if answer.returncode != 0:
        raise ScratchMemberError(f"{endpoint.name}: endpoint status: {failure_reason(answer)}")
    try:
        status = _parse_json(answer, endpoint)[0]["Status"]
        int(status["header"]["revision"])
        return dict(status)
    except (LookupError, TypeError, ValueError) as error:
        raise ScratchMemberError(f"{endpoint.name} did not return its revision") from error


def _parse_json(answer: ProcessResult, endpoint: Endpoint) -> Any:
    """Return what etcdctl printed. Raises ScratchMemberError."""
    try:
        return json.loads(answer.stdout)
    except ValueError as error:
        raise ScratchMemberError(f"{endpoint.name}: etcdctl printed no JSON, but {answer.stdout[:80]!r}") from error
