# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run etcd_disk_check with fio, with a recorded answer of fio, and with programs that fail."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.etcdops.headroom.plugins.module_utils._host import mounts
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import disk_check
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import fio as storage_fio
from ansible_collections.etcdops.headroom.plugins.modules import etcd_disk_check

ANSWER = Path(__file__).parent.parent / "module_utils/_storage/fio/3.33-loop-ext4.json"


def run(capsys: pytest.CaptureFixture[str], **arguments: Any) -> dict[str, Any]:
    """The module's result."""
    with patch_module_args(arguments), pytest.raises(SystemExit):
        etcd_disk_check.main()
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


@pytest.fixture(name="fio")
def fake_fio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program called fio, first in PATH, that counts its runs and answers as fio did once."""
    program = tmp_path / "bin/fio"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho >> '{tmp_path}/runs'\ncat '{ANSWER}'\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return program


@pytest.fixture(name="disk")
def disk_folder(tmp_path: Path) -> Path:
    """An empty folder on a real filesystem."""
    folder = tmp_path / "a folder: with a colon"
    folder.mkdir()
    mount = mounts.mount_of(str(folder), mounts.read_mounts())
    if mount is None or mount.fstype in storage_fio.REFUSED_FILESYSTEMS:
        pytest.skip("the folder for temporary files is on no disk")
    return folder


@pytest.fixture(name="state")
def state_folder(tmp_path: Path) -> str:
    """Where figures are kept; not made yet."""
    return str(tmp_path / "state")


def test_result_is_stored_and_reused(
    capsys: pytest.CaptureFixture[str], fio: Path, disk: Path, state: str, tmp_path: Path
) -> None:
    once = {"path": str(disk), "state_dir": state, "repeats": 1, "warmup": 0}
    first = run(capsys, **once)
    assert (first["changed"], first["cached"], first["verdict"], first["p99_us"]) == (True, False, "ok", 1729)
    again = run(capsys, **once)
    assert (again["changed"], again["cached"], again["verdict"], again["p99_us"]) == (False, True, "ok", 1729)
    assert run(capsys, **once, force=True)["changed"]
    assert run(capsys, **once, max_age=0)["changed"]
    assert (tmp_path / "runs").read_text(encoding="utf-8") == "\n" * 3
    assert list(disk.iterdir()) == []


def test_three_runs_after_a_warm_up_by_default(
    capsys: pytest.CaptureFixture[str], fio: Path, disk: Path, state: str, tmp_path: Path
) -> None:
    """A run that is slower than the others shows in the spread, not in the verdict's figure."""
    slow = tmp_path / "slow.json"
    slow.write_text(ANSWER.read_text(encoding="utf-8").replace("1728512", "9000000"), encoding="utf-8")
    fio.write_text(
        f"#!/bin/sh\necho >> '{tmp_path}/runs'\n"
        f"case $(wc -l < '{tmp_path}/runs') in 3) cat '{slow}';; *) cat '{ANSWER}';; esac\n",
        encoding="utf-8",
    )
    result = run(capsys, path=str(disk), state_dir=state)
    assert (tmp_path / "runs").read_text(encoding="utf-8") == "\n" * 4
    assert (result["p99_us"], result["p99_runs_us"], result["samples"]) == (1729, [1729, 9000, 1729], 3 * 10029)
    assert (result["verdict"], result["spread_percent"], result["warn_us"]) == ("warn", 421, 5000)
    assert "The runs differ by 421 %" in result["msg"]
    kept = run(capsys, path=str(disk), state_dir=state)
    assert kept["cached"] and kept["p99_runs_us"] == [1729, 9000, 1729]
    assert list(disk.iterdir()) == []


def answer_with(samples: int, folder: Path) -> Path:
    """Return a file with fio's answer to a run of this many fdatasync calls."""
    path = folder / f"{samples}.json"
    path.write_text(ANSWER.read_text(encoding="utf-8").replace('"N" : 10029', f'"N" : {samples}'), encoding="utf-8")
    return path


