# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the erase list permits, with files as devices that blkid reads: the headers are written as their formats document them."""

from __future__ import annotations

import struct
import subprocess
import zlib
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._host import device_content
from ansible_collections.etcdops.headroom.plugins.module_utils._host import facts as host_facts
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import erase_list, erasure, volumes

BYTES = 64 << 20
BY_ID = "/dev/disk/by-id/virtio-x"
CRC_OF_NIBBLES = [
    *(0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C),
    *(0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C),
]


def luks() -> dict[int, bytes]:
    """A closed LUKS volume (LUKS On-Disk Format Specification 1.2.3, "phdr")."""
    names = b"aes".ljust(32, b"\0") + b"xts-plain64".ljust(32, b"\0") + b"sha256".ljust(32, b"\0")
    key = struct.pack(">II", 4096, 32) + b"\1" * 20 + b"\2" * 32 + struct.pack(">I", 1000)
    return {0: b"LUKS\xba\xbe\0\1" + names + key + b"0d7e4f3a-0000-4000-8000-000000000001"}


def physical_volume() -> dict[int, bytes]:
    """A physical volume whose volume group is not active (LVM2, lib/format_text/layout.h)."""
    body = (struct.pack("<I", 32) + b"LVM2 001" + b"Zy9a" * 8 + struct.pack("<Q", BYTES)).ljust(492, b"\0")
    crc = 0xF597A6CF
    for byte in body:
        crc ^= byte
        for _nibble in range(2):
            crc = (crc >> 4) ^ CRC_OF_NIBBLES[crc & 0xF]
    return {512: b"LABELONE" + struct.pack("<QI", 1, crc) + body}


def md_member() -> dict[int, bytes]:
    """A member of a RAID that is stopped (the kernel's md_p.h, version 1.2)."""
    block = bytearray(256)
    struct.pack_into("<IIII", block, 0, 0xA92B4EFC, 1, 0, 0)
    block[16:32], block[32:38] = bytes(range(16)), b"host:0"
    struct.pack_into("<Q", block, 144, 8)
    total = sum(struct.unpack("<64I", bytes(block)))
    struct.pack_into("<I", block, 216, ((total & 0xFFFFFFFF) + (total >> 32)) & 0xFFFFFFFF)
    return {4096: bytes(block)}


