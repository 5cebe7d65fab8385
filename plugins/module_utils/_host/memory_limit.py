# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Raise the memory limit of a unit temporarily, and always restore it. Private to the collection.

``systemctl set-property --runtime`` takes effect at once and leaves files below /run, which win over the unit's own until
they are removed. ``raised`` saves the previous limit in a file first. If the process is killed, the next run, or the
service when it ends, calls ``restore``, which reads that file.

The process that raises a limit owns it: it holds a lock until it has restored the limit, and ``restore`` of another process
does nothing. The kernel releases the lock when the process ends, however it ends.

The work that needs the limit may outlive the process that started it: ``busy`` tells whether it is still under way.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from ansible_collections.etcdops.headroom.plugins.module_utils._base.locks import try_lock
from ansible_collections.etcdops.headroom.plugins.module_utils._host import systemd
from ansible_collections.etcdops.headroom.plugins.module_utils._host.process import read_process

PROPERTIES = ("MemoryMax", "MemoryHigh")
# systemd's files of properties that were set until the next boot.
CONTROL = Path("/run/systemd/system.control")
# The previous limits of units whose limit is raised.
SAVED_LIMITS = Path("/run/headroom")
# Go returns memory to the kernel within this time; restoring the limit too early would kill the process.
PATIENCE_SECONDS = 300.0
_SPARE = 32 << 20


class LimitError(ValueError):
    """systemd did not change the limit; the text says why."""


@dataclass
class Raised:
    """The state of the limit after the block: ``problem`` is the reason if it was not restored."""

    problem: str = ""


@contextlib.contextmanager
def raised(unit: str, limit: int, busy: Callable[[], bool]) -> Iterator[Raised]:
    """Raise MemoryMax and MemoryHigh to ``limit`` bytes, each unless it is higher, while the block runs.

    Raises LimitError, also while another process owns the limit.
    """
    result = Raised()
    saved = _saved_limits(unit)
    lock = _lock_limit(unit)
    if lock is None:
        raise LimitError(
            f"another defragmentation on this host has raised the limit of {unit} and has not ended; run this again afterwards"
        )
    with lock:
        before = _read_limits(saved)
        if before is None:  # otherwise the limit of now is one that an earlier run raised
            before = _properties(unit)
            _write_limits(saved, before)
        try:
            _set(unit, {name: str(max(int(old), limit)) if old.isdigit() else old for name, old in before.items()})
            yield result
        finally:
            result.problem = _restore_owned(unit, busy)


def restore(unit: str, busy: Callable[[], bool]) -> str:
    """Restore the limit that a run raised, once the process is below it and not busy. Returns the reason if that failed.

    Does nothing if no limit is saved, or if the process that raised it is still running: it restores the limit itself.
    """
    if _read_limits(_saved_limits(unit)) is None:
        return ""
    lock = _lock_limit(unit)
    if lock is None:
        return ""
    with lock:
        return _restore_owned(unit, busy)


def saved_limits(unit: str) -> dict[str, str]:
    """Return the limits that a unit had before they were raised, as systemd prints them; empty if they are not raised."""
    return _read_limits(_saved_limits(unit)) or {}


def _saved_limits(unit: str) -> Path:
    return SAVED_LIMITS / f"{unit}.limit.json"


def _lock_limit(unit: str) -> TextIO | None:
    """Own the limit of a unit until the returned file is closed; None if another process owns it.

    The file stays: a process that locked a removed file would not exclude one that creates it again.
    """
    SAVED_LIMITS.mkdir(mode=0o755, parents=True, exist_ok=True)
    file = (SAVED_LIMITS / f"{unit}.limit.lock").open("w", encoding="utf-8")
    if try_lock(file.fileno()):
        return file
    file.close()
    return None


def _restore_owned(unit: str, busy: Callable[[], bool]) -> str:
    saved = _saved_limits(unit)
    before = _read_limits(saved)
    if before is None:
        return ""
    # Above MemoryHigh the kernel would throttle the process, above MemoryMax it would kill it.
    problem = _wait_below(unit, [int(limit) for limit in before.values() if limit.isdigit()], busy)
    if problem:
        return problem
    try:
        _set(unit, before)
        for name in PROPERTIES:
            (CONTROL / f"{unit}.d" / f"50-{name}.conf").unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            (CONTROL / f"{unit}.d").rmdir()
        _systemctl("daemon-reload")
        saved.unlink()
    except (OSError, LimitError) as error:
        return f"the limit of {unit} stays raised until the next run: {error}"
    return ""


def _read_limits(path: Path) -> dict[str, str] | None:
    """Return the limits that a run saved; None if there are none."""
    try:
        found: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found


def _write_limits(path: Path, limits: dict[str, str]) -> None:
    """Save limits, whole or not at all."""
    fresh = path.with_suffix(".tmp")
    fresh.write_text(json.dumps(limits), encoding="utf-8")
    fresh.replace(path)


def _wait_below(unit: str, limits: list[int], busy: Callable[[], bool]) -> str:
    """Wait until RssAnon is below all limits and the process is not busy, or until the process is gone.

    Without an answer from systemd the process is taken to be there: a limit that is too low would end it.
    """
    if not limits:
        return ""
    limit = min(limits)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        pid = _main_pid(unit)
        if pid == 0:
            return ""
        used = (read_process(Path("/"), pid) or {}).get("rss_anon") if pid else None
        working = used is None or busy()
        if not working and used is not None and used + _SPARE <= limit:
            return ""
        if time.monotonic() >= deadline:
            reason = f"still has {used} bytes of heap, and the limit is {limit}"
            if used is None:
                reason = "cannot be inspected" if pid else "is unknown, because systemd does not answer"
            elif working:
                reason = "is still at work"
            return f"the limit of {unit} stays raised until the next run: the process {reason}"
        time.sleep(1.0)


def _main_pid(unit: str) -> int | None:
    """Return the process of a unit, 0 if it has none, and None if systemd does not answer."""
    for answer in systemd.properties([unit], ["MainPID"], 10.0):
        return int(answer.get("MainPID") or 0)
    return None


def _properties(unit: str) -> dict[str, str]:
    text = _systemctl("show", unit, *(f"--property={name}" for name in PROPERTIES))
    found = systemd.parse_properties(text)
    missing = [name for name in PROPERTIES if not found.get(name)]
    if missing:
        raise LimitError(f"systemd does not report {', '.join(missing)} of {unit}")
    return {name: found[name] for name in PROPERTIES}


def _set(unit: str, values: dict[str, str]) -> None:
    _systemctl("set-property", "--runtime", unit, *(f"{name}={value}" for name, value in values.items()))


def _systemctl(*words: str) -> str:
    try:
        return systemd.systemctl(words)
    except systemd.SystemctlError as error:
        raise LimitError(str(error)) from error
