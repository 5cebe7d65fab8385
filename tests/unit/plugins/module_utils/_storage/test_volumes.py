# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done with a volume, and what forbids it."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import volumes

from tests.unit.plugins.module_utils._storage.volume_plans import (
    GIB,
    a_device,
    a_mount,
    a_volume,
    mounted,
    ours,
    plan_for,
)


@pytest.mark.parametrize(
    ("device", "mount", "todo"),
    [
        (a_device(), a_mount(), (True, True, True)),
        (a_device(), a_mount(mode="0755", uid=0), (True, True, True)),
        (ours(), a_mount(), (False, True, True)),
        (ours(mounted_at=["/var/lib/etcd"], busy=True), mounted(), (False, False, False)),
        (ours(mounted_at=["/var/lib/etcd"], busy=True), mounted(fstab=None), (False, True, False)),
        (ours(mounted_at=["/var/lib/etcd"], busy=True), mounted(mode="0700", uid=998), (False, False, True)),
        # Already mounted there: accepted with any label.
        (ours(mounted_at=["/var/lib/etcd"], busy=True, label="mine"), mounted(), (False, False, False)),
    ],
)
def test_plan_of_one_volume(device: dict[str, Any], mount: dict[str, Any], todo: tuple[bool, bool, bool]) -> None:
    result = plan_for(device, mount)
    assert result["problems"] == []
    (volume,) = result["volumes"]
    assert (volume["format"], volume["attach"], volume["secure"]) == todo


@pytest.mark.parametrize(
    ("device", "message"),
    [
        (
            {"path": "/dev/vdb", "resolved": "/dev/vdb", "exists": False, "is_block": False},
            "does not exist on this host",
        ),
        ({"path": "/dev/vdb", "resolved": "/dev/vdb", "exists": True, "is_block": False}, "is not a block device"),
        (ours(mounted_at=["/srv"], busy=True), "is mounted at /srv, not at /var/lib/etcd"),
        (
            a_device(partitions=["vdb1", "vdb2"], signature="partition table (gpt)"),
            r"carries partitions \(vdb1, vdb2\)",
        ),
        (
            a_device(signature="partition table (gpt)", partition_table="gpt"),
            r"is not blank \(partition table \(gpt\)\): Headroom never formats a device with content",
        ),
        (a_device(holders=["dm-0"], busy=True), "is held by dm-0"),
        (a_device(signature="LVM2_member RAID or LVM member", fstype="LVM2_member"), r"is not blank \(LVM2_member"),
        (a_device(swap=True, busy=True), "is used as swap"),
        (a_device(busy=True), "is in use, perhaps mounted in a container"),
        (a_device(probe_error="cannot be read: Input/output error"), "it is not known to be blank"),
        (
            a_device(signature="several contradicting signatures"),
            r"several contradicting signatures\): Headroom never",
        ),
        (ours(label=None), "does not have Headroom's label"),
        (ours(label="backup"), r"label 'backup'\) and does not have"),
        (ours(signature="xfs filesystem", fstype="xfs"), "but etcd_storage_fstype is ext4: set it to xfs"),
        (a_device(read_only=True), "is read-only"),
        (a_device(size=None), r"has no known size, because sysfs does not show it \(/sys/dev/block/254:16/size\)"),
        (a_device(size=GIB - 1), r"has 1023 MiB, less than the 1024 MiB of etcd_storage_data_min_size"),
        (ours(filesystem_size=11 * GIB), r"has 10.0 GiB, but its filesystem has 11.0 GiB: the device shrank"),
        (
            ours(uuid="5c14", label="backup"),
            r"If the content is not needed, add 'UUID=5c14' to etcd_storage_erase_devices",
        ),
    ],
)
def test_refused_devices(device: dict[str, Any], message: str) -> None:
    result = plan_for(device, a_mount())
    assert result["volumes"] == []
    assert len(result["problems"]) == 1
    with pytest.raises(ValueError, match=message):
        raise ValueError(result["problems"][0])


