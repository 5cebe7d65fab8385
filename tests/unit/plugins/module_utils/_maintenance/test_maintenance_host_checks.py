# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration of the program, checked against the host."""

from __future__ import annotations

import errno
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.bucket import Bucket
from ansible_collections.etcdops.headroom.plugins.module_utils._base import deadline
from ansible_collections.etcdops.headroom.plugins.module_utils._host import fstab
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import configuration, host_checks

from tests.unit.plugins.module_utils._maintenance.configurations import BUCKET, changed


def test_bucket_is_optional_and_validated_before_it_is_listed() -> None:
    for nothing in (None, {}, {**BUCKET, "name": ""}):
        config = configuration.parse_config(changed("snapshot", bucket=nothing))
        assert config.snapshot.bucket is None
    bucket = configuration.parse_config(changed("snapshot", bucket=BUCKET)).snapshot.bucket
    assert bucket == Bucket("etcd-backups", endpoint_url="http://127.0.0.1:1")
    assert host_checks.bucket_problems(None, installed=True) == []
    for change, text in (
        ({"name": "Etcd"}, "etcd_maintenance_backup_bucket: the bucket's name is 'Etcd', but must be 3 to 63 "),
        ({"prefix": "/a"}, "etcd_maintenance_backup_bucket_prefix is '/a': write folders, each followed by a slash"),
        (
            {"secret_key": "x"},
            "etcd_maintenance_backup_bucket_access_key is missing: set both access_key and secret_key",
        ),
    ):
        (found,) = host_checks.bucket_problems(replace(bucket, **change), installed=False)
        assert found.startswith(text)
    unread = replace(bucket, ca_cert="/nowhere/ca.crt")
    (found,) = host_checks.bucket_problems(unread, installed=False, contact=False)
    assert found.startswith(
        "etcd_maintenance_backup_bucket_ca_cert is /nowhere/ca.crt, which cannot be read on this host: copy the file to the host"
    )
    assert host_checks.bucket_problems(unread, installed=False, contact=False, files=False) == []


def test_host_problems_names_directories_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stale(path: str) -> os.statvfs_result:
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), path)

    data = changed("snapshot", directory=str(tmp_path / "missing"), copy_dir="relative")
    data["defrag"]["enabled"] = data["snapshot"]["enabled"] = False
    assert host_checks.host_problems(configuration.parse_config({**data, "metrics_dir": str(tmp_path)})) == []
    (tmp_path / "file").write_text("")
    found = host_checks.host_problems(configuration.parse_config({**data, "metrics_dir": str(tmp_path / "file")}))
    assert found == [
        f"etcd_maintenance_metrics_dir: {tmp_path}/file is not a directory on this host: create it, or mount its volume, first"
    ]
    found = host_checks.host_problems(configuration.parse_config({**data, "metrics_dir": "/proc/sys"}))
    assert found == [
        "etcd_maintenance_metrics_dir: /proc/sys is not writable: its filesystem is mounted read-only, or owned by another system"
    ]
    with monkeypatch.context() as patched:
        patched.setattr(os, "statvfs", stale)
        found = host_checks.host_problems(configuration.parse_config({**data, "metrics_dir": str(tmp_path)}))
    assert found == [
        f"etcd_maintenance_metrics_dir: {tmp_path} cannot be used: Stale file handle: mount its volume again, or set another directory"
    ]
    found = host_checks.host_problems(configuration.parse_config({**data, "metrics_dir": "relative"}))
    assert found == ["etcd_maintenance_metrics_dir is 'relative', but must be an absolute path"]


@pytest.mark.parametrize("name", ["backup_dir", "metrics_dir", "drill_scratch_dir"])
def test_a_link_into_a_home_directory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The units hide /home unless a path of theirs is below it, and compare paths, not where links lead."""
    (tmp_path / "home" / "etcd").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "home")
    monkeypatch.setattr(host_checks, "HOME_FOLDERS", (str(tmp_path / "home"),))

    def problems(path: str) -> list[str]:
        data = changed("snapshot", enabled=True, directory=path if name == "backup_dir" else str(tmp_path), copy_dir="")
        data["metrics_dir"] = path if name == "metrics_dir" else ""
        data["drill"].update(enabled=True, scratch_dir=path if name == "drill_scratch_dir" else str(tmp_path))
        return host_checks.host_problems(configuration.parse_config(data))

    real = f"{tmp_path}/home/etcd"
    assert problems(real) == []
    assert problems(f"{tmp_path}/link/etcd") == [
        f"etcd_maintenance_{name}: {tmp_path}/link/etcd leads to {real}: set that path"
    ]


def test_a_copy_directory_whose_volume_is_not_mounted_is_left_to_the_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A share that is down must not block the replacement of a member."""
    data = changed("snapshot", enabled=True, directory="/tmp", copy_dir=str(tmp_path))
    monkeypatch.setattr(fstab, "read_text", lambda _path: f"nfs:/backups {tmp_path} nfs")
    assert fstab.read_fstab()[0].mount_point == str(tmp_path)
    assert host_checks.host_problems(configuration.parse_config(data)) == []


