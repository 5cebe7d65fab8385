"""Run a playbook with the callback that records its tasks, and that kills or holds it when a certain task begins."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.common.campaign import walk
from bench.common.lab import PROJECT, STATE
from bench.common.processes import kill_with_descendants

CALLBACKS = PROJECT / "bench" / "common" / "campaign" / "callback"
# A play that waits for the lock of a killed play must outlive that lock's lease.
LIMIT = 900.0
MAX_MESSAGE = 300

KILLED_IN = "killed in: "
# In place of a task's name: the first result with a change.
ANY = "*"


@dataclass(frozen=True)
class Point:
    """A moment of a play: `after` seconds after the nth task of a name has begun. task: a name, ANY, or one of walk.WALKS."""

    task: str
    nth: int = 1
    after: float = 0.0

    def __str__(self) -> str:
        name = self.task if self.nth == 1 else f"{self.task} ({self.nth})"
        return f"{name}, after {self.after:.1f} s" if self.after else name


def parse_point(text: str) -> Point:
    """Return the point that str() wrote."""
    found = re.fullmatch(r"(.+?)(?: \((\d+)\))?(?:, after ([\d.]+) s)?", text)
    assert found
    return Point(found[1], int(found[2] or 1), float(found[3] or 0))


@dataclass(frozen=True)
class Step:
    """A task as a run reached it. action: its module or action; changed: whether it changed a host; seconds: until the next task began."""

    point: Point
    action: str
    changed: bool
    seconds: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """How a run of a playbook, or of a timer's service, ended. code is None if it was killed; changes: changed tasks by host."""

    code: int | None
    said: str
    steps: tuple[Step, ...] = ()
    changes: Mapping[str, int] | None = None
    seconds: float = 0.0
    output: str = ""

    @property
    def unchanged(self) -> bool:
        """Return whether it ended well and changed nothing."""
        return self.code == 0 and bool(self.changes) and not any((self.changes or {}).values())


def parse_trace(text: str) -> tuple[Step, ...]:
    """Return the steps that the callback recorded."""
    steps: list[Step] = []
    began = 0.0
    for line in text.splitlines():
        try:
            seen: dict[str, Any] = json.loads(line)
        except ValueError:  # the play was killed while it wrote
            continue
        if "task" in seen:
            if steps:
                steps[-1] = replace(steps[-1], seconds=round(seen["at"] - began, 2))
            began = seen["at"]
            steps.append(Step(Point(seen["task"], seen["nth"]), seen["action"], False))
        elif steps:
            steps[-1] = replace(steps[-1], changed=True)
    return tuple(steps)


def last_error(output: str) -> str:
    """Return the last error message of a play in one line, or its last message; empty if it reported no error."""
    errors = re.findall(r"^\[ERROR\]: (.+(?:\n(?!Origin:|\s*$).+)*)", output, re.M)
    fatal = re.findall(r"^fatal: (\[[^\]]+\]: \w+!) => *\n((?:    .*\n)+)", output, re.M)
    if fatal:
        host, body = fatal[-1]
        message = re.search(r"^    msg: *(?:[>|]-?\n)?((?:.+\n)(?:      .*\n)*)", body, re.M)
        return shorten(f"{host} {message[1] if message else body}")
    return shorten(errors[-1]) if errors else ""


def shorten(text: str) -> str:
    """Return a text in one line, cut if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_MESSAGE else line[: MAX_MESSAGE - 1] + "…"


def changes(output: str) -> dict[str, int]:
    """Return the number of changed tasks for each host, from a play's recap."""
    return {host: int(count) for host, count in re.findall(r"^(\S+)\s+: ok=\d+\s+changed=(\d+)", output, re.M)}


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a play that is recorded."""
    return {
        **os.environ,
        "PYTHONPATH": f"{os.environ.get('PYTHONPATH', '')}:{PROJECT}",  # for the callback
        "ANSIBLE_CONFIG": str(PROJECT / "ansible.cfg"),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_FORCE_COLOR": "0",
        "ANSIBLE_CALLBACK_PLUGINS": str(CALLBACKS),
        "ANSIBLE_CALLBACKS_ENABLED": "headroom_chaos",
        "HEADROOM_CHAOS_TRACE": str(folder / "trace"),
        "HEADROOM_CHAOS_WALK": str(folder / "walk"),
    }


def begin_walk(seconds: Mapping[str, float]) -> None:
    """Let the next killed run be the first one of a walk. seconds: as of walk.begin."""
    folder = STATE / "chaos"
    folder.mkdir(parents=True, exist_ok=True)
    walk.begin(folder / "walk", seconds)


def run(
    words: Sequence[str],
    *,
    kill: Point | None = None,
    hold: Point | None = None,
    fault: Callable[[], None] | None = None,
) -> Outcome:
    """Run ansible-playbook. It is killed at the moment `kill`; when the task `hold` begins, it waits until `fault` has returned."""
    folder = STATE / "chaos"
    folder.mkdir(parents=True, exist_ok=True)
    trace, output, go = folder / "trace", folder / "output", folder / "trace.go"
    for path in (trace, go):
        path.unlink(missing_ok=True)
    variables = environment(folder)
    point = kill or hold
    if point:
        variables |= {"HEADROOM_CHAOS_TASK": point.task, "HEADROOM_CHAOS_NTH": str(point.nth)}
        variables |= {"HEADROOM_CHAOS_ACTION": "kill" if kill else "hold", "HEADROOM_CHAOS_AFTER": str(point.after)}
    began = time.monotonic()
    with output.open("w") as out:
        process = subprocess.Popen(
            ["ansible-playbook", *words], cwd=PROJECT, env=variables, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            start_new_session=True,
        )  # fmt: skip
        if hold and fault:
            threading.Thread(target=_inject, args=(process, trace, hold, fault, go), daemon=True).start()
        try:
            process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            pass
        finally:
            if process.poll() is None:  # too late, or this program is being stopped
                kill_with_descendants(process.pid)
                process.wait()
    said = output.read_text(errors="replace")
    steps = parse_trace(trace.read_text()) if trace.exists() else ()
    code = None if process.returncode == -signal.SIGKILL else process.returncode
    seconds = time.monotonic() - began
    if code is None:
        line = f"{KILLED_IN}{steps[-1].point}" if kill and steps else f"killed after {seconds:.0f} s"
        return Outcome(None, line, steps, changes(said), seconds, said)
    return Outcome(code, last_error(said), steps, changes(said), seconds, said)


def _inject(process: subprocess.Popen[bytes], trace: Path, point: Point, fault: Callable[[], None], go: Path) -> None:
    """Wait until the play is held, begin the fault, and let the play go on."""
    while process.poll() is None:
        if trace.exists() and any(step.point == point for step in parse_trace(trace.read_text())):
            try:
                fault()
            finally:
                go.touch()
            return
        time.sleep(0.05)
