# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays that are recorded, killed and held by the callback, and the errors that they report."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bench.common.campaign import play
from bench.common.campaign.play import Outcome, Point, changes, last_error, shorten
from bench.common.campaign.walk import AFTER, MIDDLE
from bench.common.processes import descendants, kill_with_descendants

PLAYBOOK = """
- hosts: localhost
  gather_facts: false
  connection: local
  tasks:
    - {name: Make a file, ansible.builtin.file: {path: PATH, state: touch, mode: "0600"}}
    - {name: Print a message, ansible.builtin.debug: {msg: first}}
    - {name: Print a message, ansible.builtin.debug: {msg: second}}
    - {name: Stop, ansible.builtin.assert: {that: false, fail_msg: "2 of 3 are needed: add one."}}
"""


@pytest.fixture
def playbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(play, "STATE", tmp_path)
    path = tmp_path / "play.yml"
    path.write_text(PLAYBOOK.replace("PATH", str(tmp_path / "made")))
    return str(path)


def test_a_play_is_recorded_and_its_error_is_reported(playbook: str) -> None:
    outcome = play.run([playbook])
    assert (outcome.code, outcome.changes) == (2, {"localhost": 1}) and not outcome.unchanged
    assert "[localhost]: FAILED! 2 of 3 are needed: add one." in outcome.said.replace("'", "")
    names = ["Make a file", "Print a message", "Print a message (2)", "Stop"]
    assert [str(step.point) for step in outcome.steps] == names
    assert [step.changed for step in outcome.steps] == [True, False, False, False]


def test_a_play_is_killed_when_a_task_begins(playbook: str) -> None:
    outcome = play.run([playbook], kill=Point("Print a message", 2))
    assert outcome.code is None and outcome.said == "killed in: Print a message (2)"
    assert [str(step.point) for step in outcome.steps] == ["Make a file", "Print a message", "Print a message (2)"]
    assert "second" not in outcome.output  # what the task before printed may be lost in Ansible's buffer


def test_a_play_is_killed_while_a_task_is_at_work(playbook: str) -> None:
    text = Path(playbook).read_text()
    Path(playbook).write_text(text.replace("ansible.builtin.debug: {msg: second}", "ansible.builtin.command: sleep 30"))
    outcome = play.run([playbook], kill=Point("Print a message", 2, 0.3))
    assert outcome.code is None and outcome.said == "killed in: Print a message (2)" and outcome.seconds < 20


def test_a_play_waits_at_a_task_until_the_fault_is_there(playbook: str, tmp_path: Path) -> None:
    seen: list[str] = []
    outcome = play.run(
        [playbook], hold=Point("Print a message"), fault=lambda: seen.append((tmp_path / "chaos/output").read_text())
    )
    assert outcome.code == 2 and len(seen) == 1 and "first" not in seen[0]


EFFECTS = """
- hosts: one:two
  gather_facts: false
  connection: local
  tasks:
    - {name: Make a file, ansible.builtin.command: "touch PATH-{{ inventory_hostname }}"}
    - {name: Look, ansible.builtin.debug: {msg: seen}}
    - {name: Take time, ansible.builtin.command: "sh -c 'echo {{ inventory_hostname }} >> PATH; sleep 5'", throttle: 1}
    - {name: Report, ansible.builtin.debug: {msg: reported}}
"""


@pytest.mark.parametrize(
    ("moment", "killed", "begun"),
    [
        (AFTER, ["Look", "Report"], ["one", "two", "one", "two"]),
        (MIDDLE, ["Take time", "Take time"], ["one", "one", "two", "one", "two"]),
    ],
)
def test_a_walk_kills_each_run_at_an_effect_of_its_own(
    moment: str, killed: list[str], begun: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task with throttle: one run is killed in the middle of the task on each host."""
    monkeypatch.setattr(play, "STATE", tmp_path)
    (tmp_path / "play.yml").write_text(EFFECTS.replace("PATH", str(tmp_path / "made")))
    python = f"ansible_python_interpreter={sys.executable}"
    (tmp_path / "hosts").write_text(f"one {python}\ntwo {python}\n")
    play.begin_walk({"Take time": 2.5})
    runs: list[Outcome] = []
    while not runs or runs[-1].code is None:
        runs.append(play.run(["-i", str(tmp_path / "hosts"), str(tmp_path / "play.yml")], kill=Point(moment)))
    assert [one.said for one in runs] == [*(f"{play.KILLED_IN}{task}" for task in killed), ""]
    assert (tmp_path / "made").read_text().split() == begun


OUTPUT = """
[ERROR]: Task failed: Failed to connect to the host via ssh: ssh: connect to host 10.89.1.4 port 22: No route to host
Origin: /p/playbooks/site.yml:19:7

fatal: [etcd-3]: UNREACHABLE! =>
    changed: false
    msg: |-
        Task failed: Failed to connect
        to the host via ssh
    unreachable: true

PLAY RECAP ****
etcd-1                     : ok=37   changed=2    unreachable=0    failed=0
etcd-3                     : ok=30   changed=0    unreachable=1    failed=0
"""


def test_says_how_a_play_ended() -> None:
    assert last_error(OUTPUT) == "[etcd-3]: UNREACHABLE! Task failed: Failed to connect to the host via ssh"
    assert last_error("PLAY RECAP\n") == ""
    assert last_error("[ERROR]: the file is missing\n  and more\n\n") == "the file is missing and more"
    assert changes(OUTPUT) == {"etcd-1": 2, "etcd-3": 0}
    assert len(shorten("word " * 200)) == play.MAX_MESSAGE


def test_a_kill_reaches_processes_in_sessions_of_their_own() -> None:
    with subprocess.Popen(["sh", "-c", "setsid sleep 60 & echo $!; wait"], stdout=subprocess.PIPE, text=True) as shell:
        assert shell.stdout
        sleeper = int(shell.stdout.readline())
        found = descendants(os.getpid())
        kill_with_descendants(shell.pid)
        shell.stdout.read()  # ends when the last process that could write has ended
    assert {shell.pid, sleeper} <= found and shell.returncode == -signal.SIGKILL
