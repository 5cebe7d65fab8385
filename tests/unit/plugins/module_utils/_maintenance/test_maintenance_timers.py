# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calendars as systemd prints them."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
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
    assert timers.longest_interval(found) == 86400
    assert timers.shortest_interval(found[:1]) is None and timers.longest_interval(found[:1]) is None
    assert timers.parse_next_runs("Next elapse: never\n") == []


def test_blocks_of_several_expressions() -> None:
    never = "\n  Original form: 2020-01-01\nNormalized form: 2020-01-01 00:00:00\n    Next elapse: never\n"
    assert [len(times) for times in timers.parse_blocks(CALENDAR + never + CALENDAR)] == [3, 3]


def test_a_service_that_failed_before_the_program_started(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = {
        "headroom-snapshot.timer": {"ActiveState": "active", "UnitFileState": "enabled", "Result": "success"},
        "headroom-snapshot.service": {
            "ActiveState": "failed",
            "Result": "exit-code",
            "ExecMainStatus": "226",
            "InactiveEnterTimestampMonotonic": "940000000",
        },
        "headroom-defrag.timer": {"ActiveState": "active", "UnitFileState": "enabled"},
        "headroom-defrag.service": {"ActiveState": "inactive", "Result": "success", "ExecMainStatus": "0"},
    }
    monkeypatch.setattr(
        timers.systemd, "properties", lambda units, _names, _timeout: [{"Id": unit, **blocks[unit]} for unit in units]
    )
    monkeypatch.setattr(timers.time, "time", lambda: 1_800_000_000.0)
    monkeypatch.setattr(timers.time, "monotonic", lambda: 1000.0)
    found = timers.timer_states(["headroom-snapshot.timer", "headroom-defrag.timer"])
    assert found["headroom-snapshot.timer"]["failure"] == {
        "at": "2027-01-15T07:59:00Z",
        "result": "exit-code, status 226",
    }
    assert found["headroom-snapshot.timer"]["active"] and found["headroom-defrag.timer"]["failure"] == {}


ENDED_BEFORE = {"ActiveState": "inactive", "Result": "success", "InactiveEnterTimestampMonotonic": "400000000"}
# An hour after the boot.
ELAPSED = {"LastTriggerUSecMonotonic": "1h 1.500000s"}


@pytest.mark.parametrize(
    ("service", "timer", "result"),
    [
        (ENDED_BEFORE, ELAPSED, "not started"),
        ({"ActiveState": "inactive"}, ELAPSED, "not started"),
        ({**ENDED_BEFORE, "ActiveState": "failed"}, ELAPSED, "not started"),
        ({**ENDED_BEFORE, "Job": "0", "ConditionResult": "yes"}, ELAPSED, "not started"),
        # Evaluated before a run that was started by hand.
        ({**ENDED_BEFORE, "ConditionResult": "no", "ConditionTimestampMonotonic": "400000000"}, ELAPSED, "not started"),
        ({**ENDED_BEFORE, "ConditionResult": "no", "ConditionTimestampMonotonic": "3602000000"}, ELAPSED, ""),
        ({**ENDED_BEFORE, "Job": "1234"}, ELAPSED, ""),
        ({**ENDED_BEFORE, "ActiveState": "activating"}, ELAPSED, ""),
        ({**ENDED_BEFORE, "InactiveEnterTimestampMonotonic": "3601600000"}, ELAPSED, ""),
        (ENDED_BEFORE, {"LastTriggerUSecMonotonic": "0", "LastTriggerUSec": "Sun 2026-11-22 03:00:00 UTC"}, ""),
        (ENDED_BEFORE, {}, ""),
        ({}, {}, ""),
    ],
    ids=[
        "dependency failed",
        "never ran",
        "failed before",
        "no condition failed",
        "old condition",
        "condition failed",
        "queued",
        "running",
        "ran",
        "time of the stamp file",
        "never elapsed",
        "no systemd",
    ],
)
def test_a_service_that_was_not_started_when_its_timer_elapsed(
    monkeypatch: pytest.MonkeyPatch, service: dict[str, str], timer: dict[str, str], result: str
) -> None:
    """A backup whose volume cannot be mounted leaves no record, and its service stays inactive."""
    monkeypatch.setattr(timers.time, "time", lambda: 1_800_000_000.0)
    monkeypatch.setattr(timers.time, "monotonic", lambda: 4000.0)
    found = timers.failure(service, timer)
    expected = {
        "at": "2027-01-15T07:53:21Z",
        "result": f"{result}: a unit that it requires failed, such as the mount of a volume",
    }
    assert found == (expected if result else {})
