# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Free space below directories that exist, and below those that do not yet."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._host import free_space


def test_the_closest_parent_that_exists_counts(tmp_path: Path) -> None:
    assert free_space.existing_parent(str(tmp_path / "a" / "b")) == str(tmp_path)
    assert free_space.existing_parent("nothing") == ""


def test_files_count_by_the_blocks_that_they_occupy(tmp_path: Path) -> None:
    assert free_space.allocated_bytes(str(tmp_path / "none")) == 0
    (tmp_path / "member/snap").mkdir(parents=True)
    (tmp_path / "member/snap/db").write_bytes(b"x" * 8192)
    with (tmp_path / "member/sparse").open("wb") as sparse:
        sparse.truncate(1 << 30)
    (tmp_path / "dangling").symlink_to(tmp_path / "none")
    assert 8192 <= free_space.allocated_bytes(str(tmp_path)) < 1 << 20


@pytest.mark.parametrize(("wal_device", "wal_available"), [(1, None), (2, 300)])
def test_space_facts(
    wal_device: int, wal_available: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wal").mkdir()
    monkeypatch.setattr(
        os, "stat", lambda path: SimpleNamespace(st_dev=wal_device if path.endswith("wal") else 1), raising=True
    )
    monkeypatch.setattr(free_space, "existing_parent", lambda path: path)
    monkeypatch.setattr(
        os, "statvfs", lambda path: SimpleNamespace(f_bavail=3 if path.endswith("wal") else 7, f_frsize=100)
    )
    data, wal = str(tmp_path / "data"), str(tmp_path / "wal")
    assert free_space.space_facts(data, wal) == {"available": 700, "used": 0, "wal_available": wal_available}
    assert free_space.space_facts(data, None)["wal_available"] is None
