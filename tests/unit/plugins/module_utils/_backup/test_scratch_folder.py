# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folders of scratch members, and what killed ones leave."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import scratch_folder
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.scratch_member import ScratchMemberError


def create_leftovers(folder: Path) -> None:
    """Create the folders of two killed drills, of a running one, and of another program."""
    for name in (".headroom-drill-dead", ".headroom-drill-held", "other"):
        (folder / name).mkdir()
        (folder / name / "lock").touch()
    (folder / ".headroom-drill-early").mkdir()


def test_leftovers_of_killed_drills_are_removed(tmp_path: Path) -> None:
    """Folders of killed drills are removed, folders of running drills and other folders are not."""
    create_leftovers(tmp_path)
    with (tmp_path / ".headroom-drill-held" / "lock").open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with scratch_folder.scratch_folder(str(tmp_path), 0) as folder:
            names = {path.name for path in tmp_path.iterdir()}
            assert names == {".headroom-drill-held", "other", os.path.basename(folder)}


def test_check_mode_only_names_the_leftovers_of_killed_drills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It changes nothing, and counts the space that their removal would free."""
    create_leftovers(tmp_path)
    (tmp_path / ".headroom-drill-dead" / "db").write_bytes(b"x" * 65536)
    before = sorted(path for path in tmp_path.rglob("*"))
    monkeypatch.setattr(scratch_folder, "available_bytes", lambda _path: 0)
    with (tmp_path / ".headroom-drill-held" / "lock").open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        found = scratch_folder.check_scratch_dir(str(tmp_path), 65536)
        with pytest.raises(ScratchMemberError, match=r"has 64\.0 KiB free, but the temporary member needs 1\.0 GiB"):
            scratch_folder.check_scratch_dir(str(tmp_path), 1 << 30)
    assert found == [str(tmp_path / ".headroom-drill-dead"), str(tmp_path / ".headroom-drill-early")]
    assert sorted(path for path in tmp_path.rglob("*")) == before
    assert scratch_folder.removal_notice(found) == f" Would first remove {found[0]}, {found[1]}, left by a killed run."
    assert scratch_folder.removal_notice([]) == ""


def test_scratch_folder_is_private_and_removed(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), scratch_folder.scratch_folder(str(tmp_path), 0) as folder:
        assert os.stat(folder).st_mode & 0o777 == 0o700
        with scratch_folder.scratch_folder(str(tmp_path), 0):
            assert os.path.isdir(folder)
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