@pytest.mark.parametrize(
    ("mount_point", "options", "mounted", "refused"),
    [
        ("backups", "defaults,nofail", True, True),
        ("backups/etcd", "", True, True),
        ("backups", "noauto", True, False),
        ("backups", "defaults,nofail", False, False),
        ("elsewhere", "defaults", True, False),
    ],
    ids=["above", "the directory", "mounted by the job", "members join", "another volume"],
)
def test_a_backup_directory_whose_volume_is_not_mounted_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mount_point: str, options: str, mounted: bool, refused: bool
) -> None:
    """Its unit requires the volume, so systemd would start neither backups nor drills."""
    path = tmp_path / "backups" / "etcd"
    path.mkdir(parents=True)
    monkeypatch.setattr(fstab, "read_text", lambda _path: f"/dev/vdz {tmp_path}/{mount_point} ext4 {options}")
    config = configuration.parse_config(changed("snapshot", enabled=True, directory=str(path)))
    problem = (
        f"etcd_maintenance_backup_dir: {path} has no volume: nothing is mounted at {tmp_path}/{mount_point}, "
        "which /etc/fstab lists: mount it"
    )
    assert host_checks.host_problems(config, mounted=mounted) == ([problem] if refused else [])


def test_directories_whose_server_does_not_answer_are_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a hard mount of NFS even a look at the directory waits for ever."""
    known, real = str(tmp_path / "known"), os.path.isdir

    def isdir(path: str) -> bool:
        if path.startswith(str(tmp_path)):
            time.sleep(600)
        return real(path)

    monkeypatch.setattr(os.path, "isdir", isdir)
    monkeypatch.setattr(deadline, "ANSWER_SECONDS", 3.0)
    data = changed("snapshot", directory="/tmp", copy_dir=known)
    data["metrics_dir"] = str(tmp_path)
    ending = "does not answer within 3 s: check the server of its volume, or set another directory"
    config = configuration.parse_config(data)
    assert host_checks.host_problems(config) == [
        f"etcd_maintenance_backup_copy_dir: {known} {ending}",
        f"etcd_maintenance_metrics_dir: {tmp_path} {ending}",
    ]
    assert host_checks.host_problems(replace(config, metrics_dir=""), known_copy_dir=known) == []


def copy_dir_problems(path: str, known: str = "") -> list[str]:
    """Return the problems of a configuration that copies backups to a directory."""
    config = configuration.parse_config(changed("snapshot", enabled=True, directory="/tmp", copy_dir=path))
    return host_checks.host_problems(replace(config, metrics_dir=""), known_copy_dir=known)


@pytest.mark.parametrize("path", ["/", "//", "/./mnt/x", "/../mnt/x", "/mnt/../x", "/mnt//x", "/mnt/x/.", "/mnt/x//"])
def test_a_copy_directory_that_opens_the_sandbox_is_refused(path: str) -> None:
    """The backup may write to the first folder of the path."""
    problem = f"etcd_maintenance_backup_copy_dir is {path!r}, but must be a normalized path below /"
    assert copy_dir_problems(path) == copy_dir_problems(path, known=path) == [problem]


def test_a_copy_directory_that_a_link_leads_out_of_its_first_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """systemd would leave its target read-only, so that each copy would fail."""
    for name in ("srv", "data", "data/backups"):
        (tmp_path / name).mkdir()
    (tmp_path / "srv/backups").symlink_to(tmp_path / "data/backups")
    (tmp_path / "data/same").symlink_to("backups")
    (tmp_path / "root").symlink_to("data")
    monkeypatch.setattr(host_checks, "copy_root", lambda path: path[: path.index("/", len(f"{tmp_path}/"))])
    path = f"{tmp_path}/srv/backups"
    problem = f"etcd_maintenance_backup_copy_dir: {path} leads to {tmp_path}/data/backups: set that path"
    assert copy_dir_problems(path) == copy_dir_problems(path, known=path) == [problem]
    # systemd follows a link in the path that the unit lists.
    for path in ("data/backups", "data/backups/", "data/same", "root/backups"):
        assert copy_dir_problems(f"{tmp_path}/{path}") == [], path


@pytest.mark.parametrize("name", ["etcd backups", "it's", 'a"b', "a%b", "a\\b", "a\tb"])
def test_host_problems_names_directories_that_a_unit_cannot_list(tmp_path: Path, name: str) -> None:
    """systemd would split or expand them, and the job would end before the program starts."""
    path = tmp_path / name
    path.mkdir()
    data = changed("snapshot", directory=str(path), copy_dir=str(path))
    data["snapshot"]["enabled"] = data["drill"]["enabled"] = True
    data["drill"]["scratch_dir"] = str(path)
    found = host_checks.host_problems(configuration.parse_config({**data, "metrics_dir": str(path)}))
    assert found == [
        f"etcd_maintenance_{variable} is {str(path)!r}, but systemd units cannot list a path with whitespace, quotes, "
        "% or backslashes: choose another directory"
        for variable in ("backup_dir", "backup_copy_dir", "metrics_dir", "drill_scratch_dir")
    ]


def test_host_problems_accepts_a_scratch_directory_that_the_role_will_create(tmp_path: Path) -> None:
    data = changed("drill", enabled=True, scratch_dir=str(tmp_path / "new"))
    data["snapshot"]["enabled"] = data["defrag"]["enabled"] = False
    assert host_checks.host_problems(configuration.parse_config(data)) == []
    data["drill"]["scratch_dir"] = "drill"
    found = host_checks.host_problems(configuration.parse_config(data))
    assert found == ["etcd_maintenance_drill_scratch_dir is 'drill', but must be an absolute path"]
