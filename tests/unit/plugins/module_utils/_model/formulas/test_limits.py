# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The memory that Go counts as heap, but the kernel does not count, because it is never touched."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import CONSTANTS_HIGH
from ansible_collections.etcdops.headroom.plugins.module_utils._model.estimate import estimate
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas import limits
from ansible_collections.etcdops.headroom.plugins.module_utils._model.releases import series
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import parse_input


@pytest.mark.parametrize(
    ("members", "size", "untouched"),
    [(1, 1000, 0), (3, 1000, 4 * (1048576 - 1000)), (5, 1000, 8 * (1048576 - 1000)), (3, 1048576, 0), (3, 1200000, 0)],
)
def test_entries_touch_the_buffers_of_peers_only_up_to_their_size(members: int, size: int, untouched: int) -> None:
    """Idle members of three (3.7.3) had 4.1 to 5.4 MiB more between what Go counted and RssAnon than a single one."""
    given = parse_input("3.7.3", {"value_size": size - 64, "key_size": 64}, {}, members)
    assert limits.untouched_buffers(CONSTANTS_HIGH["3.7"], given.workload, members) == untouched


@pytest.mark.parametrize(("version", "members", "queues"), [("3.5.35", 3, 8), ("3.5.35", 1, 0), ("3.6.16", 3, 0)])
def test_a_start_has_not_filled_the_queues_of_peers(version: str, members: int, queues: int) -> None:
    """3.5 has four queues of 4,096 messages of 264 bytes for each other member."""
    constants = CONSTANTS_HIGH[series(version)]
    assert limits.untouched_queues(constants, members) == queues * 4096 * 264


def test_queues_of_peers_count_while_a_member_runs() -> None:
    load = {"value_size": 100, "key_size": 16, "keys": 1000, "puts_per_second": 200, "clients": 10}
    load |= {"revisions_per_key": 1, "watch_streams": 0, "watchers": 0, "range_size": 0}
    flags = {"snapshot_count": 5000, "snapshot_catchup_entries": 100}
    alone, three = (estimate("3.5.35", load, flags, members) for members in (1, 3))
    assert alone["restart_rss_anon_peak"] > alone["rss_anon_peak"]
    more = {name: three[name] - alone[name] for name in ("rss_anon_peak", "restart_rss_anon_peak")}
    assert more["rss_anon_peak"] > 20e6 and more["restart_rss_anon_peak"] < more["rss_anon_peak"]
