# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The newest backup of a directory."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._audit import backups
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.backups import newest_backups
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import store

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


@pytest.mark.parametrize("suffix", store.SIDECARS)
def test_no_sidecar_of_a_snapshot_is_a_backup(tmp_path: Path, suffix: str) -> None:
    write(tmp_path / "etcd-1.db", 90_000)
    write(tmp_path / f"etcd-1.db{suffix}", 10)
    assert newest_backups([str(tmp_path)], NOW)[0]["path"] == str(tmp_path / "etcd-1.db")


def test_sidecars_are_all_that_a_snapshot_has(tmp_path: Path) -> None:
    path = tmp_path / "etcd-1.db"
    write(tmp_path / "temporary", 10)
    store.publish(str(tmp_path / "temporary"), str(path), snapshot_taken(90_000))
    store.record_drill(str(path), {"result": "ok"})
    assert {file.name[len(path.name) :] for file in tmp_path.iterdir()} <= {"", *store.SIDECARS}
    (found,) = newest_backups([str(tmp_path)], NOW)
    assert (found["path"], found["age"]) == (str(path), 90_000)


def snapshot_taken(age: int) -> store.Metadata:
    return store.Metadata("c", "m", "1", "3.6.16", "3.6", 5, "a", 1, 1, "0" * 64, int(NOW) - age)


def test_a_fetched_backup_is_as_old_as_its_record(tmp_path: Path) -> None:
    write(tmp_path / "etcd-1.db", 10)
    write(tmp_path / "etcd-1.db.json", 10, json.dumps(snapshot_taken(90_000).as_dict()))
    write(tmp_path / "other.db", 95_000)
    write(tmp_path / "other.db.json", 10, "{}")
    (found,) = newest_backups([str(tmp_path)], NOW)
    assert (found["path"], found["age"]) == (str(tmp_path / "etcd-1.db"), 90_000)


def test_a_directory_for_each_backup(tmp_path: Path) -> None:
    for name, age in (("etcd-1", 90_000), ("etcd-2", 7000), (".etcd-3", 10), ("etcd-4.part", 10)):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "snapshot.db", age)
    write(tmp_path / "etcd-2" / "snapshot.db.sha256", 10)
    (tmp_path / "etcd-2" / "deeper").mkdir()
    write(tmp_path / "etcd-2" / "deeper" / "other", 10)
    (found,) = newest_backups([str(tmp_path)], NOW)
    assert (found["path"], found["age"], found["problem"]) == (str(tmp_path / "etcd-2" / "snapshot.db"), 7000, "")
    write(tmp_path / "etcd-5.db", 60)
    assert newest_backups([str(tmp_path)], NOW)[0]["path"] == str(tmp_path / "etcd-5.db")


def test_of_many_directories_those_that_changed_last_are_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backups, "_MAX_FOLDERS", 2)
    for number in range(4):
        folder = tmp_path / f"etcd-{number}"
        folder.mkdir()
        write(folder / "snapshot.db", 100 * number)
        os.utime(folder, (NOW - 1000 * (4 - number),) * 2)
    assert newest_backups([str(tmp_path)], NOW)[0]["path"] == str(tmp_path / "etcd-2" / "snapshot.db")


def test_a_directory_of_a_backup_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "etcd-1").mkdir()
    usual = os.listdir

    def deny(path: str) -> list[str]:
        if path.endswith("etcd-1"):
            raise PermissionError(13, "Permission denied")
        return usual(path)

    monkeypatch.setattr(backups.os, "listdir", deny)
    (found,) = newest_backups([str(tmp_path)], NOW)
    assert (found["path"], found["problem"]) == (None, f"{tmp_path}/etcd-1 cannot be read: Permission denied")
    write(tmp_path / "etcd-2.db", 60)
    assert newest_backups([str(tmp_path)], NOW)[0]["problem"] == ""


def test_a_clock_that_went_back_makes_no_negative_age(tmp_path: Path) -> None:
    write(tmp_path / "a.db", -60)
    assert newest_backups([str(tmp_path)], NOW)[0]["age"] == 0


def test_an_empty_directory_and_none(tmp_path: Path) -> None:
    empty, absent = newest_backups([str(tmp_path), str(tmp_path / "absent")], NOW)
    assert (empty["path"], empty["age"], empty["problem"]) == (None, None, "")
    assert absent["age"] is None and absent["problem"].endswith("absent cannot be read: No such file or directory")
