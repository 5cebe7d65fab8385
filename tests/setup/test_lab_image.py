# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""lab/image: a run that is killed leaves nothing behind once the next one has ended. Programs of the test stand for debootstrap, chroot and podman."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PROGRAMS = {
    "sudo": '[ "$1" != -n ] || shift; exec "$@"',
    "debootstrap": 'for last; do :; done; touch "$4/file" "$STATE/debootstrap"; [ ! -e "$STATE/slow" ] || sleep 2; echo $$ >> "$STATE/runs"',
    "chroot": "cat > /dev/null",
}
PODMAN = """#!/bin/sh
case "$1 $2" in
"image exists") [ -e "$STATE/image" ] ;;
"image prune") ;;
import*) touch "$TMPDIR/archive" "$STATE/importing"; [ ! -e "$STATE/slow" ] || sleep 2; cat > /dev/null; touch "$STATE/image" ;;
esac
"""


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """Copy the script next to the programs that stand for real ones."""
    (tmp_path / "lab").mkdir()
    shutil.copy(PROJECT / "lab" / "image", tmp_path / "lab")
    programs = {f"bin/{name}": f"#!/bin/sh\n{script}\n" for name, script in PROGRAMS.items()}
    for name, script in (programs | {"lab/podman": PODMAN}).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(script)
        (tmp_path / name).chmod(0o755)
    return tmp_path


def start(lab: Path) -> subprocess.Popen[bytes]:
    paths = {"PATH": f"{lab}/bin:{os.environ['PATH']}", "XDG_CACHE_HOME": str(lab / "cache"), "STATE": str(lab)}
    return subprocess.Popen([lab / "lab" / "image", "bookworm"], env={**os.environ, **paths}, start_new_session=True)


def wait_for(file: Path) -> None:
    end = time.monotonic() + 60
    while not file.exists():
        assert time.monotonic() < end, file
        time.sleep(0.05)


@pytest.mark.parametrize("during", ["debootstrap", "importing"])
def test_the_next_run_removes_what_a_killed_one_left(lab: Path, during: str) -> None:
    (lab / "slow").touch()
    killed = start(lab)
    wait_for(lab / during)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    (lab / "slow").unlink()
    assert start(lab).wait(60) == 0
    assert [path.name for path in (lab / "cache" / "headroom").iterdir()] == ["locks"]


def test_the_next_run_waits_for_the_commands_of_a_killed_one(lab: Path) -> None:
    (lab / "slow").touch()
    killed = start(lab)
    wait_for(lab / "debootstrap")
    killed.kill()
    killed.wait()
    (lab / "slow").unlink()
    assert start(lab).wait(60) == 0
    assert len((lab / "runs").read_text().split()) == 2
    assert [path.name for path in (lab / "cache" / "headroom").iterdir()] == ["locks"]
