# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A unit's state and its journal, as systemd 252 and etcd print them, and commands that fail."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._host import systemd

RUNNING = """MainPID=685
Result=success
NRestarts=0
ExecMainCode=0
ExecMainStatus=0
LoadState=loaded
ActiveState=active
SubState=running
ActiveEnterTimestamp=Sat 2026-11-21 05:57:57 UTC
Job=
InvocationID=a90bb58e8b5a489ba1ae26eaefaa2e77
"""
CRASHING = """MainPID=0
Result=exit-code
NRestarts=3
ExecMainStatus=1
LoadState=loaded
ActiveState=activating
SubState=auto-restart
Job=
InvocationID=
"""


def test_running() -> None:
    unit = systemd.parse_show("etcd.service", RUNNING)
    assert (unit.load_state, unit.active_state, unit.sub_state) == ("loaded", "active", "running")
    assert (unit.pid, unit.restarts, unit.job, unit.crash_loops) == (685, 0, False, False)
    assert unit.invocation == "a90bb58e8b5a489ba1ae26eaefaa2e77"


@pytest.mark.parametrize(
    ("change", "crash_loops"),
    [
        (("", ""), True),
        (("NRestarts=3", "NRestarts=2"), False),
        (("auto-restart", "start"), False),
        (("ActiveState=activating\nSubState=auto-restart", "ActiveState=failed\nSubState=failed"), True),
    ],
)
def test_crash_loop(change: tuple[str, str], crash_loops: bool) -> None:
    unit = systemd.parse_show("etcd.service", CRASHING.replace(*change))
    assert (unit.crash_loops, unit.pid, unit.exit_status) == (crash_loops, None, 1)


def test_a_job_is_pending() -> None:
    assert systemd.parse_show("etcd.service", RUNNING.replace("Job=", "Job=762")).job


@pytest.mark.parametrize(
    ("text", "load_state"),
    [
        ("LoadState=not-found\nActiveState=inactive\n", "not-found"),
        ("", ""),
        ("Failed to connect to bus: No such file or directory", ""),
    ],
    ids=["no such unit", "no output", "no bus"],
)
def test_an_answer_without_the_unit_is_not_that_there_is_none(text: str, load_state: str) -> None:
    unit = systemd.parse_show("etcd.service", text)
    assert (unit.load_state, unit.active_state, unit.pid) == (load_state, "inactive", None)


def test_a_slow_systemctl_does_not_say_that_there_is_no_unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "systemctl"
    fake.write_text("#!/bin/sh\nexec sleep 20\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert systemd.show("etcd.service", 0.1).load_state == ""


def test_properties_keep_equal_signs_in_values() -> None:
    assert systemd.parse_properties("A=b=c\nMainPID=12\n\nnoise\n") == {"A": "b=c", "MainPID": "12"}


def test_properties_of_several_units(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "systemctl"
    fake.write_text(
        '#!/bin/sh\n[ "$*" = "show a.timer a.service --property=Id" ] && printf "Id=a.timer\\n\\nId=a.service\\n"\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert systemd.properties(["a.timer", "a.service"], ["Id"], 10) == [{"Id": "a.timer"}, {"Id": "a.service"}]


def test_no_systemd_reports_no_properties(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert systemd.properties(["etcd.service"], ["Id"], 10) == []


START = '{"level":"info","msg":"starting an etcd server","etcd-version":"3.7.3","name":"a"}'


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (START, "a"),
        ('{"level":"info","msg":"x","y":"starting an etcd server"}', None),
        ("starting an etcd server", None),
        ('{"msg":"ready"}', None),
    ],
)
def test_start_record(line: str, name: str | None) -> None:
    record = systemd.parse_start_record(line)
    assert (record or {}).get("name") == name


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (
            '{"level":"warn","ts":"2026-11-21T05:56:55.809198Z","caller":"etcdmain/etcd.go:65","msg":"failed to verify '
            'flags","error":"error unmarshaling JSON"}',
            "warn: failed to verify flags: error unmarshaling JSON",
        ),
        (
            '{"level":"info","caller":"x","msg":"Running: ","args":["/usr/local/bin/etcd"]}',
            'info: Running: args=["/usr/local/bin/etcd"]',
        ),
        ('{"level":"fatal","msg":"failed","path":"/x","error":"no space","stacktrace":"a\\nb"}',
         "fatal: failed: no space, path=/x"),
        (START, "info: starting an etcd server 3.7.3"),
        ("etcd.service: Failed with result 'exit-code'.", "etcd.service: Failed with result 'exit-code'."),
        ("panic: freepages: failed", "panic: freepages: failed"),
        ("[1, 2]", "[1, 2]"),
        ('{"level":"info"}', '{"level":"info"}'),
    ],
)  # fmt: skip
def test_readable(line: str, text: str) -> None:
    assert systemd.readable(line) == text


SHUTDOWN = ["error: setting up serving from embedded etcd failed.: http: Server closed", "Stopped etcd.service - etcd."]


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ([], ""),
        (["info: all well"], ""),
        ([*SHUTDOWN, "Starting etcd.service - etcd...", "warn: failed to verify flags"], "failed to verify flags"),
        (["Starting etcd", "fatal: a", "error: b", "warn: c"], "a"),
        (["Starting etcd", "error: a", "error: b", "Starting etcd"], "b"),
        (["panic: runtime error", "goroutine 1 [running]:"], "runtime error"),
    ],
)
def test_cause(lines: list[str], text: str) -> None:
    assert systemd.cause(lines) == text


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo masked >&2; exit 1", "systemctl enable a.timer: masked"),
        ("exit 3", "systemctl enable a.timer: exit status 3"),
        # Runs far beyond the limit of one second, which ends it.
        ("exec sleep 60", "systemctl enable a.timer did not end within 1 s: see journalctl -b"),
    ],
)
def test_a_command_of_systemctl_that_fails(
    script: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "systemctl"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(systemd, "SYSTEMCTL_SECONDS", 1)
    with pytest.raises(ValueError) as problem:
        systemd.systemctl(["enable", "a.timer"])
    assert str(problem.value) == message


def test_a_command_without_systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match=r"systemctl daemon-reload: .*No such file"):
        systemd.systemctl(["daemon-reload"])