def test_too_few_writes_are_followed_by_more_runs(
    capsys: pytest.CaptureFixture[str], fio: Path, disk: Path, state: str, tmp_path: Path
) -> None:
    """Three runs of 161 calls each, as on a machine whose load was 25, are too few, and seven are enough."""
    few = answer_with(161, tmp_path)
    fio.write_text(f"#!/bin/sh\necho >> '{tmp_path}/runs'\ncat '{few}'\n", encoding="utf-8")
    result = run(capsys, path=str(disk), state_dir=state, warmup=0)
    assert (result["verdict"], result["samples"], len(result["p99_runs_us"])) == ("ok", 7 * 161, 7)


def test_further_runs_end_in_time(
    capsys: pytest.CaptureFixture[str], fio: Path, disk: Path, state: str, tmp_path: Path
) -> None:
    few = answer_with(2, tmp_path)
    fio.write_text(f"#!/bin/sh\necho >> '{tmp_path}/runs'\nsleep 1\ncat '{few}'\n", encoding="utf-8")
    result = run(capsys, path=str(disk), state_dir=state, warmup=0, timeout=1)
    assert result["failed"] and "a 99th percentile needs 1000" in result["msg"]
    assert 2 <= len((tmp_path / "runs").read_text(encoding="utf-8")) <= disk_check.MAX_TIMEOUTS
    assert list(disk.iterdir()) == []


def test_each_profile_keeps_its_own_figures(
    capsys: pytest.CaptureFixture[str], fio: Path, disk: Path, state: str
) -> None:
    for profile, size in (("etcd", 23068672), ("rke2", 104857600), ("openshift", 104857600)):
        first = run(capsys, path=str(disk), state_dir=state, profile=profile)
        assert first["changed"] and f"--size={size}" in first["command"]
    for profile in ("etcd", "rke2", "openshift"):
        assert run(capsys, path=str(disk), state_dir=state, profile=profile)["cached"]
    assert len(os.listdir(state)) == 3


@pytest.mark.parametrize("name", ["member/snap/db", "data/member/wal/0-0.wal", "0-0.wal"])
def test_directory_of_a_running_member_is_refused(
    capsys: pytest.CaptureFixture[str], fio: Path, disk: Path, state: str, tmp_path: Path, name: str
) -> None:
    held = disk / name
    held.parent.mkdir(parents=True, exist_ok=True)
    held.touch()
    assert run(capsys, path=str(disk), state_dir=state)["changed"], "a stopped member does not prevent the measurement"
    with held.open("rb") as member:
        fcntl.flock(member, fcntl.LOCK_EX)
        result = run(capsys, path=str(disk), state_dir=state, force=True)
        assert result["failed"] and f"which has {held} locked" in result["msg"]
        assert run(capsys, path=str(disk), state_dir=state, force=True, allow_running_member=True)["changed"]


def test_slow_disk_fails_with_its_latency_and_is_measured_again(
    capsys: pytest.CaptureFixture[str], fio: Path, disk: Path, state: str
) -> None:
    slow = run(capsys, path=str(disk), state_dir=state, fsync_p99_max_ms=1)
    assert (
        slow["failed"]
        and slow["verdict"] == "fail"
        and slow["p99_us"] == 1729
        and "the limit is 1.00 ms" in slow["msg"]
    )
    assert not run(capsys, path=str(disk), state_dir=state, fsync_p99_max_ms=1)["cached"]
    seen = run(capsys, path=str(disk), state_dir=state, fsync_p99_max_ms=1, fail_on_slow=False)
    assert seen["cached"] and seen["verdict"] == "fail" and "failed" not in seen


def test_inconclusive_result_is_not_reused_under_a_higher_limit(
    capsys: pytest.CaptureFixture[str], fio: Path, disk: Path, state: str
) -> None:
    fio.write_text(f"#!/bin/sh\ncat '{ANSWER.with_name('3.33-one-second.json')}'\n", encoding="utf-8")
    arguments = {"path": str(disk), "state_dir": state, "fail_on_slow": False, "repeats": 1}
    assert run(capsys, **arguments, fsync_p99_max_ms=0.001)["verdict"] == "fail"
    fio.write_text(f"#!/bin/sh\ncat '{ANSWER}'\n", encoding="utf-8")
    again = run(capsys, **arguments)
    assert (again["verdict"], again["changed"]) == ("ok", True)


