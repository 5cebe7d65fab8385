# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Turn signals into SystemExit, so that ``finally`` blocks run: locks are released and unfinished files removed."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def _stop(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def exit_on_signals() -> dict[signal.Signals, Any]:
    """Raise SystemExit, with a shell's exit status, on the signals that end a process. Returns the previous handlers."""
    return {number: signal.signal(number, _stop) for number in _SIGNALS}


def restore_handlers(handlers: dict[signal.Signals, Any]) -> None:
    """Put back the handlers that ``exit_on_signals`` returned."""
    for number, handler in handlers.items():
        signal.signal(number, handler)
