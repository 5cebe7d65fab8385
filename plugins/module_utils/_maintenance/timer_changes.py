# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide which systemd timers to start and stop. Pure, and not part of the program that they start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def differing_timers(wanted: Mapping[str, bool], states: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the timers whose state in systemd is wrong, and those whose files changed. Raises ValueError for a timer without state."""
    missing = [name for name in wanted if name not in states]
    if missing:
        raise ValueError(f"units lacks {', '.join(missing)}, which timers names")
    return [
        name
        for name, runs in wanted.items()
        if (states[name]["changed"] and runs) or states[name]["enabled"] != runs or states[name]["active"] != runs
    ]


def timer_commands(
    wanted: Mapping[str, bool], states: Mapping[str, Mapping[str, Any]], *, reload: bool
) -> list[list[str]]:
    """Return the commands of systemctl that bring the timers into the wanted state. Raises ValueError.

    states: as timer_states returns them. reload: files of units changed. Without ``wanted``, there are no commands.
    """
    if not wanted:
        return []
    names = differing_timers(wanted, states)
    on = [name for name in names if wanted[name]]
    restarted = [name for name in on if states[name]["changed"]]
    commands = [
        ["enable", *on],
        ["restart", *restarted],
        ["start", *(name for name in on if name not in restarted)],
        ["disable", "--now", *(name for name in names if not wanted[name])],
    ]
    first = [["daemon-reload"]] if reload or any(state["changed"] for state in states.values()) else []
    return first + [command for command in commands if command[-1].endswith(".timer")]
