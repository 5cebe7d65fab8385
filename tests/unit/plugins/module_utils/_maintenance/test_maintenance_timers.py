# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calendars as systemd prints them."""

from __future__ import annotations

from datetime import datetime, timezone

from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import timers

# As systemd 252 and 257 print them.
CALENDAR = """  Original form: daily
Normalized form: *-*-* 00:00:00
    Next elapse: Sun 2026-11-22 00:00:00 UTC
       From now: 11h left
   Iteration #2: Mon 2026-11-23 00:00:00 UTC
       From now: 1 day 11h left
       Iter. #3: Mon 2026-11-23 06:00:00 UTC
"""


def test_next_runs_and_their_shortest_interval() -> None:
    found = timers.parse_next_runs(CALENDAR)
    assert found[0] == datetime(2026, 11, 22, tzinfo=timezone.utc)
    assert timers.shortest_interval(found) == 6 * 3600
    assert timers.shortest_interval(found[:1]) is None
    assert timers.parse_next_runs("Next elapse: never\n") == []


def test_blocks_of_several_expressions() -> None:
    never = "\n  Original form: 2020-01-01\nNormalized form: 2020-01-01 00:00:00\n    Next elapse: never\n"
    assert [len(times) for times in timers.parse_blocks(CALENDAR + never + CALENDAR)] == [3, 3]