def swap() -> dict[int, bytes]:
    """A swap area that is not active (mkswap(8))."""
    return {1024: struct.pack("<III", 1, BYTES // 4096 - 1, 0) + b"\3" * 16, 4086: b"SWAPSPACE2"}


def gpt() -> dict[int, bytes]:
    """A partition table without a partition (UEFI 2.10, 5.3)."""
    last, entries = BYTES // 512 - 1, bytes(128 * 128)

    def header(own: int, other: int, table: int) -> bytes:
        fields = struct.pack("<8sIIIIQQQQ", b"EFI PART", 0x10000, 92, 0, 0, own, other, 34, last - 33)
        fields += b"\4" * 16 + struct.pack("<QIII", table, 128, 128, zlib.crc32(entries))
        return fields[:16] + struct.pack("<I", zlib.crc32(fields)) + fields[20:]

    protective = struct.pack("<B3sB3sII", 0, b"\0\2\0", 0xEE, b"\xff" * 3, 1, last) + bytes(48) + b"\x55\xaa"
    return {446: protective, 512: header(1, last, 2), last * 512: header(last, 1, last - 32)}


def device_with(tmp_path: Path, content: dict[int, bytes], **other: Any) -> dict[str, Any]:
    """Describe a device with a content as etcd_host_info does."""
    path = tmp_path / "device"
    with path.open("wb") as stream:
        stream.truncate(BYTES)
        for offset, data in content.items():
            stream.seek(offset)
            stream.write(data)
    unused: dict[str, Any] = {"partitions": [], "holders": [], "swap": False, "busy": False, "mounted_at": []}
    return {
        "exists": True,
        "is_block": True,
        "number": "254:16",
        "size": BYTES,
        "read_only": False,
        "resolved": str(path),
        "links": [BY_ID, "/dev/disk/by-path/pci-0"],
        **unused,
        **device_content.content_facts(str(path), host_facts.run),
        **other,
    }


def plan_with(device: dict[str, Any], erase: list[str]) -> dict[str, Any]:
    """Plan a data volume on the device."""
    volume = {
        "name": "data",
        "device": "/dev/vdb",
        "mount": "/m",
        "directory": "/m/data",
        "label": "etcd-data",
        "fstype": "ext4",
        "options": ["noatime"],
        "min_size": 1,
    }
    mount = {"mounted": False, "entries": 0, "number": None, "fstab": None, "mode": None, "uid": None}
    return volumes.plan_volumes(
        {"devices": {"/dev/vdb": device}, "mounts": {"/m": mount}}, [volume], "/m/data", "", erase
    )


CONTENTS = [
    (luks(), "crypto_LUKS encrypted volume", "UUID=0d7e4f3a-0000-4000-8000-000000000001 crypto_LUKS"),
    (
        physical_volume(),
        "LVM2_member RAID or LVM member",
        f"UUID=Zy9aZy-{'9aZy-9aZy-9aZy-9aZy-'}9aZy-9aZy9a LVM2_member",
    ),
    (md_member(), "linux_raid_member", "UUID=00010203-0405-0607-0809-0a0b0c0d0e0f linux_raid_member"),
    (swap(), "swap signature", "UUID=03030303-0303-0303-0303-030303030303 swap"),
    (gpt(), "partition table (gpt)", f"{BY_ID} gpt"),
    ({0: b"\x8a" * 4096}, "no signature that blkid knows, but byte 0 is not zero", f"{BY_ID} unknown"),
    ({BYTES - 4096: b"\x8a" * 4096}, f"but byte {BYTES - 4096} is not zero", f"{BY_ID} unknown"),
]


@pytest.mark.parametrize(("content", "said", "entry"), CONTENTS)
def test_content_that_is_no_filesystem_is_erased_only_by_an_entry_that_says_so(
    tmp_path: Path, content: dict[int, bytes], said: str, entry: str
) -> None:
    device = device_with(tmp_path, content)
    wrong = "UUID=other" if entry.startswith("UUID=") else "/dev/disk/by-id/virtio-y"
    name, kind = entry.split()
    for erase in ([], [BY_ID], [name], [f"{name} ext4"], [f"{wrong} {kind}"]):
        planned = plan_with(device, erase)
        (problem,) = planned["problems"]
        assert said in problem and f"add '{entry}' to etcd_storage_erase_devices" in problem
        assert planned["volumes"] == []
    for erase in ([entry], [f"{BY_ID} {kind}"]):
        (volume,) = plan_with(device, ["UUID=other", *erase])["volumes"]
        assert volume["erase"] == erase[0] and volume["format"]


def test_entry_that_does_not_permit_it_is_named(tmp_path: Path) -> None:
    (problem,) = plan_with(device_with(tmp_path, swap()), [BY_ID])["problems"]
    assert problem.startswith(
        f"'{BY_ID}' in etcd_storage_erase_devices does not say that it erases what is on this device now"
    )


def test_statement_does_not_erase_a_device_in_use(tmp_path: Path) -> None:
    device = device_with(tmp_path, physical_volume(), holders=["dm-0"], busy=True)
    assert "is held by dm-0" in plan_with(device, [f"{BY_ID} LVM2_member"])["problems"][0]


def test_blank_device_needs_no_entry_and_uses_none(tmp_path: Path) -> None:
    (volume,) = plan_with(device_with(tmp_path, {}), [f"{BY_ID} unknown"])["volumes"]
    assert volume["format"] and volume["erase"] is None


def test_interrupted_erasure_is_finished_without_an_entry(tmp_path: Path) -> None:
    device = device_with(tmp_path, {8 << 20: b"precious"})
    path = Path(device["resolved"])
    subprocess.run(["mkfs.ext4", "-q", "-F", path], check=True)
    facts = {**device, **device_content.content_facts(str(path), host_facts.run)}
    entry = f"UUID={facts['uuid']}"
    assert plan_with(facts, [entry])["volumes"][0]["erase"] == entry
    assert erasure.erase_device(str(path), entry) == "ext4"
    after = {**device, **device_content.content_facts(str(path), host_facts.run)}
    assert after["nonzero_at"] == 0 and after["has_erased_mark"]
    (volume,) = plan_with(after, [entry])["volumes"]
    assert volume["format"] and volume["erase"] is None


@pytest.mark.parametrize(
    ("kind", "other", "entry"),
    [
        ("ntfs", {}, "UUID=5c14"),
        ("zfs_member", {}, "UUID=5c14 zfs_member"),
        ("iso9660", {"partition_table": "dos"}, "UUID=5c14 iso9660+dos"),
        ("ext4", {"uuid": None, "links": [BY_ID]}, BY_ID),
    ],
)
def test_only_a_plain_filesystem_needs_no_statement(kind: str, other: dict[str, Any], entry: str) -> None:
    device = {
        "signature": f"{kind} filesystem",
        "usage": "filesystem",
        "fstype": kind,
        "uuid": "5c14",
        "partition_table": None,
        "nonzero_at": None,
        "has_erased_mark": False,
        "resolved": "/dev/vdb",
        "links": [],
        **other,
    }
    assert erase_list.how_to_permit(device) == f"add '{entry}' to etcd_storage_erase_devices"
    assert erase_list.permitting_entry(device, [entry]) == entry


def test_contradicting_signatures_need_a_command(tmp_path: Path) -> None:
    facts = {"signature": "several contradicting signatures", "sampled": 0}
    device = {**device_with(tmp_path, {}), **facts}
    (problem,) = plan_with(device, [f"{BY_ID} several"])["problems"]
    assert "run 'wipefs --all " in problem and "blkdiscard --zeroout" in problem


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("/dev/disk/by-path/pci-0", "names a slot: it would also erase the disk that replaces this one"),
        ("/dev/sdb", "has /dev/sdb, which may be another device after the next boot"),
        ("", "has an empty entry, which may be"),
        (f"{BY_ID} LVM2_member now", "which has more than two words"),
    ],
)
def test_unsafe_entries_are_refused(tmp_path: Path, entry: str, message: str) -> None:
    (problem,) = plan_with(device_with(tmp_path, {}), [entry])["problems"]
    assert message in problem


