"""Turn signals into an exception, so that `finally` blocks and context managers clean up."""

from __future__ import annotations

import signal
from types import FrameType


def exit_on_signals() -> None:
    """Raise SystemExit in the main thread on SIGINT, SIGTERM and SIGHUP."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _exit)


def _exit(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(f"stopped by {signal.Signals(number).name}")
