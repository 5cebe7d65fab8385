# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Priorities of threads: valid requests, and setting them on a real process with several threads."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._host import priority as host_priority
from ansible_collections.etcdops.headroom.plugins.module_utils._host import process as host_process
from ansible_collections.etcdops.headroom.plugins.module_utils._host.priority import Priority, PriorityError, Thread

THREADS = 6
PROGRAM = f"""
import threading, time
for _ in range({THREADS - 1}):
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print("ready", flush=True)
time.sleep(60)
"""


@pytest.fixture
def process() -> Iterator[int]:
    """A process with several threads."""
    child = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE)
    assert child.stdout and child.stdout.readline() == b"ready\n"
    yield child.pid
    child.kill()
    child.wait()
    child.stdout.close()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("best-effort", None, None), "best-effort/0"),
        (("best-effort", 7, -5), "best-effort/7, nice -5"),
        (("idle", None, 19), "idle, nice 19"),
        (("none", None, None), "none"),
        ((None, None, -20), "nice -20"),
        ((None, None, None), ""),
    ],
)
def test_wanted(arguments: tuple[str | None, int | None, int | None], expected: str) -> None:
    assert str(host_priority.parse_priority(*arguments)) == expected


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("realtime", 0, None), r"realtime.*refused.*best-effort"),
        (("real-time", None, None), r"'real-time'.*best-effort, idle or none"),
        (("", None, None), r"''.*must be"),
        (("best-effort", 8, None), r"io_priority is 8.*0 \(highest\) to 7"),
        (("best-effort", -1, None), r"io_priority is -1"),
        (("idle", 3, None), r"io_priority is 3.*only io_class best-effort"),
        ((None, 3, None), r"io_priority is 3.*only io_class best-effort"),
        (("none", None, 20), r"nice is 20.*-20 \(highest\) to 19"),
        (("none", None, -21), r"nice is -21"),
    ],
)
def test_refused(arguments: tuple[str | None, int | None, int | None], text: str) -> None:
    with pytest.raises(PriorityError, match=text):
        host_priority.parse_priority(*arguments)


@pytest.mark.parametrize(
    ("has", "goal", "expected"),
    [
        (("none", None, 0), ("best-effort", 0, None), True),
        (("best-effort", 4, 0), ("best-effort", 0, None), True),
        (("best-effort", 0, 0), ("best-effort", 0, None), False),
        (("best-effort", 0, 0), ("best-effort", 0, -5), True),
        (("best-effort", 0, -5), (None, None, -5), False),
        (("idle", None, -5), (None, None, None), False),
        ((None, None, 0), ("none", None, None), True),
    ],
)
def test_differs(
    has: tuple[str | None, int | None, int], goal: tuple[str | None, int | None, int | None], expected: bool
) -> None:
    assert host_priority.differs(Thread(1, Priority(*has)), Priority(*goal)) is expected


@pytest.mark.parametrize("name", ["none", "best-effort", "idle", "realtime"])
@pytest.mark.parametrize("level", [0, 7])
def test_encoding_is_what_is_decoded(name: str, level: int) -> None:
    with_level = name in ("best-effort", "realtime")
    found = host_process.decode_io_priority(host_priority.encode_io_priority(name, level if with_level else None))
    assert found == (name, level if with_level else None)


def test_system_calls_lie_side_by_side() -> None:
    """ioprio_set comes right before ioprio_get in every one of the kernel's tables."""
    assert {name: number + 1 for name, number in host_priority.IOPRIO_SET.items()} == host_process.IOPRIO_GET
    assert platform.machine() in host_priority.IOPRIO_SET


def test_every_thread_gets_it_where_ionice_reaches_one(process: int) -> None:
    goal = Priority("best-effort", 6, 5)
    before = host_priority.read_threads(process)
    assert len(before) == THREADS
    # What ionice -p and renice -p do.
    host_priority.set_io_priority(process, "best-effort", 6)
    os.setpriority(os.PRIO_PROCESS, process, 5)
    others = [thread for thread in host_priority.read_threads(process) if host_priority.differs(thread, goal)]
    assert len(others) == THREADS - 1 and process not in [thread.tid for thread in others]

    after = host_priority.set_priority(process, goal)
    assert [thread.priority for thread in after] == [goal] * THREADS
    assert after == host_priority.read_threads(process)
    assert host_priority.summary(after) == {"io_classes": {"best-effort/6": THREADS}, "nice": {"5": THREADS}}
    assert host_priority.predicted_threads(before, goal) == after


def test_only_what_is_wanted_is_set(process: int) -> None:
    before = host_priority.read_threads(process)
    after = host_priority.set_priority(process, Priority("idle", None, None))
    assert {thread.priority.io_class for thread in after} == {"idle"}
    assert [thread.priority.nice for thread in after] == [thread.priority.nice for thread in before]


def test_threads_with_another_priority_are_named(process: int) -> None:
    own = host_priority.read_threads(process)[0].priority
    same = host_priority.compare(process, Priority(None, None, own.nice))
    assert same and not same["differing"]
    assert same["msg"] == f"All {THREADS} threads of process {process} have nice {own.nice}."
    other = 18 if own.nice != 18 else 17
    found = host_priority.compare(process, Priority(None, None, other))
    assert found and len(found["differing"]) == len(found["threads"]) == THREADS
    assert found["msg"].startswith(f"{THREADS} of {THREADS} threads of process {process} do not have nice {other}: ")


def test_a_process_that_ended() -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    assert host_priority.read_threads(child.pid) == []
    assert host_priority.set_priority(child.pid, Priority("idle", None, None)) == []
    assert host_priority.compare(child.pid, Priority("idle", None, None)) is None


def test_many_threads_are_named_in_short() -> None:
    threads = [Thread(tid, Priority("none", None, 0)) for tid in range(100, 112)]
    text = host_priority.describe_threads(threads)
    assert text.startswith("100 (none, nice 0), 101") and text.endswith("and 4 more")


def test_unknown_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "vax")
    with pytest.raises(PriorityError, match=r"ioprio_set.*vax.*x86_64"):
        host_priority.set_io_priority(os.getpid(), "none", None)
