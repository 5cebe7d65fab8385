# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calendars and timers, as systemd parses them and reports them."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.durations import format_utc, parse_systemd_span
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import run_process
from ansible_collections.etcdops.headroom.plugins.module_utils._host import systemd

# As ``systemd-analyze calendar --iterations=…`` prints them, with TZ=UTC.
_ELAPSE = re.compile(r"(?:Next elapse|Iter\S* ?#\d+): \w+ (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC")

# The properties of a service that say how and when its last run failed, and of its timer and itself that say whether it was started.
_FAILURE = ("Result", "ExecMainStatus", "InactiveEnterTimestampMonotonic")
_START = ("LastTriggerUSecMonotonic", "Job", "ConditionResult", "ConditionTimestampMonotonic")
# The properties of a timer or its service that say whether it runs.
_STATE = ("Id", "UnitFileState", "ActiveState", "NextElapseUSecRealtime", "NeedDaemonReload", *_FAILURE, *_START)


class CalendarError(ValueError):
    """A calendar expression that systemd does not accept, or that never elapses."""


def validate_calendars(calendars: Sequence[str]) -> dict[str, str]:
    """Return why each invalid calendar expression is invalid, by expression."""
    unique = list(dict.fromkeys(calendars))
    if not unique:
        return {}
    try:
        # One process for all; if it reports an error, one process for each finds the invalid one.
        if len(parse_blocks(_analyze(unique))) == len(unique):
            return {}
    except CalendarError:
        pass
    found = {}
    for calendar in unique:
        try:
            next_runs(calendar)
        except CalendarError as error:
            found[calendar] = str(error)
    return found


def next_runs(calendar: str, count: int = 3) -> list[datetime]:
    """Return the next times of a calendar expression, up to ``count``. Raises CalendarError."""
    found = parse_next_runs(_analyze([calendar], count))
    if not found:
        raise CalendarError(f"{calendar!r} never elapses: write a date in the future, or a repeating one such as daily")
    return found


def _analyze(calendars: Sequence[str], count: int = 3) -> str:
    """Run systemd-analyze on calendar expressions, for ``count`` times of each. Returns its output. Raises CalendarError."""
    environment = {**os.environ, "TZ": "UTC", "LC_ALL": "C", "SYSTEMD_COLORS": "0"}
    try:
        done = run_process(
            ["systemd-analyze", "calendar", f"--iterations={count}", *calendars], 30, environment=environment
        )
    except OSError as error:
        raise CalendarError(f"systemd-analyze cannot be run: {error}") from error
    if done.returncode is None:
        raise CalendarError("systemd-analyze did not end within 30 s")
    if done.returncode != 0:
        raise CalendarError(
            f"{calendars[0]!r} is not a calendar expression of systemd: write for example daily, Sun 03:00 or *-*-* 02:30"
        )
    return done.stdout


def parse_blocks(text: str) -> list[list[datetime]]:
    """Parse what ``systemd-analyze calendar`` prints about several expressions; leaves out those that never elapse."""
    blocks = (parse_next_runs(block) for block in text.split("Normalized form:")[1:])
    return [times for times in blocks if times]


def parse_next_runs(text: str) -> list[datetime]:
    """Parse what ``systemd-analyze calendar`` prints."""
    return [
        datetime.strptime(found, "%Y-%m-%d %H:%M:%S").replace(tzinfo=timezone.utc) for found in _ELAPSE.findall(text)
    ]


def shortest_interval(times: list[datetime]) -> int | None:
    """Return the shortest time between two consecutive runs in seconds, None for fewer than two runs."""
    return min(_steps(times), default=None)


def longest_interval(times: list[datetime]) -> int | None:
    """Return the longest time between two consecutive runs in seconds, None for fewer than two runs."""
    return max(_steps(times), default=None)


def _steps(times: list[datetime]) -> list[int]:
    return [round((later - earlier).total_seconds()) for earlier, later in zip(times, times[1:])]


def timer_states(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return whether each timer is ``enabled`` and ``active``, and when it elapses ``next``, as systemd writes times.

    ``changed`` says that systemd has yet to read the files of the timer and its service again, which a play that was killed
    did not ask it to do. ``failure`` describes the last run of its service if that failed, even before the program started, or if
    systemd did not start the service at all.
    Everything is false or empty where systemd does not answer.
    """
    found: dict[str, dict[str, str]] = {}
    if names:
        services = [_service(name) for name in names]
        states = systemd.properties([*names, *services], _STATE, 30)
        found = {state.get("Id", ""): state for state in states}
    return {
        name: {
            "enabled": found.get(name, {}).get("UnitFileState") == "enabled",
            "active": found.get(name, {}).get("ActiveState") == "active",
            "next": found.get(name, {}).get("NextElapseUSecRealtime", ""),
            "changed": any(found.get(unit, {}).get("NeedDaemonReload") == "yes" for unit in (name, _service(name))),
            "failure": failure(found.get(_service(name), {}), found.get(name, {})),
        }
        for name in names
    }


def failure(service: Mapping[str, str], timer: Mapping[str, str]) -> dict[str, str]:
    """Return ``at`` (UTC in ISO 8601) and ``result`` of a service that failed or was not started, from the properties of both units.

    Nothing if it has not failed.
    """
    state, ended = service.get("ActiveState"), _monotonic(service, "InactiveEnterTimestampMonotonic")
    elapsed = parse_systemd_span(timer.get("LastTriggerUSecMonotonic", ""))
    if state in ("inactive", "failed") and elapsed > ended and not _waits(service, elapsed):
        return _failed_at(elapsed, "not started: a unit that it requires failed, such as the mount of a volume")
    if state != "failed":
        return {}
    return _failed_at(ended, f"{service.get('Result')}, status {service.get('ExecMainStatus')}")


def _waits(service: Mapping[str, str], elapsed: float) -> bool:
    """Return whether systemd has yet to start a service, or skipped it for a condition, since its timer elapsed."""
    skipped = service.get("ConditionResult") == "no" and _monotonic(service, "ConditionTimestampMonotonic") >= elapsed
    return service.get("Job", "0") not in ("", "0") or skipped


def _failed_at(seconds: float, result: str) -> dict[str, str]:
    """Return a failure at a time of the monotonic clock."""
    return {"at": format_utc(time.time() - time.monotonic() + seconds), "result": result}


def _monotonic(unit: Mapping[str, str], name: str) -> float:
    """Return a property with a time of the monotonic clock in seconds, 0 if it is not set."""
    return int(unit.get(name) or 0) / 1e6


def _service(timer: str) -> str:
    return timer[: -len("timer")] + "service"