def test_volume_that_is_also_mounted_elsewhere() -> None:
    """As with a bind mount of it for a backup."""
    device = ours(mounted_at=["/srv/backup", "/var/lib/etcd"], busy=True, filesystem_size=8 * GIB)
    result = plan_for(device, mounted())
    (volume,) = result["volumes"]
    assert result["problems"] == []
    assert (volume["format"], volume["attach"], volume["secure"], volume["grow"]) == (False, False, False, True)
    assert (
        "is mounted at /srv/backup, not at /var/lib/etcd"
        in plan_for(ours(mounted_at=["/srv/backup"], busy=True), a_mount())["problems"][0]
    )


@pytest.mark.parametrize(
    ("mount", "message"),
    [
        (
            a_mount(resolved="/srv/etcd"),
            "etcd_storage_data_mount is /var/lib/etcd, but a volume there would be mounted at /srv/etcd",
        ),
        (
            a_mount(mounted=True, entries=3, number="254:32", source="/dev/vdc"),
            "/dev/vdc is mounted at /var/lib/etcd, not /dev/vdb",
        ),
        (a_mount(entries=2), "/var/lib/etcd is not empty (2 entries)"),
    ],
)
def test_refused_mount_points(mount: dict[str, Any], message: str) -> None:
    result = plan_for(a_device(), mount)
    assert result["volumes"] == [] and message in result["problems"][0]


def test_one_device_under_two_names_is_refused() -> None:
    wal = a_volume(
        name="wal",
        device="/dev/disk/by-id/x",
        mount="/var/lib/etcd-wal",
        directory="/var/lib/etcd-wal/member",
        label="etcd-wal",
    )
    host = {
        "devices": {"/dev/vdb": a_device(), "/dev/disk/by-id/x": a_device(path="/dev/disk/by-id/x")},
        "mounts": {"/var/lib/etcd": a_mount(), "/var/lib/etcd-wal": a_mount()},
    }
    result = volumes.plan_volumes(host, [a_volume(), wal], "/var/lib/etcd/data", "/var/lib/etcd-wal/member/wal")
    assert result["problems"] == [
        "/dev/disk/by-id/x is both the data volume and the wal volume (/dev/vdb): leave etcd_storage_wal_device empty, or name two devices."
    ]


@pytest.mark.parametrize(
    ("volume", "message"),
    [
        ({"fstype": "btrfs"}, "etcd_storage_fstype is 'btrfs', but must be one of ext4, xfs"),
        (
            {"directory": "/var/lib/etcd"},
            "/var/lib/etcd, etcd's own directory, is not below the mount point /var/lib/etcd",
        ),
        ({"directory": "/var/lib/etcd-data"}, "is not below the mount point"),
        ({"options": ["noatime", "nobarrier"]}, "acknowledged writes would be lost in a power failure"),
        ({"options": ["noatime,nobarrier"]}, "etcd_storage_mount_options has nobarrier"),
        ({"options": ["noatime, noauto"]}, "etcd_storage_mount_options has noauto"),
        ({"options": "noatime,ro"}, "etcd_storage_mount_options has ro"),
        ({"options": ["ro"]}, "etcd_storage_mount_options has ro: etcd could not write"),
        (
            {"name": "wal", "directory": ""},
            "etcd_storage_wal_device is /dev/vdb, but etcd_wal_dir is empty: remove etcd_wal_dir, so that the log is on that",
        ),
        ({"min_size": "much"}, "etcd_storage_data_min_size is 'much', which is not a valid size"),
    ],
)
def test_invalid_settings(volume: dict[str, Any], message: str) -> None:
    assert message in plan_for(a_device(), a_mount(), **volume)["problems"][0]


def test_two_volumes_need_two_mount_points() -> None:
    two = [a_volume(device=""), a_volume(device="", name="wal")]
    assert "the same mount point" in volumes.plan_volumes({}, two, "/var/lib/etcd/data")["problems"][0]


