# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run etcd_report through ansible-playbook."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import ansible_collections.etcdops.headroom as collection
import pytest

ROOT = Path(next(iter(collection.__path__))).parent.parent.parent
# ansible-playbook of this Python; ansible-test has it elsewhere in PATH.
BESIDE = str(Path(sys.executable).parent)
PROGRAM = shutil.which("ansible-playbook", path=f"{BESIDE}{os.pathsep}{os.environ['PATH']}") or "ansible-playbook"


def play(folder: Path, members: Any) -> subprocess.CompletedProcess[str]:
    """Run the action against a host that cannot be reached, in check mode."""
    book = folder / "play.yml"
    tasks = [{"name": "Report", "etcdops.headroom.etcd_report": {"members": members}}]
    book.write_text(json.dumps([{"name": "Report", "hosts": "all", "gather_facts": False, "tasks": tasks}]))
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT),
        "ANSIBLE_HOME": str(folder),
        "LC_ALL": "C.UTF-8",
    }
    return subprocess.run(
        [PROGRAM, "--check", "-i", "unreachable.invalid,", str(book)],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def test_prints_without_a_connection(tmp_path: Path) -> None:
    done = play(tmp_path, [{"host": "a", "cluster": "demo"}])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\netcd cluster demo: planned, not deployed yet\n" in done.stdout
    assert "ok=1" in done.stdout
    assert "changed=0" in done.stdout


@pytest.mark.parametrize(
    ("members", "text"),
    [
        ([{"host": "a"}, {"cluster": "demo"}], "members: number 2 has no host; give each a host and a cluster"),
        (7, "option 'members' is of type str and we were unable to convert to dict"),
    ],
)
def test_invalid_members_are_refused(tmp_path: Path, members: Any, text: str) -> None:
    done = play(tmp_path, members)
    assert done.returncode == 2
    assert text in " ".join((done.stdout + done.stderr).split())
