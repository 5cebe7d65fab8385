# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which devices a plan erases."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import volumes

from tests.unit.plugins.module_utils._storage.volume_plans import (
    a_device,
    a_mount,
    a_volume,
    ours,
    plan_for,
)

BY_ID = "/dev/disk/by-id/virtio-x"


FOREIGN = {"signature": "ntfs filesystem", "usage": "filesystem", "fstype": "ntfs", "uuid": "01D9", "links": [BY_ID]}


@pytest.mark.parametrize("name", [BY_ID, "UUID=01D9"])
def test_device_named_by_its_exact_id_is_erased(name: str) -> None:
    (volume,) = plan_for(a_device(**FOREIGN), a_mount(), ["UUID=other", name])["volumes"]
    assert (volume["erase"], volume["format"], volume["attach"], volume["grow"]) == (name, True, True, False)
    # The old filesystem's UUID disappears with it.
    assert volume["source"] == "UUID=(made with the filesystem)"


@pytest.mark.parametrize(
    ("device", "erase", "message"),
    [
        (FOREIGN, ["UUID=other", "/dev/disk/by-id/virtio-y"], "is not blank"),
        (FOREIGN, ["/dev/vdb"], "etcd_storage_erase_devices has /dev/vdb, which may be another device"),
        ({**FOREIGN, "busy": True, "mounted_at": ["/srv"]}, [BY_ID], "is mounted at /srv"),
        ({**FOREIGN, "busy": True, "mounted_at": ["/var/lib/etcd"]}, [BY_ID], "is not blank"),
        ({**FOREIGN, "busy": True}, [BY_ID], "is in use"),
        ({**FOREIGN, "swap": True}, [BY_ID], "is used as swap"),
        ({**FOREIGN, "holders": ["dm-0"]}, [BY_ID], "is held by dm-0"),
        ({**FOREIGN, "partitions": ["vdb1"]}, [BY_ID], "carries partitions"),
        ({**FOREIGN, "read_only": True}, [BY_ID], "is read-only"),
        ({**FOREIGN, "probe_error": "cannot be read: Permission denied"}, [BY_ID], "Become root"),
    ],
)
def test_device_in_use_is_never_erased(device: dict[str, Any], erase: list[str], message: str) -> None:
    result = plan_for(a_device(**device), a_mount(), erase)
    assert message in result["problems"][0] and not any(volume["erase"] for volume in result["volumes"])


def test_own_filesystem_is_not_erased_by_a_leftover_id() -> None:
    (volume,) = plan_for(ours(links=[BY_ID]), a_mount(), [BY_ID])["volumes"]
    assert volume["erase"] is None and volume["format"] is False


@pytest.mark.parametrize(
    ("found", "asked", "said"),
    [
        ({}, {"fstype": "xfs"}, "the label 'etcd-data'), but etcd_storage_fstype is xfs: set it to ext4."),
        ({"label": "etcd-wal"}, {}, "correct etcd_storage_data_device (are the devices of the two volumes swapped?)."),
        ({"label": "etcd-wal"}, {"fstype": "xfs"}, "add 'UUID=5c14' to etcd_storage_erase_devices"),
        ({}, {"name": "wal", "label": "etcd-wal"}, "correct etcd_storage_wal_device (are the devices of the two"),
    ],
    ids=["other filesystem", "swapped, data", "swapped, other filesystem", "swapped, wal"],
)
@pytest.mark.parametrize("entry", [BY_ID, f"{BY_ID} ext4"])
def test_volume_of_etcd_that_does_not_match_is_not_erased_by_a_leftover_id(
    found: dict[str, Any], asked: dict[str, Any], said: str, entry: str
) -> None:
    """It is not mounted, for example after a rescue boot: only the UUID says that this filesystem is meant."""
    label = found.get("label", "etcd-data")
    result = plan_for(ours(links=[BY_ID], **found), a_mount(), [entry], device=BY_ID, **asked)
    (problem,) = result["problems"]
    assert result["volumes"] == []
    assert f"'{entry}' in etcd_storage_erase_devices may be left over" in problem and f"the label '{label}'" in problem
    assert said in problem
    (volume,) = plan_for(ours(links=[BY_ID], **found), a_mount(), [entry, "UUID=5c14"], device=BY_ID, **asked)[
        "volumes"
    ]
    assert volume["erase"] == "UUID=5c14" and volume["format"]


def test_volume_whose_mkfs_was_interrupted_is_erased_by_its_uuid() -> None:
    """mkfs.xfs writes the label before it is complete; the kernel does not mount such a filesystem."""
    found = ours(signature="xfs filesystem", fstype="xfs", incomplete=True)
    [problem] = plan_for(found, a_mount(), fstype="xfs")["problems"]
    assert "its mkfs was interrupted" in problem and "add 'UUID=5c14' to etcd_storage_erase_devices" in problem
    (volume,) = plan_for(found, a_mount(), ["UUID=5c14"], fstype="xfs")["volumes"]
    assert (volume["erase"], volume["format"]) == ("UUID=5c14", True)


def test_uuid_link_cannot_name_the_device_to_erase() -> None:
    result = plan_for(a_device(**FOREIGN), a_mount(), [BY_ID], device="/dev/disk/by-uuid/01D9")
    assert "name the device by /dev/disk/by-id" in result["problems"][0]


LOST = {"member": {"present": True, "db_size": None, "wal_dirs": ["/var/lib/etcd-wal/member/wal"]}}


@pytest.mark.parametrize(
    ("device", "problems"),
    [(a_device(), 1), (a_device(**FOREIGN), 1), (ours(), 0)],
    ids=["blank", "to be erased", "not mounted yet"],
)
def test_device_of_a_lost_database_is_not_formatted(device: dict[str, Any], problems: int) -> None:
    host = {**LOST, "devices": {"/dev/vdb": device}, "mounts": {"/var/lib/etcd": a_mount()}}
    places = ("/var/lib/etcd/data", "/var/lib/etcd-wal/member/wal")
    found = volumes.plan_volumes(host, [a_volume()], *places, erase=["UUID=01D9"], recovery="replace n2")["problems"]
    assert len(found) == problems
    assert all(
        "no database in /var/lib/etcd/data, whose device /dev/vdb is not formatted: etcd" in one for one in found
    )
