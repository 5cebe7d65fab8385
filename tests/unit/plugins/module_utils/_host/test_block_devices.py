# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Block devices and their mounts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._host import block_devices
from ansible_collections.etcdops.headroom.plugins.module_utils._host import mounts as host_mounts
from ansible_collections.etcdops.headroom.plugins.module_utils._host.fstab import parse_fstab, read_fstab


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("none [mq-deadline] kyber bfq", ("mq-deadline", ["none", "mq-deadline", "kyber", "bfq"])),
        ("none", ("none", ["none"])),
        ("", (None, [])),
    ],
)
def test_scheduler(text: str, expected: tuple[str | None, list[str]]) -> None:
    assert block_devices.parse_scheduler(text) == expected


def test_swaps() -> None:
    text = "Filename\tType\tSize\tUsed\tPriority\n/dev/vdb2\tpartition\t1\t0\t-2\n/swap\\040file file 1 0 -3\n"
    assert block_devices.parse_swaps(text) == ["/dev/vdb2", "/swap file"]


@pytest.fixture(name="sysfs")
def sysfs_tree(tmp_path: Path) -> Path:
    """A disk with one partition as sysfs shows it."""
    disk = tmp_path / "devices/virtual/block/vdb"
    part = disk / "vdb1"
    for folder in (disk / "queue", disk / "holders", part / "holders" / "dm-0", tmp_path / "dev/block"):
        folder.mkdir(parents=True)
    for path, text in {
        disk / "size": "2048\n",
        disk / "ro": "0\n",
        disk / "queue/rotational": "0\n",
        disk / "queue/scheduler": "none [bfq]\n",
        disk / "queue/write_cache": "write through\n",
        part / "size": "1024\n",
        part / "ro": "1\n",
        part / "partition": "1\n",
    }.items():
        path.write_text(text, encoding="ascii")
    os.symlink(disk, tmp_path / "dev/block/254:16")
    os.symlink(part, tmp_path / "dev/block/254:17")
    return tmp_path


def test_queue_of_a_disk(sysfs: Path) -> None:
    assert block_devices.queue_facts("254:16", str(sysfs)) == {
        "name": "vdb",
        "disk": "vdb",
        "is_partition": False,
        "size": 1048576,
        "read_only": False,
        "rotational": False,
        "scheduler": "bfq",
        "schedulers": ["none", "bfq"],
        "write_cache": "write through",
        "partitions": ["vdb1"],
        "holders": [],
        "slaves": [],
    }


def test_a_partition_has_its_disks_queue(sysfs: Path) -> None:
    facts = block_devices.queue_facts("254:17", str(sysfs))
    assert facts["is_partition"] and facts["disk"] == "vdb" and facts["scheduler"] == "bfq"
    assert facts["size"] == 524288 and facts["read_only"] and facts["holders"] == ["dm-0"]


def test_an_unknown_device_number_gives_no_guesses(sysfs: Path) -> None:
    facts = block_devices.queue_facts("9:9", str(sysfs))
    assert facts["name"] is None and facts["size"] is None and facts["rotational"] is None


def _no_command(_command: Sequence[str]) -> tuple[int, str]:
    return 127, ""


def test_a_path_that_is_missing_or_no_device(tmp_path: Path) -> None:
    assert not block_devices.device_facts(str(tmp_path / "none"), [], [], _no_command)["exists"]
    facts = block_devices.device_facts(str(tmp_path), [], [], _no_command)
    assert facts["exists"] and not facts["is_block"] and "signature" not in facts


@pytest.mark.parametrize(
    ("lines", "points"),
    [
        ([("/", "/var/lib/etcd")], ["/var/lib/etcd"]),
        # A bind mount of a folder, for example for a backup, is not another use of the volume.
        ([("/", "/var/lib/etcd"), ("/data", "/srv/backup")], ["/var/lib/etcd"]),
        ([("/", "/var/lib/etcd"), ("/", "/srv/backup")], ["/srv/backup", "/var/lib/etcd"]),
        # The mount point shows only a folder of somebody's filesystem.
        ([("/", "/srv"), ("/etcd", "/var/lib/etcd")], ["/srv"]),
        ([("/etcd", "/var/lib/etcd")], ["/var/lib/etcd"]),
        ([], []),
    ],
)
def test_mount_points_of_a_device(lines: list[tuple[str, str]], points: list[str]) -> None:
    text = "".join(f"2{i} 1 254:16 {root} {point} rw - ext4 /dev/vdb rw\n" for i, (root, point) in enumerate(lines))
    mounts = host_mounts.parse_mountinfo("19 1 254:0 / / rw - ext4 /dev/vda rw\n" + text)
    assert block_devices.mount_points("254:16", mounts) == points


def test_mount_facts_of_a_folder_that_is_not_mounted(tmp_path: Path) -> None:
    (tmp_path / "left-behind").touch()
    mounts = host_mounts.parse_mountinfo("21 1 254:0 / / rw - ext4 /dev/vda rw\n")
    fstab = parse_fstab(f"/dev/vdb {tmp_path}/ ext4 noatime 0 2")
    facts = block_devices.mount_facts(str(tmp_path), mounts, fstab)
    assert not facts["mounted"] and facts["covered_by"] == "/" and facts["number"] == "254:0"
    assert facts["entries"] == 1 and facts["fstab"]["source"] == "/dev/vdb" and facts["available"] > 0


def test_mount_facts_name_the_filesystems_that_may_hold_a_missing_folder() -> None:
    mounts = host_mounts.parse_mountinfo(
        "21 1 254:0 / / rw - ext4 /dev/vda rw\n22 21 254:1 / /var rw - ext4 /dev/vdb rw\n"
    )
    lines = (
        "/dev/vda /",
        "/dev/vdb /var",
        "/dev/vdc /var/no",
        "/dev/vdd /var/no/etcd/",
        "/dev/vde /var/n",
        "/dev/vdf none",
    )
    fstab = parse_fstab("".join(f"{line} ext4\n" for line in lines))
    facts = block_devices.mount_facts("/var/no/etcd", mounts, fstab)
    assert [entry["source"] for entry in facts["unmounted"]] == ["/dev/vdc", "/dev/vdd"]
    assert not block_devices.mount_facts("/var", mounts, fstab)["unmounted"]


@pytest.mark.parametrize("written", ["volume/", "link", "./volume", "link/../volume"])
def test_mount_point_is_resolved(tmp_path: Path, written: str) -> None:
    """The mount table has resolved paths alone."""
    (tmp_path / "volume").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "volume")
    facts = block_devices.mount_facts(f"{tmp_path}/{written}", [], [])
    assert facts["resolved"] == f"{tmp_path}/volume" != facts["path"]


def test_mount_facts_of_a_folder_that_does_not_exist() -> None:
    facts = block_devices.mount_facts("/no/such/folder", host_mounts.read_mounts(), [])
    assert not facts["exists"] and facts["mode"] is None and facts["size"] is None and facts["fstab"] is None


def test_this_machine_has_a_root() -> None:
    facts = block_devices.mount_facts("/", host_mounts.read_mounts(), read_fstab())
    assert facts["mounted"] and facts["covered_by"] == "/" and facts["size"] > 0
