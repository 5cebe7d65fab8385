"""Record the tasks of a play as they begin, and kill or hold the play when a certain task begins.

Enabled and steered by environment variables, so that the playbooks under test stay as they are:

    HEADROOM_CHAOS_TRACE   the file for the trace: one JSON object for each task that begins, and one for each result with a change
    HEADROOM_CHAOS_TASK    the name of a task; *: any, at its first result with a change; or a moment of walk.py
    HEADROOM_CHAOS_WALK    the file of the walk
    HEADROOM_CHAOS_NTH     which task of that name, from 1
    HEADROOM_CHAOS_AFTER   seconds after it has begun at which the play is killed, so that modules are at work on the hosts
    HEADROOM_CHAOS_ACTION  kill: kill the play with all its processes at that moment; hold: wait until the file TRACE.go exists
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from ansible.plugins.callback import CallbackBase  # type: ignore[import-untyped]

from bench.common.campaign.walk import AFTER, MIDDLE, Walk, is_effective
from bench.common.processes import kill_descendants

DOCUMENTATION = """
name: headroom_chaos
type: aggregate
short_description: Kill or hold a play when a certain task begins
description: Used by bench.common.campaign. Environment variables steer it.
"""

HOLD_SECONDS = 60


def _name(task: Any) -> str:
    """Return a task's name without its role's."""
    return str(task.get_name().split(" : ")[-1].strip())


def _kill() -> None:
    """Kill the play with all its processes on the controller."""
    kill_descendants(os.getpid())
    os.killpg(os.getpgid(0), signal.SIGKILL)


class CallbackModule(CallbackBase):  # type: ignore[misc]
    """Ansible's callback: it runs in the main process, and no task runs while it does."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "headroom_chaos"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        self.trace = Path(os.environ["HEADROOM_CHAOS_TRACE"])
        self.stop_at = (os.environ.get("HEADROOM_CHAOS_TASK", ""), int(os.environ.get("HEADROOM_CHAOS_NTH", "1")))
        self.after = float(os.environ.get("HEADROOM_CHAOS_AFTER", "0"))
        self.action = os.environ.get("HEADROOM_CHAOS_ACTION", "")
        self.begun: Counter[str] = Counter()
        self.walk = Walk(Path(os.environ["HEADROOM_CHAOS_WALK"]))
        self.kill_next = False
        self.timed = ""  # the task in whose middle the play is killed

    def v2_playbook_on_task_start(self, task: Any, is_conditional: bool) -> None:
        name = _name(task)
        self.begun[name] += 1
        self._write({"task": name, "nth": self.begun[name], "action": task.action, "at": time.time()})
        if self.kill_next:
            _kill()
        if self.action and self.stop_at == (name, self.begun[name]):
            if self.action == "hold":
                self._hold()
            elif self.after:
                threading.Timer(self.after, _kill).start()
            else:
                _kill()

    def v2_playbook_on_handler_task_start(self, task: Any) -> None:
        self.v2_playbook_on_task_start(task, False)

    def v2_runner_on_start(self, host: Any, task: Any) -> None:
        seconds = self.walk.seconds.get(_name(task))
        if self.stop_at[0] != MIDDLE or not seconds or self.timed not in ("", task._uuid):
            return
        if self.walk.record(_name(task), host.get_name()) and not self.timed:
            self.timed = task._uuid
            threading.Timer(seconds, _kill).start()

    def v2_runner_on_ok(self, result: Any) -> None:
        changed, host = result._result.get("changed"), result._host.get_name()
        if changed:
            self._write({"changed": host})
        if changed and self.stop_at[0] == "*":
            self.stop_at = ("", 0)
            threading.Timer(self.after, _kill).start()
        if self.stop_at[0] == AFTER and (changed or is_effective(result._task.action)):
            self.kill_next |= self.walk.record(_name(result._task), host)

    def _hold(self) -> None:
        """Wait for the harness, which has begun the fault when it creates the file."""
        go = self.trace.with_name(self.trace.name + ".go")
        end = time.monotonic() + HOLD_SECONDS
        while not go.exists() and time.monotonic() < end:
            time.sleep(0.02)

    def _write(self, line: dict[str, Any]) -> None:
        with self.trace.open("a") as out:
            out.write(json.dumps(line) + "\n")
