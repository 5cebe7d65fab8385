# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The newest backup of a directory."""

from __future__ import annotations

import os
from pathlib import Path

from ansible_collections.etcdops.headroom.plugins.module_utils._audit.backups import newest_backups

NOW = 1_000_000.0


def write(path: Path, age: int, text: str = "x") -> None:
    path.write_text(text)
    os.utime(path, (NOW - age, NOW - age))


def test_the_newest_file_counts_and_what_lies_beside_it_does_not(tmp_path: Path) -> None:
    write(tmp_path / "etcd-1.db", 90_000)
    write(tmp_path / "snapshot", 7000)
    write(tmp_path / "etcd-1.db.sha256", 10)
    write(tmp_path / ".etcd-2.db", 10)
    write(tmp_path / "etcd-3.db", 10, "")
    (tmp_path / "a-folder").mkdir()
    (found,) = newest_backups([str(tmp_path)], NOW)
    assert (found["path"], found["age"], found["problem"]) == (str(tmp_path / "snapshot"), 7000, "")


def test_a_clock_that_went_back_makes_no_negative_age(tmp_path: Path) -> None:
    write(tmp_path / "a.db", -60)
    assert newest_backups([str(tmp_path)], NOW)[0]["age"] == 0


def test_an_empty_directory_and_none(tmp_path: Path) -> None:
    empty, absent = newest_backups([str(tmp_path), str(tmp_path / "absent")], NOW)
    assert (empty["path"], empty["age"], empty["problem"]) == (None, None, "")
    assert absent["age"] is None and absent["problem"].endswith("absent cannot be read: No such file or directory")
