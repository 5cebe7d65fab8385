# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done with a volume, and what forbids it."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils import _storage

GIB = 1024**3


def a_device(**other: Any) -> dict[str, Any]:
    """A blank disk, as etcd_host_info describes it."""
    return {
        "path": "/dev/vdb",
        "resolved": "/dev/vdb",
        "exists": True,
        "is_block": True,
        "number": "254:16",
        "size": 10 * GIB,
        "partitions": [],
        "holders": [],
        "swap": False,
        "busy": False,
        "read_only": False,
        "mounted_at": [],
        "signature": None,
        "probe_error": None,
        "fstype": None,
        "label": None,
        "uuid": None,
        **other,
    }


def ours(**other: Any) -> dict[str, Any]:
    """A disk with the filesystem that the role makes."""
    return a_device(**{"signature": "ext4 filesystem", "fstype": "ext4", "label": "etcd-data", "uuid": "5c14", **other})


def a_mount(**other: Any) -> dict[str, Any]:
    """A mount point that does not exist yet."""
    return {
        "mounted": False,
        "entries": 0,
        "number": "254:0",
        "source": "/dev/vda",
        "mode": None,
        "uid": None,
        "fstab": None,
        **other,
    }


def mounted(**other: Any) -> dict[str, Any]:
    """The mount point with the volume, as the role leaves it."""
    entry = {"source": "UUID=5c14", "fstype": "ext4", "options": "noatime,nofail", "passno": "2"}
    return a_mount(
        **{
            "mounted": True,
            "entries": 1,
            "number": "254:16",
            "source": "/dev/vdb",
            "mode": "0755",
            "uid": 0,
            "fstab": entry,
            **other,
        }
    )


def a_volume(**other: Any) -> dict[str, Any]:
    """The data volume as the role asks for it."""
    return {
        "name": "data",
        "device": "/dev/vdb",
        "mount": "/var/lib/etcd",
        "directory": "/var/lib/etcd/data",
        "label": "etcd-data",
        "fstype": "ext4",
        "options": ["noatime", "nofail"],
        "min_size": GIB,
        **other,
    }


def plan(found: dict[str, Any], mount: dict[str, Any], **volume: Any) -> dict[str, Any]:
    """The plan for one data volume on what was found."""
    asked = a_volume(**volume)
    host = {"devices": {asked["device"]: found}, "mounts": {asked["mount"]: mount}}
    return _storage.plan(host, [asked], "/var/lib/etcd/data")


@pytest.mark.parametrize(
    ("device", "mount", "todo"),
    [
        (a_device(), a_mount(), (True, True, True)),
        (a_device(), a_mount(mode="0755", uid=0), (True, True, True)),
        (ours(), a_mount(), (False, True, True)),
        (ours(mounted_at=["/var/lib/etcd"], busy=True), mounted(), (False, False, False)),
        (ours(mounted_at=["/var/lib/etcd"], busy=True), mounted(fstab=None), (False, True, False)),
        (ours(mounted_at=["/var/lib/etcd"], busy=True), mounted(mode="0700", uid=998), (False, False, True)),
        # Mounted there by its owner before us: accepted whatever its label.
        (ours(mounted_at=["/var/lib/etcd"], busy=True, label="mine"), mounted(), (False, False, False)),
    ],
)
def test_what_is_to_be_done(device: dict[str, Any], mount: dict[str, Any], todo: tuple[bool, bool, bool]) -> None:
    result = plan(device, mount)
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
        ({"path": "/dev/vdb", "resolved": "/dev/vdb", "exists": True, "is_block": False}, "is no block device"),
        (ours(mounted_at=["/srv"], busy=True), "is mounted at /srv, not at /var/lib/etcd"),
        (
            a_device(partitions=["vdb1", "vdb2"], signature="partition table (gpt)"),
            r"carries partitions \(vdb1, vdb2\)",
        ),
        (
            a_device(signature="partition table (gpt)"),
            r"is not blank \(partition table \(gpt\)\): nothing is ever formatted over",
        ),
        (a_device(holders=["dm-0"], busy=True), "is held by dm-0"),
        (a_device(signature="LVM2_member RAID or LVM member", fstype="LVM2_member"), r"is not blank \(LVM2_member"),
        (a_device(swap=True, busy=True), "is used as swap"),
        (a_device(busy=True), "is in use, perhaps mounted in a container"),
        (a_device(probe_error="cannot be read: Input/output error"), "whether it is blank cannot be told"),
        (
            a_device(signature="several contradicting signatures"),
            r"several contradicting signatures\): nothing is ever",
        ),
        (ours(label=None), "and not ours"),
        (ours(label="backup"), r"label 'backup'\) and not ours"),
        (ours(signature="xfs filesystem", fstype="xfs"), "but etcd_storage_fstype is ext4: set it to xfs"),
        (a_device(read_only=True), "is read-only"),
        (a_device(size=GIB - 1), r"has 1023 MiB, less than the 1024 MiB of etcd_storage_data_min_size"),
    ],
)
def test_devices_that_are_refused(device: dict[str, Any], message: str) -> None:
    result = plan(device, a_mount())
    assert result["volumes"] == []
    assert len(result["problems"]) == 1
    with pytest.raises(ValueError, match=message):
        raise ValueError(result["problems"][0])


