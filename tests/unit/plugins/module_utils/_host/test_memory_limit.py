# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The memory limit is restored in every case, also by the next process; a fake systemctl records its arguments."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._host import memory_limit

COLLECTIONS = str(Path(memory_limit.__file__).parents[6])

# Keeps the properties of the unit in a file, and leaves the files below /run that the real one leaves.
SYSTEMCTL = """#!{python}
import json, sys
from pathlib import Path
home = Path({home!r})
words = [word for word in sys.argv[1:] if word != "--quiet"]
with (home / "told").open("a") as told:
    told.write(" ".join(words) + chr(10))
state = json.loads((home / "state").read_text())
if words[0] == "show":
    print(chr(10).join("%s=%s" % pair for pair in state.items()))
elif words[0] == "set-property":
    if (home / "refuse").exists():
        sys.exit("Failed to set unit properties: Access denied")
    folder = home / "control" / (words[2] + ".d")
    folder.mkdir(parents=True, exist_ok=True)
    for word in words[3:]:
        name, value = word.split("=")
        state[name] = value
        (folder / ("50-%s.conf" % name)).write_text(value)
    (home / "state").write_text(json.dumps(state))
"""


# Raises the limit, says so, and keeps it raised until a line or a signal arrives.
OTHER_RUN = """
import sys
from pathlib import Path
from ansible_collections.etcdops.headroom.plugins.module_utils._host import memory_limit
home = Path(sys.argv[1])
memory_limit.CONTROL, memory_limit.SAVED_LIMITS = home / "control", home / "saved"
with memory_limit.raised("etcd.service", 5000, lambda: False):
    print("raised", flush=True)
    sys.stdin.readline()
"""


def other_run(home: Path) -> subprocess.Popen[str]:
    """Start another process that has raised the limit."""
    command = [sys.executable, "-c", OTHER_RUN, str(home)]
    # ansible-test loads collections by a hook of its own, which a new process does not have.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [COLLECTIONS, *sys.path]))}
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/", env=environment
    )
    assert process.stdout is not None and process.stdout.readline() == "raised\n"
    return process


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for systemd's files, with its systemctl first on the path."""
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "systemctl"
    script.write_text(SYSTEMCTL.format(python=os.path.realpath(sys.executable), home=str(tmp_path)))
    script.chmod(0o755)
    (tmp_path / "state").write_text(json.dumps({**BEFORE, "MainPID": "0"}))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setattr(memory_limit, "CONTROL", tmp_path / "control")
    monkeypatch.setattr(memory_limit, "SAVED_LIMITS", tmp_path / "saved")
    return tmp_path