@pytest.mark.parametrize("content", [case[0] for case in CONTENTS])
def test_erased_device_is_blank_for_the_next_run(tmp_path: Path, content: dict[int, bytes]) -> None:
    path = Path(device_with(tmp_path, content)["resolved"])
    kind = erase_list.content_of(device_content.content_facts(str(path), host_facts.run))
    assert erasure.erase_device(str(path), f"{BY_ID} {kind}", links=[BY_ID]) == kind
    assert path.stat().st_size == BYTES
    facts = device_content.content_facts(str(path), host_facts.run)
    assert facts["signature"] is None and erase_list.content_of(facts) is None


@pytest.mark.parametrize(
    ("given", "entries"),
    [
        (["UUID=5c14", f"{erase_list.BY_ID}x gpt"], ["UUID=5c14", f"{erase_list.BY_ID}x gpt"]),
        ("UUID=5c14", ["UUID=5c14"]),
        ("UUID=5c14, UUID=Zy9a LVM2_member", ["UUID=5c14", "UUID=Zy9a LVM2_member"]),
        ("", []),
        (None, []),
        ([], []),
        ([5], ["5"]),
    ],
)
def test_entries_of_a_list_or_a_text(given: object, entries: list[str]) -> None:
    """The role's argument specs accept a text for a list, and leave it as it is."""
    assert erase_list.entries(given) == entries