@pytest.mark.parametrize(
    ("mount", "message"),
    [
        (
            a_mount(mounted=True, entries=3, number="254:32", source="/dev/vdc"),
            "/dev/vdc is mounted at /var/lib/etcd, not /dev/vdb",
        ),
        (a_mount(entries=2), "/var/lib/etcd is not empty (2 entries)"),
    ],
)
def test_mount_points_that_are_refused(mount: dict[str, Any], message: str) -> None:
    result = plan(a_device(), mount)
    assert result["volumes"] == [] and message in result["problems"][0]


def test_one_device_by_two_names_is_one_device() -> None:
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
    result = _storage.plan(host, [a_volume(), wal], "/var/lib/etcd/data", "/var/lib/etcd-wal/member/wal")
    assert result["problems"] == [
        "/dev/disk/by-id/x is the data volume and the wal volume at once (/dev/vdb): leave etcd_storage_wal_device empty, or name two devices."
    ]


@pytest.mark.parametrize(
    ("volume", "message"),
    [
        ({"fstype": "btrfs"}, "etcd_storage_fstype is 'btrfs', but must be one of ext4, xfs"),
        (
            {"directory": "/var/lib/etcd"},
            "/var/lib/etcd, which etcd owns, is not below the mount point /var/lib/etcd",
        ),
        ({"directory": "/var/lib/etcd-data"}, "is not below the mount point"),
    ],
)
def test_settings_that_are_refused(volume: dict[str, Any], message: str) -> None:
    assert message in plan(a_device(), a_mount(), **volume)["problems"][0]


def test_two_volumes_need_two_mount_points() -> None:
    volumes = [a_volume(device=""), a_volume(device="", name="wal")]
    assert "one mount point" in _storage.plan({}, volumes, "/var/lib/etcd/data")["problems"][0]


def test_without_a_device_nothing_is_planned() -> None:
    assert _storage.plan({}, [a_volume(device="")], "/var/lib/etcd/data") == {"problems": [], "volumes": []}


@pytest.mark.parametrize(
    ("wal_dirs", "wal_dir", "refused"),
    [
        ([], "/var/lib/etcd-wal/member/wal", False),
        (["/var/lib/etcd-wal/member/wal"], "/var/lib/etcd-wal/member/wal", False),
        (["/var/lib/etcd/data/member/wal"], "", False),
        (["/var/lib/etcd/data/member/wal"], "/var/lib/etcd-wal/member/wal", True),
        (["/var/lib/etcd-wal/member/wal"], "", True),
    ],
)
def test_a_wal_elsewhere_than_etcd_would_look_is_refused(wal_dirs: list[str], wal_dir: str, refused: bool) -> None:
    host = {"member": {"present": True, "wal_dirs": wal_dirs}}
    problems = _storage.plan(host, [], "/var/lib/etcd/data", wal_dir)["problems"]
    assert [problem[:16] for problem in problems] == (["the member's WAL"] if refused else [])


@pytest.mark.parametrize(
    ("device", "uuid", "entry", "source"),
    [
        ("/dev/vdb", "5c14", None, "UUID=5c14"),
        ("/dev/vdb", None, None, "UUID=(made with the filesystem)"),
        ("/dev/disk/by-id/x", None, None, "/dev/disk/by-id/x"),
        ("/dev/disk/by-id/x", "5c14", "UUID=5c14", "UUID=5c14"),
        ("/dev/disk/by-id/x", "5c14", "UUID=other", "/dev/disk/by-id/x"),
        ("/dev/vdb", "5c14", "LABEL=etcd-data", "LABEL=etcd-data"),
        # The kernel's names change from boot to boot: replaced.
        ("/dev/vdb", "5c14", "/dev/vdb", "UUID=5c14"),
    ],
)
def test_how_fstab_names_the_device(device: str, uuid: str | None, entry: str | None, source: str) -> None:
    found = ours(uuid=uuid) if uuid else a_device()
    fstab = {"source": entry, "fstype": "ext4", "options": "noatime,nofail", "passno": "2"} if entry else None
    (volume,) = plan(found, a_mount(fstab=fstab), device=device)["volumes"]
    assert volume["source"] == source


def test_xfs_has_its_own_options_and_no_check_at_boot() -> None:
    (volume,) = plan(a_device(), a_mount(), fstype="xfs")["volumes"]
    assert (volume["mkfs_options"], volume["passno"]) == ("-L etcd-data", "0")
