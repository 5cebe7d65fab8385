# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""etcd_disk_check as Ansible runs it, with fio or with a program in its place that misbehaves."""

from __future__ import annotations

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
from ansible_collections.etcdops.headroom.plugins.module_utils import _fio, _mounts
from ansible_collections.etcdops.headroom.plugins.modules import etcd_disk_check

ANSWER = Path(__file__).parent.parent / "module_utils/fio/3.33-loop-ext4.json"


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
    mount = _mounts.mount_of(str(folder), _mounts.read_mounts())
    if mount is None or mount.fstype in _fio.REFUSED_FILESYSTEMS:
        pytest.skip("the folder for temporary files is on no disk")
    return folder


@pytest.fixture(name="state")
def state_folder(tmp_path: Path) -> str:
    """Where figures are kept; not made yet."""
    return str(tmp_path / "state")


def test_measured_once_and_kept(
    capsys: pytest.CaptureFixture[str], fio: Path, disk: Path, state: str, tmp_path: Path
) -> None:
    first = run(capsys, path=str(disk), state_dir=state)
    assert (first["changed"], first["cached"], first["verdict"], first["p99_us"]) == (True, False, "ok", 1729)
    again = run(capsys, path=str(disk), state_dir=state)
    assert (again["changed"], again["cached"], again["verdict"], again["p99_us"]) == (False, True, "ok", 1729)
    assert run(capsys, path=str(disk), state_dir=state, force=True)["changed"]
    assert run(capsys, path=str(disk), state_dir=state, max_age=0)["changed"]
    assert (tmp_path / "runs").read_text(encoding="utf-8") == "\n" * 3
    assert list(disk.iterdir()) == []


def test_a_slow_disk_fails_with_its_figures_and_is_measured_again(
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


def test_cached_only_never_measures(capsys: pytest.CaptureFixture[str], fio: Path, disk: Path, state: str) -> None:
    before = run(capsys, path=str(disk), state_dir=state, cached_only=True)
    assert (before["verdict"], before["changed"]) == ("unknown", False)
    run(capsys, path=str(disk), state_dir=state)
    after = run(capsys, path=str(disk), state_dir=state, cached_only=True, max_age=0)
    assert (after["verdict"], after["cached"]) == ("ok", True)


def test_check_mode_says_what_it_would_run(
    capsys: pytest.CaptureFixture[str], fio: Path, disk: Path, state: str, tmp_path: Path
) -> None:
    result = run(capsys, path=str(disk), state_dir=state, _ansible_check_mode=True)
    assert result["changed"] and result["verdict"] == "unknown" and "fio --name=etcd --rw=write" in result["msg"]
    assert not (tmp_path / "runs").exists() and not os.path.exists(state)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo 'fio: garbage'", "it printed: fio: garbage"),
        ("exit 3", "it printed: nothing"),
        ("kill -9 $$", "killed by signal 9"),
        ("sleep 60", "did not end within 1 s"),
    ],
)
def test_fio_that_misbehaves(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    fio: Path,
    disk: Path,
    state: str,
    script: str,
    message: str,
) -> None:
    fio.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    monkeypatch.setattr(etcd_disk_check, "GRACE_SECONDS", 0)
    result = run(capsys, path=str(disk), state_dir=state, timeout=1)
    assert result["failed"] and message in result["msg"]
    assert list(disk.iterdir()) == [] and not os.path.exists(state)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": "/dev/shm"}, "is on tmpfs, which is memory"),
        ({"path": "/no/such/folder"}, "is no directory on this host"),
        ({"fsync_p99_max_ms": 0}, "fsync_p99_max_ms is 0.0, but must be above 0"),
        ({"fsync_p99_max_ms": -1}, "fsync_p99_max_ms is -1.0, but must be above 0"),
        ({"timeout": 0}, "timeout is 0, but must be 1 to 600 seconds"),
    ],
)
def test_refusals(
    capsys: pytest.CaptureFixture[str], fio: Path, disk: Path, arguments: dict[str, Any], message: str, tmp_path: Path
) -> None:
    result = run(capsys, **{"path": str(disk), "state_dir": str(tmp_path / "state"), **arguments})
    assert result["failed"] and message in result["msg"]
    assert not (tmp_path / "runs").exists()


def test_without_fio_it_says_how_to_install_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, disk: Path, state: str, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = run(capsys, path=str(disk), state_dir=state)
    assert result["failed"] and "fio is not installed on this host" in result["msg"]


def test_leftovers_of_killed_runs_are_removed(
    capsys: pytest.CaptureFixture[str], fio: Path, disk: Path, state: str
) -> None:
    old, young = disk / ".headroom-fio-old", disk / ".headroom-fio-young"
    old.touch()
    young.touch()
    os.utime(old, (1, 1))
    run(capsys, path=str(disk), state_dir=state)
    assert list(disk.iterdir()) == [young]


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_fio_itself(capsys: pytest.CaptureFixture[str], disk: Path, state: str) -> None:
    result = run(
        capsys, path=str(disk), state_dir=state, timeout=1, fsync_p99_max_ms=0.000001 * 1000, fail_on_slow=False
    )
    assert result["verdict"] == "fail" and result["samples"] > 0 and result["fio_version"].startswith("fio-")
    assert list(disk.iterdir()) == []


def test_an_interrupted_run_leaves_nothing(fio: Path, disk: Path, tmp_path: Path) -> None:
    fio.write_text(f"#!/bin/sh\necho $$ > '{tmp_path}/pid'\nexec sleep 60\n", encoding="utf-8")
    arguments = json.dumps({"ANSIBLE_MODULE_ARGS": {"path": str(disk), "state_dir": str(tmp_path / "state")}})
    collections = str(Path(etcd_disk_check.__file__).parents[5])
    with subprocess.Popen(
        [sys.executable, etcd_disk_check.__file__, arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": collections},
    ) as module:
        for _attempt in range(200):
            if (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(encoding="utf-8"):
                break
            time.sleep(0.05)
        child = int((tmp_path / "pid").read_text(encoding="utf-8"))
        assert len(list(disk.iterdir())) == 1
        module.send_signal(signal.SIGTERM)
        assert module.wait(10) == 128 + signal.SIGTERM
    assert list(disk.iterdir()) == []
    assert not os.path.exists(f"/proc/{child}")
