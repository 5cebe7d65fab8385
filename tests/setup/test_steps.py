# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The locks of the set-up's steps, and what makes them fail."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools.setup import __main__ as setup
from tools.setup import debian
from tools.setup.steps import StepFailed, run

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


def test_lists_that_another_apt_updates_are_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DPkg::Lock::Timeout does not cover their lock."""
    program = tmp_path / "apt-get"
    program.write_text(
        f'#!/bin/sh\necho x >> {tmp_path}/calls\n[ "$(wc -l < {tmp_path}/calls)" -gt 2 ] && exit\n'
        'echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1 (apt-get)"; exit 100\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(debian, "as_root", lambda *command: list(command))
    monkeypatch.setattr(debian, "PAUSE", 0.01)
    with (tmp_path / "log").open("w") as log:
        debian.update(log)
    assert (tmp_path / "calls").read_text().count("x") == 3
    monkeypatch.setattr(debian, "LISTS_SECONDS", 0)
    (tmp_path / "calls").unlink()
    with (tmp_path / "log").open("w") as log, pytest.raises(StepFailed, match="Could not get lock"):
        debian.update(log)


def test_a_sudo_that_asks_for_a_password_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "sudo"
    program.write_text("#!/bin/sh\necho sudo: a password is required; exit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with (tmp_path / "log").open("w") as log, pytest.raises(StepFailed, match="a user whose sudo asks for none"):
        run(log, "sudo", "-n", "apt-get", "update")


def test_folders_of_another_user_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup, "LINKS", tmp_path)
    setup.check_owners()
    monkeypatch.setattr(os, "access", lambda path, _mode: path != tmp_path / "bin")
    (tmp_path / "bin").mkdir()
    with pytest.raises(StepFailed, match=r"/bin belongs to .*, because an earlier run used sudo; run `sudo chown"):
        setup.check_owners()


def test_the_environment_has_a_locale_for_ansible() -> None:
    """. .headroom/activate, in a user's environment."""
    script = setup.ACTIVATE.format(links="/links") + 'echo "$LC_ALL"'
    for given, expected in (
        ({"LC_ALL": "C"}, "C.UTF-8"),
        ({}, "C.UTF-8"),
        ({"LANG": "de_DE.utf8"}, ""),
        ({"LC_ALL": "C.UTF-8"}, "C.UTF-8"),
    ):
        done = subprocess.run(
            ["sh", "-c", script], env={"PATH": "/bin", **given}, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == expected, given
