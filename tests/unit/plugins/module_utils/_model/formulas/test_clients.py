# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events to watchers and requests in flight: what was measured, and where there are none."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import CONSTANTS_HIGH
from ansible_collections.etcdops.headroom.plugins.module_utils._model.estimate import estimate
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas import clients, storage
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import parse_input

# 3 keys with values of 498,859 B, watched 70 times each on 210 streams: RssAnon 378 MB measured, 78 puts/s.
BURST = {
    "value_size": 498859,
    "key_size": 226,
    "keys": 299,
    "revisions_per_key": 2,
    "puts_per_second": 78,
    "tls": False,
}
WATCHED = {"clients": 66, "watch_streams": 210, "watchers": 210, "watched_ranges": 3, "range_size": 0}


def events(**fields: int) -> int:
    """Return the bytes of events in flight of that workload with other fields."""
    given = parse_input("3.7.3", {**BURST, **WATCHED, **fields}, {}, 1)
    return clients.watch_events(CONSTANTS_HIGH["3.7"], given.workload, 1, 0)


def test_events_to_many_watchers_of_one_key_are_in_the_peak() -> None:
    flags = {"snapshot_count": 100, "snapshot_catchup_entries": 210, "gogc": 25}
    found = estimate("3.7.3", {**BURST, **WATCHED}, flags, 1)
    assert 0.95 * 378e6 < found["rss_anon_peak"] < 1.1 * 378e6
    assert next(part["high"] for part in found["components"] if part["name"] == "watch events") == events()


def test_each_stream_has_one_event_in_flight() -> None:
    assert events() == 3 * 69 * (498859 + 226)
    assert events(watch_streams=20) == 20 * (498859 + 226)


def test_watchers_of_ranges_of_their_own_have_no_events_in_addition_to_the_put() -> None:
    assert events(watched_ranges=210) == events(watchers=0, watched_ranges=0) == events(puts_per_second=0) == 0


def in_flight(members: int = 1, rewritten: int = 0, **fields: int) -> int:
    """Return the puts in flight of values of 250 KiB, by 30 clients of each member. rewritten: the bytes of a compaction's commit."""
    given = parse_input("3.7.3", {"value_size": 256000, "clients": 30, **fields}, {}, members)
    return clients.requests_in_flight(CONSTANTS_HIGH["3.7"], given.workload, members, rewritten)


def test_few_puts_wait_for_an_idle_member() -> None:
    assert in_flight(puts_per_second=0) == 0
    assert in_flight(puts_per_second=50) == 4  # 50/s × 69 ms, on a member that is busy for 11 % of the time


def test_all_clients_wait_for_a_saturated_cluster() -> None:
    assert in_flight(puts_per_second=307, members=3) == 90  # as measured: 90 clients as fast as they go
    assert in_flight(puts_per_second=307, members=1) == 30
    assert in_flight(puts_per_second=200, members=1) == 26
    assert in_flight(puts_per_second=10000000, members=3) == 90


def test_only_clients_that_put_have_puts_in_flight() -> None:
    assert in_flight(puts_per_second=307, members=3, writers=1) == 3
    assert in_flight(puts_per_second=50, writers=1) == 1
    assert in_flight(puts_per_second=307, writers=0) == 0


def test_puts_wait_while_a_compaction_commits() -> None:
    assert in_flight(puts_per_second=50, rewritten=20 << 20) == 4 + 9  # 20 MiB take 180 ms
    assert in_flight(puts_per_second=50, rewritten=20 << 30) == 30, "each client waits for one put"
    assert in_flight(puts_per_second=0, rewritten=20 << 20) == 0


def test_a_member_keeps_fewer_copies_of_puts_that_others_forward() -> None:
    given = parse_input("3.7.3", {"value_size": 256000, "clients": 30, "puts_per_second": 307}, {}, 3)
    constants = CONSTANTS_HIGH["3.7"]
    copies = (30 * 6 + 60 * 5) * storage.put_size(given.workload)
    assert clients.requests(constants, given.workload, 3, 0) == copies + 30 * constants.request_overhead


@pytest.mark.parametrize(("version", "measured"), [("3.5.35", 229), ("3.6.16", 237), ("3.7.3", 239)])
def test_watch_streams_take_more_with_tls(version: str, measured: int) -> None:
    """2,000 streams on 50 connections: 112 to 117 MiB of RssAnon without TLS, twice that with it."""
    held = {"watch_streams": 2000, "watchers": 2000, "watched_ranges": 100, "clients": 50, "puts_per_second": 800}
    small = {"keys": 1000, "value_size": 200, "key_size": 24, "revisions_per_key": 40, "range_size": 0}
    found = estimate(version, {**held, **small, "tls": True}, {"snapshot_count": 1000}, 1)["rss_anon_peak"] / 2**20
    assert measured < found < 1.2 * measured