def limits(home: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads((home / "state").read_text())
    return {name: found[name] for name in BEFORE}


def idle() -> bool:
    return False


BEFORE = {"MemoryMax": "1000", "MemoryHigh": "900"}


def test_raised_and_put_back(home: Path) -> None:
    with memory_limit.raised("etcd.service", 5000, idle) as raising:
        assert limits(home) == {"MemoryMax": "5000", "MemoryHigh": "5000"}
        assert json.loads((home / "saved" / "etcd.service.limit.json").read_text()) == BEFORE
    assert (raising.problem, limits(home)) == ("", BEFORE)
    assert not (home / "control" / "etcd.service.d").exists()  # the unit's own files count again
    assert (home / "told").read_text().splitlines()[-1] == "daemon-reload"
    assert [path.name for path in (home / "saved").iterdir()] == ["etcd.service.limit.lock"]


@pytest.mark.parametrize(
    ("before", "during"),
    [
        ({"MemoryMax": "1000", "MemoryHigh": "infinity"}, {"MemoryMax": "5000", "MemoryHigh": "infinity"}),
        ({"MemoryMax": "infinity", "MemoryHigh": "900"}, {"MemoryMax": "infinity", "MemoryHigh": "5000"}),
        ({"MemoryMax": "6000", "MemoryHigh": "900"}, {"MemoryMax": "6000", "MemoryHigh": "5000"}),
    ],
)
def test_a_limit_that_is_high_enough_is_never_lowered(
    home: Path, before: dict[str, str], during: dict[str, str]
) -> None:
    (home / "state").write_text(json.dumps({**before, "MainPID": "0"}))
    with memory_limit.raised("etcd.service", 5000, idle):
        assert limits(home) == during
    assert limits(home) == before


@pytest.mark.parametrize(
    ("before", "rss_anon", "stays"),
    [
        ({"MemoryMax": "1000", "MemoryHigh": "900"}, 900, False),
        ({"MemoryMax": "1000", "MemoryHigh": "900"}, 901, True),  # the kernel would throttle it
        ({"MemoryMax": "1000", "MemoryHigh": "infinity"}, 901, False),
        ({"MemoryMax": "1000", "MemoryHigh": "infinity"}, 1001, True),
        ({"MemoryMax": "infinity", "MemoryHigh": "900"}, 901, True),
    ],
)
def test_the_limit_stays_until_the_process_is_below_both(
    home: Path, monkeypatch: pytest.MonkeyPatch, before: dict[str, str], rss_anon: int, stays: bool
) -> None:
    (home / "state").write_text(json.dumps({**before, "MainPID": "1"}))
    monkeypatch.setattr(memory_limit, "read_process", lambda *_arguments: {"rss_anon": rss_anon})
    monkeypatch.setattr(memory_limit, "_main_pid", lambda _unit: 1)
    monkeypatch.setattr(memory_limit, "_SPARE", 0)
    monkeypatch.setattr(memory_limit, "PATIENCE_SECONDS", 0.0)
    with memory_limit.raised("etcd.service", 5000, idle) as raising:
        pass
    assert bool(raising.problem) is stays and (limits(home) != before) is stays
    assert not stays or f"still has {rss_anon} bytes of heap" in raising.problem


def test_put_back_after_an_error(home: Path) -> None:
    with pytest.raises(KeyError), memory_limit.raised("etcd.service", 5000, idle):
        raise KeyError("the defragmentation")
    assert limits(home) == BEFORE


def test_put_back_by_the_next_process(home: Path) -> None:
    assert memory_limit.restore("etcd.service", idle) == ""
    assert not (home / "told").exists()  # nobody left a note: systemd is not even asked
    with other_run(home) as killed:
        killed.kill()
    assert limits(home)["MemoryMax"] == "5000"
    assert memory_limit.restore("etcd.service", idle) == ""
    assert limits(home) == BEFORE
    with other_run(home) as killed:
        killed.kill()
    with memory_limit.raised("etcd.service", 6000, idle):
        assert limits(home)["MemoryMax"] == "6000"
    assert limits(home) == BEFORE


def test_only_the_process_that_raised_the_limit_restores_it(home: Path) -> None:
    with other_run(home) as first:
        assert memory_limit.restore("etcd.service", idle) == ""
        assert limits(home)["MemoryMax"] == "5000", "the first run is not over"
        with (
            pytest.raises(memory_limit.LimitError, match="another defragmentation on this host has raised the limit"),
            memory_limit.raised("etcd.service", 6000, idle),
        ):
            pytest.fail("the block must not run")
        assert limits(home)["MemoryMax"] == "5000"
        first.communicate("\n", timeout=60)
        assert first.returncode == 0
    assert limits(home) == BEFORE
    with memory_limit.raised("etcd.service", 6000, idle):
        assert limits(home)["MemoryMax"] == "6000"


def test_a_limit_that_stays_raised_is_not_taken_for_the_original_one(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(memory_limit, "_wait_below", lambda *_arguments: "the process still has 2000 bytes of heap")
        with memory_limit.raised("etcd.service", 5000, idle) as first:
            pass
        assert first.problem and limits(home)["MemoryMax"] == "5000"
        with memory_limit.raised("etcd.service", 6000, idle):
            assert json.loads((home / "saved" / "etcd.service.limit.json").read_text()) == BEFORE
    assert memory_limit.restore("etcd.service", idle) == ""
    assert limits(home) == BEFORE


def test_the_limit_stays_while_the_work_continues_without_the_run(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """etcd continues a defragmentation whose client timed out or was killed."""
    answers = [True, True, False]
    monkeypatch.setattr(memory_limit, "read_process", lambda *_arguments: {"rss_anon": 1})
    monkeypatch.setattr(memory_limit, "_main_pid", lambda _unit: 1)
    monkeypatch.setattr(memory_limit.time, "sleep", lambda _seconds: None)
    monkeypatch.setattr(memory_limit, "_SPARE", 0)

    def busy() -> bool:
        assert limits(home)["MemoryMax"] == "5000"
        return answers.pop(0)

    with memory_limit.raised("etcd.service", 5000, busy):
        pass
    assert (answers, limits(home)) == ([], BEFORE)
    monkeypatch.setattr(memory_limit, "PATIENCE_SECONDS", 0.0)
    with memory_limit.raised("etcd.service", 5000, lambda: True) as raising:
        pass
    assert raising.problem == "the limit of etcd.service stays raised until the next run: the process is still at work"
    assert limits(home)["MemoryMax"] == "5000"
    assert memory_limit.restore("etcd.service", idle) == "" and limits(home) == BEFORE


@pytest.mark.parametrize(
    ("answers", "reason"),
    [([], "is unknown, because systemd does not answer"), ([{"MainPID": "1"}], "cannot be inspected")],
)
def test_the_limit_stays_while_the_process_cannot_be_seen(
    home: Path, monkeypatch: pytest.MonkeyPatch, answers: list[dict[str, str]], reason: str
) -> None:
    monkeypatch.setattr(memory_limit.systemd, "properties", lambda *_arguments: answers)
    monkeypatch.setattr(memory_limit, "read_process", lambda *_arguments: None)
    monkeypatch.setattr(memory_limit, "PATIENCE_SECONDS", 0.0)
    with memory_limit.raised("etcd.service", 5000, idle) as raising:
        pass
    assert raising.problem == f"the limit of etcd.service stays raised until the next run: the process {reason}"
    assert limits(home)["MemoryMax"] == "5000"


def test_systemd_refuses(home: Path) -> None:
    (home / "refuse").touch()
    with pytest.raises(memory_limit.LimitError, match="Access denied"), memory_limit.raised("etcd.service", 5000, idle):
        pytest.fail("the block must not run")
    assert limits(home) == BEFORE
