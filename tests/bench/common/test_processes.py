"""A thread that runs before other processes."""

from __future__ import annotations

import os
import threading

import pytest

from bench.common.processes import run_first


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a permission that root has")
def test_a_thread_and_those_that_it_starts_run_first() -> None:
    policies: dict[str, int] = {}

    def note(name: str) -> None:
        policies[name] = os.sched_getscheduler(0)

    def first() -> None:
        run_first()
        note("first")
        started = threading.Thread(target=note, args=("started",))
        started.start()
        started.join()

    thread = threading.Thread(target=first)
    thread.start()
    thread.join()
    note("main")
    assert policies == {"first": os.SCHED_RR, "started": os.SCHED_RR, "main": os.SCHED_OTHER}
