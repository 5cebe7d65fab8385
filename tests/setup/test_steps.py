# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The locks of the set-up's steps."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
STEP = """
import sys
from pathlib import Path
from tools.setup.steps import locked, run
with Path(sys.argv[1]).open("w") as log, locked(sys.argv[2]):
    run(log, "sh", "-c", sys.argv[3])
"""


def start(tmp_path: Path, name: str, script: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-c", STEP, str(tmp_path / "log"), name, script]
    return subprocess.Popen(command, cwd=PROJECT, env=environment)


def killed(tmp_path: Path) -> None:
    """Start a step, and kill set-up once the step's command runs."""
    first = start(tmp_path, "step", f"cd {tmp_path}; touch begun; sleep 2; touch ended")
    end = time.monotonic() + 60
    while not (tmp_path / "begun").exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    first.kill()
    first.wait()


def test_a_step_waits_for_the_command_of_a_killed_run(tmp_path: Path) -> None:
    killed(tmp_path)
    assert start(tmp_path, "step", f"test -e {tmp_path}/ended").wait(60) == 0


def test_another_step_does_not_wait_for_it(tmp_path: Path) -> None:
    killed(tmp_path)
    assert start(tmp_path, "another", f"test ! -e {tmp_path}/ended").wait(60) == 0


def test_a_lock_is_free_after_its_step(tmp_path: Path) -> None:
    for _ in range(2):
        assert start(tmp_path, "step", "true").wait(60) == 0
