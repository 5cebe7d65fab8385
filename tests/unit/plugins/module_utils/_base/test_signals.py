# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Signals that end a process run its ``finally`` blocks."""

from __future__ import annotations

import os
import signal

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.signals import exit_on_signals, restore_handlers


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_exits_with_the_status_that_a_shell_reports(number: signal.Signals) -> None:
    before = exit_on_signals()
    try:
        with pytest.raises(SystemExit) as stopped:
            os.kill(os.getpid(), number)
    finally:
        restore_handlers(before)
    assert stopped.value.code == 128 + number
    assert signal.getsignal(number) == before[number]
