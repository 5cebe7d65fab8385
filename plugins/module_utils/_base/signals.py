# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""End in an orderly way when told to end: what ``finally`` says is done, locks are let go and unfinished files removed.

Private to the collection.
"""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any

ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def _stop(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def end_orderly() -> dict[signal.Signals, Any]:
    """Turn the signals that end a process into SystemExit, with a shell's status for them. Returns the handlers there were."""
    return {number: signal.signal(number, _stop) for number in ENDING}


def restore(handlers: dict[signal.Signals, Any]) -> None:
    """Put back the handlers that ``end_orderly`` returned."""
    for number, handler in handlers.items():
        signal.signal(number, handler)
