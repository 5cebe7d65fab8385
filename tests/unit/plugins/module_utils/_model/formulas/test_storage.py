# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The leader's raft log while a follower receives a snapshot."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import CONSTANTS_HIGH
from ansible_collections.etcdops.headroom.plugins.module_utils._model.estimate import estimate
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas import storage
from ansible_collections.etcdops.headroom.plugins.module_utils._model.releases import series
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import parse_input

LOAD = {"value_size": 10000, "key_size": 64, "keys": 20000, "puts_per_second": 100, "revisions_per_key": 1}
FLAGS = {"snapshot_count": 2000, "snapshot_catchup_entries": 1000}


@pytest.mark.parametrize(
    ("version", "members", "keys", "entries"),
    [
        # 30 s, and 1 s for each 100 MB that are begun: 20,000 revisions of 10 kB take three of them, 120,000 sixteen.
        ("3.7.3", 3, 20000, 33 * 100),
        ("3.6.16", 3, 20000, 33 * 100),
        ("3.7.3", 3, 120000, 46 * 100),
        # Up to the next compaction, every 2,000 entries.
        ("3.5.35", 3, 20000, 2 * 2000),
        ("3.7.3", 1, 20000, 0),
        ("3.5.35", 1, 20000, 0),
    ],
)
def test_the_log_grows_while_a_follower_receives_a_snapshot(
    version: str, members: int, keys: int, entries: int
) -> None:
    constants = CONSTANTS_HIGH[series(version)]
    given = parse_input(version, {**LOAD, "keys": keys}, FLAGS, members)
    db = storage.database(constants, given.workload, given.settings)
    growth = storage.raft_log_growth(constants, given.workload, given.settings, members, db)
    assert growth == entries * storage.raft_entry(constants, given.workload)


def test_a_leader_needs_more_than_its_restart() -> None:
    """37 MiB/s of puts for half a minute are more than the 2,000 entries that a restart replays."""
    busy = {**LOAD, "value_size": 100000, "puts_per_second": 400}
    three, one = (estimate("3.7.3", busy, {**FLAGS, "memory_max": "1GB"}, members) for members in (3, 1))
    assert three["follower_snapshot_rss_anon_peak"] > three["restart_rss_anon_peak"] + 30 * 400 * 100000
    assert any("MemoryMax 1.0 GiB may kill it, " in note for note in three["notes"])
    assert one["follower_snapshot_rss_anon_peak"] == one["rss_anon_peak"]
    assert not any("snapshot, and for 30 s" in note for note in one["notes"])


def test_gomemlimit_makes_room_for_the_log() -> None:
    """The collector gives up the garbage that it would otherwise leave, and no more than that."""
    free = estimate("3.7.3", LOAD, FLAGS, 3)
    limited = estimate("3.7.3", LOAD, {**FLAGS, "gomemlimit": "100MB"}, 3)
    growth = 33 * 100 * 10000
    assert free["heap_live"] + growth < limited["follower_snapshot_rss_anon_peak"]
    assert limited["follower_snapshot_rss_anon_peak"] < free["follower_snapshot_rss_anon_peak"]
