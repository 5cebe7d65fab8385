# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find out what fills a cluster's database, by reading its keys from one member at one revision."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._audit.access import (
    MeasureError,
    Timing,
    answering_cluster,
    choose_reader,
    count_leases,
    scrape_members,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.advice import advise
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.budget import Budget
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.groups import choose_grouping, printable
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.keyspace import KeySpace
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.pages import (
    Page,
    Reader,
    ReadError,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.sample import PageReader
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.scrape import Scrape
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.walk import walk
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_count, format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Member
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.key_ranges import prefix_end

# A page keeps a member's CPU busy for milliseconds in which its clients wait, so a low read rate also means small pages.
_PAGES_A_SECOND = 16
_MIN_PAGE, _MAX_PAGE = 1 << 18, 4 << 20
_PAGE_BYTES_A_KEY = 2 << 10


@dataclass(frozen=True)
class Request:
    """What to read. ``max_size`` and ``read_rate`` in bytes; ``separator`` empty and ``depth`` 0: choose; ``top``: length of lists."""

    endpoints: list[str]
    metrics_urls: list[str]
    prefixes: list[str]
    separator: str
    depth: int
    top: int
    max_keys: int
    max_size: int
    read_rate: int


@dataclass
class Reading:
    """What was read. ``unread``: what was not, with the reason. ``keys_total``: the keys of all prefixes that could be read."""

    space: KeySpace | None = None
    grouping: str = ""
    keys_total: int = 0
    revision: int = 0
    unread: list[str] = field(default_factory=list)


def survey_keys(connection: Connection, request: Request, timing: Timing) -> dict[str, Any]:
    """Return the result of etcd_keyspace_info. Raises MeasureError and EtcdctlError."""
    check_request(request)
    cluster = answering_cluster(connection, request.endpoints)
    source = choose_reader(cluster)
    page = scrape_members(connection, cluster, request.metrics_urls, timing.clock)[source.id]
    size, in_use = (_size(source, page, name) for name in ("db_size", "db_size_in_use"))
    keys = page.count("keys") if isinstance(page, Scrape) else None
    budget = new_budget(request, in_use or 0, keys or 0, timing)
    reading = read_prefixes(Reader(connection, source.endpoint), request, budget)
    leases = count_leases(connection, source.endpoint, page)
    return result_of(reading, budget, request, (size, in_use), leases, source.name)


def new_budget(request: Request, in_use: int, keys: int, timing: Timing) -> Budget:
    """Return the budget for reading all keys of a database. in_use: its data in bytes. keys: their number, 0 if unknown."""
    expected = in_use // keys if keys else 0
    page_bytes = max(_MIN_PAGE, min(_MAX_PAGE, request.read_rate // _PAGES_A_SECOND))
    limits = (request.max_size, request.read_rate, in_use, expected, page_bytes, page_bytes // _PAGE_BYTES_A_KEY)
    return Budget(*limits, timing.clock, timing.pause)


def _size(source: Member, page: Scrape | str, name: str) -> int | None:
    found: int | None = getattr(source, name)
    return found or (page.count(name) if isinstance(page, Scrape) else None)


def check_request(request: Request) -> None:
    """Raise MeasureError for a request that is invalid."""
    limits = {
        "depth": (0, 20),
        "top": (1, 1000),
        "max_keys": (1, 1 << 40),
        "max_size": (1 << 16, 1 << 50),
        "read_rate": (1 << 16, 1 << 40),
    }
    for name, (low, high) in limits.items():
        value = getattr(request, name)
        if not low <= value <= high:
            raise MeasureError(f"{name} is {value}, but must lie between {low} and {high}")
    if len(request.separator.encode()) > 8:
        raise MeasureError(
            f"separator is {request.separator!r}, which is over the limit of 8 bytes: use a shorter one, such as /"
        )
    ordered = sorted(request.prefixes)
    inside = [f"{two} begins with {one}" for one, two in zip(ordered, ordered[1:]) if two.startswith(one)]
    if inside or not ordered:
        raise MeasureError(
            f"prefixes: {'; '.join(inside) or 'the list is empty'}; list each part of the key space once, '' for all"
        )


def read_prefixes(reader: PageReader, request: Request, budget: Budget) -> Reading:
    """Read the keys of each prefix until the limits are reached; what could not be read is listed."""
    reading = Reading()
    for prefix in sorted(request.prefixes):
        start = prefix.encode(errors="surrogateescape")
        name = f"the keys with the prefix {prefix}" if prefix else "all keys"
        read, total, last = 0, None, b""
        left = request.max_keys - (reading.space.total.keys if reading.space else 0)
        try:
            for page in walk(reader, budget, left, start, prefix_end(start)):
                if total is None:
                    total = page.count
                _add(reading, page, request)
                read += len(page.keys)
                last = page.keys[-1].name if page.keys else last
        except ReadError as error:
            reading.unread.append(f"{_rest(name, read, total)}: {error}")
        else:
            if total is None or read < total:
                why = (
                    f"the limit of {format_count(request.max_keys)} keys or {format_size(request.max_size)} was reached"
                )
                after = f"; the last key read is {printable(last)}" if last else ""
                reading.unread.append(f"{_rest(name, read, total)}: {why}{after}; raise max_keys and max_size")
        reading.keys_total += total or 0
        reader = reader.at(reading.revision) if reading.revision else reader
    return reading


def _rest(name: str, read: int, total: int | None) -> str:
    return name if total is None or not read else f"{format_count(total - read)} of {format_count(total)} of {name}"


def _add(reading: Reading, page: Page, request: Request) -> None:
    if reading.space is None:
        names = [key.name for key in page.keys]
        grouping, reading.grouping = choose_grouping(names, request.separator, request.depth)
        reading.space = KeySpace(grouping, request.top)
        reading.revision = page.revision
    for key in page.keys:
        reading.space.add(key)


def result_of(
    reading: Reading,
    budget: Budget,
    request: Request,
    sizes: tuple[int | None, int | None],
    leases: int | str,
    member: str,
) -> dict[str, Any]:
    """Return the module's result. sizes: of the database and the data in it."""
    space = reading.space or KeySpace(lambda _key: "", request.top)
    complete = not reading.unread and request.prefixes == [""]
    result = {
        "database": _database(space, sizes, complete=complete),
        "grouping": reading.grouping,
        "groups": space.group_list(complete=complete),
        "groups_total": len(space.groups),
        "value_sizes": space.values.as_list(),
        "largest_keys": space.largest_keys(),
        "most_written_keys": space.most_written_keys(),
        "leases": {
            "total": leases if isinstance(leases, int) else None,
            "with_keys": len(space.leases) if complete else None,
            "keys": space.total.with_lease,
            "problem": "" if isinstance(leases, int) else leases,
        },
        "read": {
            "member": member,
            "revision": reading.revision,
            "keys": space.total.keys,
            "keys_total": reading.keys_total,
            "complete": complete,
            "pages": budget.pages,
            "bytes": budget.read,
            "bytes_limit": budget.bound,
        },
        "unread": reading.unread,
    }
    return {**result, "advice": advise(result)}


def _database(space: KeySpace, sizes: tuple[int | None, int | None], *, complete: bool) -> dict[str, int | None]:
    """Return the parts of the database. What needs all keys is None unless all were read."""
    size, in_use = sizes
    compacted = min(space.compacted.bytes, in_use or size or space.compacted.bytes) if complete else None
    return {
        "size": size,
        "in_use": in_use,
        "free": None if size is None or in_use is None else max(0, size - in_use),
        "live": space.total.bytes if complete else None,
        "history": None if in_use is None or compacted is None else in_use - compacted,
        "after_defragmentation": compacted,
        "reclaimable": None if size is None or compacted is None else max(0, size - compacted),
    }
