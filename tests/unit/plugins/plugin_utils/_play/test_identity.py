# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The identity of a play, with real processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._play import identity

# ansible-test loads collections by a hook of its own, which a new process does not have.
ROOT = str(Path(identity.__file__).parents[5])
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([ROOT, *filter(None, sys.path)])}
PRINT = "import sys; from {module} import this_play; print(this_play(), flush=True); sys.stdin.read()"
# Ansible forks a process for each task. A process with threads, as that of these tests may be, must not fork.
FORK = """
import multiprocessing
from {module} import this_play
context = multiprocessing.get_context("fork")
queue = context.SimpleQueue()
process = context.Process(target=lambda: queue.put(this_play()))
process.start()
print(queue.get() == this_play())
"""


@pytest.fixture
def other() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that stands for another play, and its identity."""
    command = [sys.executable, "-c", PRINT.format(module=identity.__name__)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT
    ) as process:
        assert process.stdout
        play = process.stdout.readline().strip()
        assert play
        yield process, play
        process.kill()


def test_a_running_process_has_not_ended(other: tuple[subprocess.Popen[str], str]) -> None:
    assert not identity.has_ended(other[1])
    assert not identity.has_ended(identity.this_play())
    assert other[1].rsplit(":", 2)[0] == identity.this_play().rsplit(":", 2)[0]


def test_a_killed_process_has_ended(other: tuple[subprocess.Popen[str], str]) -> None:
    process, play = other
    process.kill()
    deadline = time.monotonic() + 30
    while not identity.has_ended(play):  # first a zombie, which nobody has waited for
        assert time.monotonic() < deadline
    process.wait()
    assert identity.has_ended(play)


def test_another_process_with_the_same_pid() -> None:
    machine_and_pid, _colon, start = identity.this_play().rpartition(":")
    assert identity.has_ended(f"{machine_and_pid}:{int(start) - 1}")


@pytest.mark.parametrize("play", ["", "unknown", "boot:1:2:3", "host::17:", "other-boot:4026531836:99999999:5"])
def test_a_play_that_ran_elsewhere_is_not_known_to_have_ended(play: str) -> None:
    assert not identity.has_ended(play)


def test_a_forked_process_belongs_to_its_play() -> None:
    command = [sys.executable, "-c", FORK.format(module=identity.__name__)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, env=ENVIRONMENT)
    assert done.stdout == "True\n"
