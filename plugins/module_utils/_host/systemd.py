# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run systemctl, and read a unit's state and journal from systemd. Private to the collection."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import run_process

# Journals grow for as long as a process lives; what etcd says at its start is among the first lines.
START_LINES = 2000
START_MESSAGE = "starting an etcd server"
PROPERTIES = (
    "LoadState",
    "ActiveState",
    "SubState",
    "Result",
    "MainPID",
    "Job",
    "NRestarts",
    "InvocationID",
    "ExecMainStatus",
    "ExecMainCode",
    "ActiveEnterTimestamp",
)
SYSTEMCTL_SECONDS = 60
# The folders that ProtectHome= hides: systemd.exec(5).
HOME_FOLDERS = ("/home", "/root", "/run/user")
# Fields that etcd's logger adds to each line, and that do not explain why it does not start.
_NOISE = ("level", "ts", "caller", "msg", "logger", "stacktrace")


class SystemctlError(ValueError):
    """systemctl failed; the text says which command, and why."""


@dataclass(frozen=True)
class Unit:
    """A unit's state. ``pid`` is None unless a main process runs; ``invocation`` is systemd's id of this start.

    ``load_state`` is empty if systemctl had no answer, which says nothing about the unit. ``job`` is true while systemd has yet to start, stop or
    restart it: until then what runs may be the old process.
    """

    name: str
    load_state: str
    active_state: str
    sub_state: str
    result: str
    pid: int | None
    job: bool
    restarts: int
    invocation: str
    exit_status: int
    since: str

    @property
    def crash_loops(self) -> bool:
        """Return whether systemd has given up, or has restarted it several times since the last request to start it."""
        return self.active_state == "failed" or (self.sub_state == "auto-restart" and self.restarts >= 3)


def parse_show(name: str, text: str) -> Unit:
    """Return the state of a unit from the output of ``systemctl show`` with PROPERTIES."""
    values = {**dict.fromkeys(PROPERTIES, ""), **parse_properties(text)}
    return Unit(
        name=name,
        load_state=values["LoadState"],
        active_state=values["ActiveState"] or "inactive",
        sub_state=values["SubState"],
        result=values["Result"],
        pid=_int(values["MainPID"]) or None,
        job=_int(values["Job"]) != 0,
        restarts=_int(values["NRestarts"]),
        invocation=values["InvocationID"],
        exit_status=_int(values["ExecMainStatus"]),
        since=values["ActiveEnterTimestamp"],
    )


def show(name: str, timeout: float) -> Unit:
    """Query systemd for a unit. Without systemd, or without an answer in ``timeout`` seconds, its load state is empty."""
    return parse_show(name, _show([name], PROPERTIES, timeout))


def properties(units: Sequence[str], names: Sequence[str], timeout: float) -> list[dict[str, str]]:
    """Query systemd for properties of several units, in their order. Without systemd, or without an answer in time, empty."""
    return [parse_properties(block) for block in _show(units, names, timeout).split("\n\n") if block.strip()]


def parse_properties(text: str) -> dict[str, str]:
    """Parse the output of ``systemctl show`` for one unit: one ``Name=value`` per line."""
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def start_record(invocation: str, timeout: float) -> dict[str, Any] | None:
    """Return the line with the effective settings of the running etcd; None if the journal does not have it.

    The line is missing if etcd logs into a file or from level warn up, or if the journal was truncated. Reading stops at the
    line, so the length of the journal does not matter.
    """
    if not invocation:
        return None
    argv = ["journalctl", "--quiet", "--no-pager", "--output=cat", f"_SYSTEMD_INVOCATION_ID={invocation}"]
    try:
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8"
        )
    except OSError:
        return None
    alarm = threading.Timer(timeout, process.kill)
    alarm.start()
    with process:
        try:
            for count, line in enumerate(process.stdout or ()):
                record = parse_start_record(line)
                if record is not None or count >= START_LINES:
                    return record
            return None
        finally:
            alarm.cancel()
            process.kill()


def parse_start_record(line: str) -> dict[str, Any] | None:
    """Return the fields of etcd's start line, or None if the line is another one."""
    if START_MESSAGE not in line:
        return None
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and record.get("msg") == START_MESSAGE else None


def tail(name: str, lines: int, timeout: float) -> list[str]:
    """Return the unit's last journal lines, readable: see ``readable``."""
    text = _run(["journalctl", "--quiet", "--no-pager", "--output=cat", f"--unit={name}", f"--lines={lines}"], timeout)
    return [readable(line) for line in text.splitlines() if line.strip()]


def readable(line: str) -> str:
    """Shorten one of etcd's JSON lines to level, message and the fields that differ; other lines stay as they are."""
    try:
        record = json.loads(line)
    except ValueError:
        return line
    if not isinstance(record, dict) or "msg" not in record:
        return line
    if record["msg"] == START_MESSAGE:
        return f"{record.get('level', '')}: {START_MESSAGE} {record.get('etcd-version', '')}"
    details = [f"{key}={_plain(value)}" for key, value in record.items() if key not in (*_NOISE, "error")]
    if "error" in record:
        details.insert(0, str(record["error"]))
    text = f"{record.get('level', '')}: {str(record['msg']).rstrip(': ')}"
    return f"{text}: {', '.join(details)}" if details else text


def cause(lines: list[str]) -> str:
    """Return the most likely cause of etcd's end from a readable tail: the last one of the most severe lines.

    Looks at one start after the other, the last first: a process that systemd stops logs errors, too.
    """
    end = len(lines)
    while end:
        start = max((number for number in range(end) if lines[number].startswith("Starting ")), default=0)
        for grave in ("panic: ", "fatal: ", "fatal error: ", "error: ", "warn: "):
            for line in reversed(lines[start:end]):
                if line.startswith(grave):
                    return line[len(grave) :]
        end = start
    return ""


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def systemctl(words: Sequence[str]) -> str:
    """Run a command of systemctl and return its output. Raises SystemctlError, which names the command."""
    shown = f"systemctl {' '.join(words)}"
    try:
        done = run_process(["systemctl", "--quiet", *words], SYSTEMCTL_SECONDS)
    except OSError as error:
        raise SystemctlError(f"{shown}: {error}") from error
    if done.returncode is None:
        raise SystemctlError(f"{shown} did not end within {SYSTEMCTL_SECONDS} s: see journalctl -b")
    if done.returncode != 0:
        raise SystemctlError(f"{shown}: {done.stderr.strip() or f'exit status {done.returncode}'}")
    return done.stdout


def _show(units: Sequence[str], names: Sequence[str], timeout: float) -> str:
    return _run(["systemctl", "show", *units, *(f"--property={name}" for name in names)], timeout)


def _run(argv: list[str], timeout: float) -> str:
    try:
        return run_process(argv, timeout).stdout
    except OSError:
        return ""


def _int(text: str) -> int:
    return int(text) if text.lstrip("-").isdigit() else 0
