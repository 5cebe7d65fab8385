# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders are removed once their owner has ended, never before, and also if the two meet."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import owned_folder

COLLECTIONS = str(Path(owned_folder.__file__).parents[6])
OWNER = """
import sys, time
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import owned_folder
with owned_folder.owned_folder(sys.argv[1], ".work-") as folder:
    print(folder, flush=True)
    time.sleep(60)
"""


def test_folder_stays_until_its_owner_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OWNER, str(tmp_path)]
    # ansible-test loads collections by a hook of its own, which a new process does not have.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [COLLECTIONS, *sys.path]))}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd="/", env=environment) as owner:
        try:
            assert owner.stdout
            folder = Path(owner.stdout.readline().strip())
            assert owned_folder.remove_abandoned(str(tmp_path), ".work-") is True
            assert folder.is_dir() and folder.stat().st_mode & 0o777 == 0o700
        finally:
            owner.kill()
    assert owned_folder.remove_abandoned(str(tmp_path), ".work-") is False
    assert not folder.exists()


def test_folders_without_a_lock_and_other_files(tmp_path: Path) -> None:
    (tmp_path / ".work-killed").mkdir()
    (tmp_path / ".work-killed/data").touch()
    (tmp_path / ".work-file").touch()
    (tmp_path / "other").mkdir()
    (tmp_path / ".work-link").symlink_to(tmp_path / "other")
    assert owned_folder.remove_abandoned(str(tmp_path), ".work-") is False
    assert {item.name for item in tmp_path.iterdir()} == {".work-file", ".work-link", "other"}


@pytest.mark.parametrize("moment", ["before the lock file", "before the lock"])
def test_folder_that_is_removed_while_it_is_created_is_created_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    module, name = (os, "open") if moment == "before the lock file" else (fcntl, "flock")
    real, met = getattr(module, name), []

    def meet(*asked: object, **options: object) -> object:
        if not met:
            met.append(True)
            owned_folder.remove_abandoned(str(tmp_path), ".work-")
            assert list(tmp_path.iterdir()) == []
        return real(*asked, **options)

    monkeypatch.setattr(module, name, meet)
    with owned_folder.owned_folder(str(tmp_path), ".work-") as folder:
        assert os.path.isdir(folder) and met
    assert list(tmp_path.iterdir()) == []
