# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd_priority as Ansible runs it, on a real process with several threads."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.etcdops.headroom.plugins.module_utils._host import owners, systemd
from ansible_collections.etcdops.headroom.plugins.modules import etcd_priority

NAME = f"threads-{os.getpid()}"  # tests may run beside one another
PROGRAM = """
import threading, time
for number in range(4):
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print("ready", flush=True)
time.sleep(60)
"""


def run(capsys: pytest.CaptureFixture[str], **arguments: Any) -> dict[str, Any]:
    """The module's result."""
    with patch_module_args(arguments), pytest.raises(SystemExit):
        etcd_priority.main()
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


@pytest.fixture
def program(tmp_path: Path) -> str:
    """An interpreter with a name of its own: a process is called as its file is, at most 15 characters."""
    real = shutil.which("python3")
    assert real
    path = tmp_path / NAME
    path.symlink_to(Path(real).resolve())
    return str(path)


def start(program: str) -> subprocess.Popen[bytes]:
    child = subprocess.Popen([program, "-c", PROGRAM], stdout=subprocess.PIPE)
    assert child.stdout and child.stdout.readline() == b"ready\n"
    return child


@pytest.fixture
def process(program: str) -> Iterator[subprocess.Popen[bytes]]:
    with start(program) as child:
        yield child
        child.kill()


def test_every_thread_and_then_nothing(capsys: pytest.CaptureFixture[str], process: subprocess.Popen[bytes]) -> None:
    asked = {"name": NAME, "io_class": "best-effort", "io_priority": 6, "nice": 5}
    before = run(capsys, **asked, _ansible_check_mode=True)
    assert before["changed"] and len(before["differing"]) == 5 and before["pid"] == process.pid
    assert f"5 of 5 threads of process {process.pid}" in before["msg"] and "best-effort/6, nice 5" in before["msg"]
    assert before["io_classes"] == before["diff"]["before"]["io_classes"] != before["diff"]["after"]["io_classes"]

    done = run(capsys, **asked)
    assert done["changed"] and done["io_classes"] == {"best-effort/6": 5} and done["nice"] == {"5": 5}
    assert done["diff"]["after"] == before["diff"]["after"]

    for mode in (False, True):
        again = run(capsys, **asked, _ansible_check_mode=mode)
        assert not again["changed"] and again["differing"] == []
        assert again["diff"]["before"] == again["diff"]["after"]
        assert again["msg"].startswith("All 5 threads")


def test_nothing_asked(capsys: pytest.CaptureFixture[str], process: subprocess.Popen[bytes]) -> None:
    found = run(capsys, pid=process.pid)
    assert not found["changed"] and "No priority was requested" in found["msg"] and found["effect"] == []
    assert found["managed"] is False and found["disks"] == []


def test_several_processes_are_listed(
    capsys: pytest.CaptureFixture[str], program: str, process: subprocess.Popen[bytes]
) -> None:
    with start(program) as other:
        found = run(capsys, name=NAME, io_class="idle")
        other.kill()
    assert found["failed"] and f"2 processes are called {NAME}" in found["msg"]
    assert str(process.pid) in found["msg"] and str(other.pid) in found["msg"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"io_class": "realtime"}, "refused"),
        ({"io_class": "best-effort", "io_priority": 9}, "io_priority is 9"),
        ({"nice": 40}, "nice is 40"),
        ({"io_weight": 0}, "io_weight is 0"),
        ({"cpu_weight": 20000}, "cpu_weight is 20000"),
    ],
)
def test_bad_input_changes_nothing(
    capsys: pytest.CaptureFixture[str], process: subprocess.Popen[bytes], arguments: dict[str, Any], text: str
) -> None:
    before = run(capsys, pid=process.pid)
    found = run(capsys, pid=process.pid, **arguments)
    assert found["failed"] and text in found["msg"]
    assert run(capsys, pid=process.pid)["threads"] == before["threads"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"name": "no-such-program"}, "No process is called no-such-program"),
        ({"pid": 2**22 + 1}, "There is no process 4194305"),
        ({"unit": "a.service", "pid": 1}, "mutually exclusive"),
    ],
)
def test_no_process(capsys: pytest.CaptureFixture[str], arguments: dict[str, Any], text: str) -> None:
    found = run(capsys, io_class="idle", **arguments)
    assert found["failed"] and text in found["msg"]


@pytest.mark.parametrize(
    ("shown", "state"),
    [
        ("LoadState=not-found\nActiveState=inactive\n", "is unknown to systemd"),
        ("LoadState=loaded\nActiveState=failed\n", "is failed"),
        ("", "is not reported by systemctl"),
    ],
)
def test_a_unit_without_a_process(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, shown: str, state: str
) -> None:
    monkeypatch.setattr(systemd, "show", lambda name, _timeout: systemd.parse_show(name, shown))
    found = run(capsys, io_class="idle", unit="my-etcd.service")
    assert found["failed"] and f"my-etcd.service {state}, so it has no process" in found["msg"]


def unit_with(monkeypatch: pytest.MonkeyPatch, pid: int) -> None:
    """Let systemd name a main process for every unit."""
    found = systemd.parse_show("my-etcd.service", f"LoadState=loaded\nActiveState=active\nMainPID={pid}\n")
    monkeypatch.setattr(systemd, "show", lambda name, timeout: found)


def test_main_process_of_a_unit_that_is_not_etcd_is_refused(
    capsys: pytest.CaptureFixture[str], process: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A unit that runs docker or a shell: etcd is another process."""
    unit_with(monkeypatch, process.pid)
    before = run(capsys, pid=process.pid)["threads"]
    found = run(capsys, unit="my-etcd.service", io_class="idle")
    assert found["failed"] and found["msg"].startswith(
        f"The main process of my-etcd.service is {NAME[:15]} (process {process.pid}), not etcd, and has no database or log of etcd open"
    )
    assert run(capsys, pid=process.pid)["threads"] == before
    # By the name that the user gives, and by what it has open.
    assert "failed" not in run(capsys, unit="my-etcd.service", name=NAME)
    monkeypatch.setattr(owners, "etcd_disks", lambda pid: [{"volume": "wal", "disk": "sda", "scheduler": "none"}])
    assert "failed" not in run(capsys, unit="my-etcd.service")