def test_cached_only_never_measures(capsys: pytest.CaptureFixture[str], fio: Path, disk: Path, state: str) -> None:
    before = run(capsys, path=str(disk), state_dir=state, cached_only=True)
    assert (before["verdict"], before["changed"]) == ("unknown", False)
    run(capsys, path=str(disk), state_dir=state)
    after = run(capsys, path=str(disk), state_dir=state, cached_only=True, max_age=0)
    assert (after["verdict"], after["cached"]) == ("ok", True)


def test_check_mode_returns_the_command(
    capsys: pytest.CaptureFixture[str], fio: Path, disk: Path, state: str, tmp_path: Path
) -> None:
    result = run(capsys, path=str(disk), state_dir=state, _ansible_check_mode=True)
    assert result["changed"] and result["verdict"] == "unknown" and "fio --name=etcd --rw=write" in result["msg"]
    assert "3 times, after 1 s of warm-up" in result["msg"]
    assert not (tmp_path / "runs").exists() and not os.path.exists(state)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo 'fio: garbage'", "It printed: fio: garbage"),
        ("exit 3", "It printed: nothing"),
        (
            'echo \'{"jobs": [{"error": 0, "sync": {"lat_ns": {"N": 0}}, "write": {}}]}\'',
            "reported no fdatasync call",
        ),
        ("kill -9 $$", "killed by signal 9"),
        ("sleep 60", "did not end within 1 s"),
    ],
)
def test_fio_that_fails(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    fio: Path,
    disk: Path,
    state: str,
    script: str,
    message: str,
) -> None:
    fio.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    monkeypatch.setattr(disk_check, "GRACE_SECONDS", 0)
    result = run(capsys, path=str(disk), state_dir=state, timeout=1 if "did not end" in message else 60)
    assert result["failed"] and message in result["msg"]
    assert list(disk.iterdir()) == [] and os.listdir(state) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": "/dev/shm"}, "is on tmpfs, which is memory"),
        ({"path": "/no/such/folder"}, "is not a directory on this host"),
        ({"fsync_p99_max_ms": 0}, "fsync_p99_max_ms is 0.0, but must be a number of milliseconds above 0"),
        ({"fsync_p99_max_ms": -1}, "fsync_p99_max_ms is -1.0, but must be a number of milliseconds above 0"),
        ({"fsync_p99_max_ms": "nan"}, "fsync_p99_max_ms is nan, but must be a number of milliseconds above 0"),
        ({"fsync_p99_warn_ms": 0}, "fsync_p99_warn_ms is 0.0, but must be a number of milliseconds above 0"),
        ({"fsync_p99_warn_ms": 11}, "fsync_p99_warn_ms is 11.0, above fsync_p99_max_ms (10.0)"),
        ({"timeout": 0}, "timeout is 0, but must be 1 to 600 seconds"),
        ({"repeats": 0}, "repeats is 0, but must be 1 to 9, for example 3"),
        ({"warmup": 61}, "warmup is 61, but must be 0 to 60 seconds"),
        ({"state_dir": "/dev/null/state"}, "state_dir is /dev/null/state, but /dev/null is not a directory"),
    ],
)
def test_refusals(
    capsys: pytest.CaptureFixture[str], fio: Path, disk: Path, arguments: dict[str, Any], message: str, tmp_path: Path
) -> None:
    result = run(capsys, **{"path": str(disk), "state_dir": str(tmp_path / "state"), **arguments})
    assert result["failed"] and message in result["msg"]
    assert not (tmp_path / "runs").exists()