@pytest.mark.parametrize(
    ("data", "wal", "refused"), [("/srv/etcd/data", "/srv/etcd", True), ("/srv/etcd", "/srv/etcd/wal", False)]
)
def test_data_below_the_mount_point_of_the_wal_is_refused(data: str, wal: str, refused: bool) -> None:
    """The data volume is mounted first, so the other one would hide it."""
    asked = [
        a_volume(mount=data, directory=f"{data}/db"),
        a_volume(name="wal", device="/dev/vdc", mount=wal, directory=f"{wal}/member", label="etcd-wal"),
    ]
    second = a_device(path="/dev/vdc", resolved="/dev/vdc", number="254:32")
    host = {"devices": {"/dev/vdb": a_device(), "/dev/vdc": second}, "mounts": {data: a_mount(), wal: a_mount()}}
    problem = (
        "etcd_storage_data_mount is /srv/etcd/data, below the mount point of the wal volume, /srv/etcd: the wal volume would hide it. "
        "Set mount points next to each other, such as /var/lib/etcd and /var/lib/etcd-wal."
    )
    found = volumes.plan_volumes(host, asked, f"{data}/db", f"{wal}/member/wal")["problems"]
    assert found == ([problem] if refused else [])
    # Without a device of its own, a directory of the other volume or of the host is used.
    asked[1]["device"] = ""
    assert volumes.plan_volumes(host, asked, f"{data}/db", f"{wal}/member/wal")["problems"] == []


def test_no_plan_without_a_device() -> None:
    nothing = {"problems": [], "volumes": [], "wal_move": {}}
    assert volumes.plan_volumes({}, [a_volume(device="")], "/var/lib/etcd/data") == nothing


@pytest.mark.parametrize(
    ("filesystem", "grows"),
    [(None, False), (10 * GIB, False), (10 * GIB - (15 << 20), False), (10 * GIB - (16 << 20), True), (8 * GIB, True)],
)
def test_filesystem_grows_with_its_device(filesystem: int | None, grows: bool) -> None:
    (volume,) = plan_for(ours(filesystem_size=filesystem, busy=True, mounted_at=["/var/lib/etcd"]), mounted())[
        "volumes"
    ]
    assert volume["grow"] is grows and volume["format"] is False
    assert volume["gain"] == (10 * GIB - filesystem if filesystem else 0)


DATA_LOG, OWN_LOG = "/var/lib/etcd/data/member/wal", "/var/lib/etcd-wal/member/wal"


@pytest.mark.parametrize("logs", [[], [DATA_LOG, OWN_LOG], [DATA_LOG]])
def test_a_restore_needs_no_log(logs: list[str]) -> None:
    """It replaces the log: neither a lost one nor two are a problem, and none has to move."""
    host = {"member": {"present": True, "db_size": 1, "wal_dirs": logs}}
    restored = volumes.plan_volumes(host, [], "/var/lib/etcd/data", OWN_LOG, restoring=True)
    assert (restored["problems"], restored["wal_move"]) == ([], {})
    plan = volumes.plan_volumes(host, [], "/var/lib/etcd/data", OWN_LOG)
    assert plan["problems"] or plan["wal_move"]


def test_log_on_an_unmounted_volume_is_not_missing() -> None:
    volume = a_volume(name="wal", mount="/var/lib/etcd-wal", directory="/var/lib/etcd-wal/member", label="etcd-wal")
    host = {
        "member": {"present": True, "db_size": 1, "wal_dirs": []},
        "devices": {"/dev/vdb": ours(label="etcd-wal")},
        "mounts": {"/var/lib/etcd-wal": a_mount()},
    }
    assert volumes.plan_volumes(host, [volume], "/var/lib/etcd/data", OWN_LOG)["problems"] == []
    host["devices"]["/dev/vdb"].update(mounted_at=["/var/lib/etcd-wal"], busy=True)
    host["mounts"]["/var/lib/etcd-wal"] = mounted()
    assert len(volumes.plan_volumes(host, [volume], "/var/lib/etcd/data", OWN_LOG)["problems"]) == 1
