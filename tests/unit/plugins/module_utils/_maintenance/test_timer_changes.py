# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which commands of systemctl bring timers into the wanted state."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import timer_changes


def state(enabled: bool, active: bool, changed: bool = False) -> dict[str, Any]:
    return {"enabled": enabled, "active": active, "changed": changed}


RUNS, STOPPED = state(True, True), state(False, False)


@pytest.mark.parametrize(
    ("wanted", "states", "reload", "commands"),
    [
        pytest.param(
            {"a.timer": True, "b.timer": False}, {"a.timer": RUNS, "b.timer": STOPPED}, False, [], id="as wanted"
        ),
        pytest.param(
            {"a.timer": True, "b.timer": True, "c.timer": False},
            dict.fromkeys(["a.timer", "b.timer", "c.timer"], state(False, False, changed=True)),
            True,
            [["daemon-reload"], ["enable", "a.timer", "b.timer"], ["restart", "a.timer", "b.timer"]],
            id="new host",
        ),
        pytest.param({"a.timer": True}, {"a.timer": RUNS}, True, [["daemon-reload"]], id="another unit changed"),
        pytest.param(
            {"a.timer": True},
            {"a.timer": state(True, True, changed=True)},
            False,
            [["daemon-reload"], ["enable", "a.timer"], ["restart", "a.timer"]],
            id="a killed play did not reload",
        ),
        pytest.param(
            {"a.timer": True, "b.timer": True},
            {"a.timer": state(True, False), "b.timer": state(False, True)},
            False,
            [["enable", "a.timer", "b.timer"], ["start", "a.timer", "b.timer"]],
            id="stopped and disabled by hand",
        ),
        pytest.param(
            {"a.timer": False, "b.timer": True},
            {"a.timer": state(False, True, changed=True), "b.timer": RUNS},
            False,
            [["daemon-reload"], ["disable", "--now", "a.timer"]],
            id="switched off",
        ),
        pytest.param({}, {"a.timer": STOPPED}, False, [], id="not asked for"),
    ],
)
def test_commands(
    wanted: dict[str, bool], states: dict[str, dict[str, Any]], reload: bool, commands: list[list[str]]
) -> None:
    assert timer_changes.timer_commands(wanted, states, reload=reload) == commands


def test_a_timer_without_a_unit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"units lacks b\.timer, which timers names"):
        timer_changes.timer_commands({"b.timer": True}, {"a.timer": RUNS}, reload=False)