def test_missing_fio_names_the_package(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, disk: Path, state: str, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = run(capsys, path=str(disk), state_dir=state)
    assert result["failed"] and "fio is not installed on this host" in result["msg"]


def test_fio_that_cannot_be_executed(capsys: pytest.CaptureFixture[str], fio: Path, disk: Path, state: str) -> None:
    fio.write_text("#!/no/such/interpreter\n", encoding="utf-8")
    result = run(capsys, path=str(disk), state_dir=state)
    assert result["failed"] and "cannot be run (No such file or directory): reinstall fio" in result["msg"]
    assert list(disk.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("which", ["path", "state_dir"])
def test_without_permission(
    capsys: pytest.CaptureFixture[str], fio: Path, disk: Path, state: str, which: str, tmp_path: Path
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    result = run(capsys, **{"path": str(disk), "state_dir": state, which: str(closed)})
    assert result["failed"] and "cannot be written by user" in result["msg"] and "become: true" in result["msg"]
    assert not (tmp_path / "runs").exists()


def test_too_little_free_space(disk: Path) -> None:
    """Use a pattern larger than any disk instead of filling one."""
    volume = disk_check.Volume(str(disk))
    huge = storage_fio.Profile("huge", block_bytes=2300, total_bytes=1 << 62, timeout=30)
    problem = disk_check.measurement_problem(str(disk), volume, huge, allow_running_member=False)
    assert problem and "MiB free, and the measurement needs 8796093022208 MiB" in problem


def test_leftovers_of_killed_runs_are_removed(
    capsys: pytest.CaptureFixture[str], fio: Path, disk: Path, state: str
) -> None:
    old, young = disk / ".headroom-fio-old", disk / ".headroom-fio-young"
    old.touch()
    young.touch()
    os.utime(old, (1, 1))
    run(capsys, path=str(disk), state_dir=state)
    assert list(disk.iterdir()) == [young]


def lock(state: str) -> int:
    """Return a handle that holds the lock of a measurement."""
    os.makedirs(state)
    handle = os.open(state, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    return handle


def test_waits_for_another_measurement_and_uses_its_result(
    capsys: pytest.CaptureFixture[str],
    fio: Path,
    disk: Path,
    state: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The module of a play that was killed goes on in the background."""
    run(capsys, path=str(disk), state_dir=str(tmp_path / "other"))
    handle = lock(state)

    def sleep(_seconds: float) -> None:
        monkeypatch.undo()
        for record in (tmp_path / "other").iterdir():
            shutil.copy(record, state)
        os.close(handle)

    monkeypatch.setattr(time, "sleep", sleep)
    result = run(capsys, path=str(disk), state_dir=state)
    assert (result["changed"], result["cached"], result["verdict"]) == (False, True, "ok")


def test_waits_no_longer_than_the_time_limit_allows(
    capsys: pytest.CaptureFixture[str], fio: Path, disk: Path, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_check, "wait_seconds", lambda _seconds: 0)
    handle = lock(state)
    result = run(capsys, path=str(disk), state_dir=state)
    os.close(handle)
    assert result["failed"] and "another process has measured a disk of this host for 0 s" in result["msg"]
    assert list(disk.iterdir()) == []


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_fio_itself(capsys: pytest.CaptureFixture[str], disk: Path, state: str) -> None:
    result = run(
        capsys, path=str(disk), state_dir=state, timeout=1, fsync_p99_max_ms=0.000001 * 1000, fail_on_slow=False
    )
    assert result["verdict"] == "fail" and result["samples"] > 0 and result["fio_version"].startswith("fio-")
    assert list(disk.iterdir()) == []


def test_interrupted_run_leaves_no_files(fio: Path, disk: Path, tmp_path: Path) -> None:
    fio.write_text(f"#!/bin/sh\necho $$ > '{tmp_path}/pid'\nexec sleep 60\n", encoding="utf-8")
    arguments = json.dumps({"ANSIBLE_MODULE_ARGS": {"path": str(disk), "state_dir": str(tmp_path / "state")}})
    collections = str(Path(etcd_disk_check.__file__).parents[5])
    with subprocess.Popen(
        [sys.executable, etcd_disk_check.__file__, arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": collections},
    ) as module:
        # The module sleeps once it waits for fio; before that, a signal may come between fio's start and the code that ends it.
        stat = Path(f"/proc/{module.pid}/stat")
        for _attempt in range(200):
            started = (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(encoding="utf-8")
            if started and stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "S":
                break
            time.sleep(0.05)
        child = int((tmp_path / "pid").read_text(encoding="utf-8"))
        assert len(list(disk.iterdir())) == 1
        module.send_signal(signal.SIGTERM)
        assert module.wait(10) == 128 + signal.SIGTERM
    assert list(disk.iterdir()) == []
    assert not os.path.exists(f"/proc/{child}")
