# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A device that changed after the plan is not erased. The tests use loop devices, which only root can create."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._host import device_content
from ansible_collections.etcdops.headroom.plugins.module_utils._host import facts as host_facts
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import erase_list, erasure

UUID = "0d7e4f3a-0000-4000-8000-000000000001"


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(name="device")
def a_loop_device_with_ext4(tmp_path: Path) -> Iterator[str]:
    file = tmp_path / "disk.img"
    with file.open("wb") as stream:
        stream.truncate(32 << 20)
    try:
        device = output("losetup", "--find", "--show", str(file))
    except (OSError, subprocess.CalledProcessError) as problem:
        pytest.skip(f"no loop device can be created here: {problem}")
    try:
        output("mkfs.ext4", "-q", "-F", "-U", UUID, device)
        yield device
    finally:
        output("losetup", "--detach", device)


def content(device: str) -> str | None:
    return erase_list.content_of(device_content.content_facts(device, host_facts.run))


def test_device_is_erased_once(device: str) -> None:
    entry = f"UUID={UUID}"
    assert erasure.erase_device(device, entry, check=True) == "ext4" and content(device) == "ext4"
    assert erasure.erase_device(device, entry) == "ext4" and content(device) is None
    assert erasure.erase_device(device, entry) is None


def test_device_in_use_is_not_erased(device: str) -> None:
    """A mount, LVM, RAID, encryption and swap claim a device in the same way."""
    user = os.open(device, os.O_RDONLY | os.O_EXCL)
    try:
        with pytest.raises(erasure.EraseError, match=f"{device} is in use: .* Nothing was erased"):
            erasure.erase_device(device, f"UUID={UUID}")
    finally:
        os.close(user)
    assert content(device) == "ext4"


@pytest.mark.parametrize("entry", ["UUID=0d7e4f3a-0000-4000-8000-000000000002", f"UUID={UUID} LVM2_member"])
def test_other_content_than_planned_is_not_erased(device: str, entry: str) -> None:
    with pytest.raises(erasure.EraseError, match="has another content than when this play inspected it"):
        erasure.erase_device(device, entry)
    assert content(device) == "ext4"


@pytest.mark.parametrize("label", ["etcd-data", "etcd-wal"])
def test_volume_of_etcd_is_not_erased_by_an_id_of_its_device(device: str, label: str) -> None:
    """Another run may have made the volume since this one planned."""
    by_id = "/dev/disk/by-id/virtio-x"
    output("tune2fs", "-L", label, device)
    with pytest.raises(erasure.EraseError, match=f"the label '{label}'.* Nothing was erased.*add 'UUID={UUID}'"):
        erasure.erase_device(device, by_id, links=[by_id])
    assert content(device) == "ext4"
    assert erasure.erase_device(device, f"UUID={UUID}", links=[by_id]) == "ext4" and content(device) is None


def test_missing_device(tmp_path: Path) -> None:
    with pytest.raises(erasure.EraseError, match=r"cannot be opened: No such file or directory\. Nothing was erased"):
        erasure.erase_device(str(tmp_path / "gone"), f"UUID={UUID}")
