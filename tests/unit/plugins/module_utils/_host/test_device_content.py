# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a device carries, with sparse files as devices."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._host import device_content
from ansible_collections.etcdops.headroom.plugins.module_utils._host import facts as host_facts

MIB, GIB = 1 << 20, 1 << 30


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("", None),
        ("DEVNAME=/dev/loop0\nUUID=5c14\nTYPE=ext4\nUSAGE=filesystem\n", "ext4 filesystem"),
        ("DEVNAME=/dev/loop0\nPTUUID=1\nPTTYPE=gpt\n", "partition table (gpt)"),
        ("TYPE=LVM2_member\nUSAGE=raid\n", "LVM2_member RAID or LVM member"),
        ("TYPE=swap\nUSAGE=other\n", "swap signature"),
        ("TYPE=crypto_LUKS\nUSAGE=crypto\n", "crypto_LUKS encrypted volume"),
        # A partition's probe names its entry in the table, which is not a signature.
        ("DEVNAME=/dev/vda1\nPART_ENTRY_SCHEME=gpt\nPART_ENTRY_NUMBER=1\n", None),
    ],
)
def test_signature_in_words(output: str, words: str | None) -> None:
    assert device_content.signature(device_content.parse_blkid(output)) == words


@pytest.fixture(name="device")
def sparse_file(tmp_path: Path) -> Path:
    """A device of zeros."""
    path = tmp_path / "device"
    with path.open("wb") as stream:
        stream.truncate(GIB + 512)
    return path


def write(device: Path, offset: int, data: bytes) -> None:
    """Write to a device."""
    with device.open("r+b") as stream:
        stream.seek(offset)
        stream.write(data)


@pytest.mark.parametrize("size", [512, 4096, MIB, MIB + 512, 2 * MIB, 100 * MIB + 512, GIB, 10 * 1024 * GIB])
def test_sample_stays_on_the_device_and_reads_both_ends(size: int) -> None:
    spans = list(device_content.sample_spans(size))
    assert all(offset % device_content.ALIGNMENT == 0 and length > 0 for offset, length in spans)
    assert min(offset for offset, _length in spans) == 0 and max(offset + length for offset, length in spans) == size
    assert sum(length for _offset, length in spans) <= 5 * MIB + device_content.ALIGNMENT


def test_device_of_zeros_is_blank(device: Path) -> None:
    facts = device_content.content_facts(str(device), host_facts.run)
    assert facts["signature"] is None and facts["probe_error"] is None and facts["nonzero_at"] is None
    assert 5 * MIB <= facts["sampled"] <= 5 * MIB + 4096


@pytest.mark.parametrize("offset", [0, 1500, MIB - 1, GIB // 49, GIB // 49 * 25 + 4096, GIB, GIB + 511])
def test_one_byte_is_found_at_the_ends_and_at_each_position(device: Path, offset: int) -> None:
    write(device, offset, b"x")
    facts = device_content.content_facts(str(device), host_facts.run)
    assert facts["signature"] is None and facts["nonzero_at"] == offset and not facts["has_erased_mark"]


def test_mark_of_an_erasure_is_recognized_only_as_a_whole(device: Path) -> None:
    write(device, 0, device_content.ERASED_MARK.encode())
    write(device, MIB, b"the rest of a filesystem")
    assert device_content.sample(str(device))["has_erased_mark"]
    write(device, 4095, b"x")
    assert not device_content.sample(str(device))["has_erased_mark"]


def test_device_that_cannot_be_read_is_not_blank(tmp_path: Path) -> None:
    facts = device_content.content_facts(str(tmp_path / "gone"), host_facts.run)
    assert facts["signature"] is None and "cannot be read: No such file" in facts["probe_error"]


def test_missing_blkid_does_not_make_a_device_blank(device: Path) -> None:
    facts = device_content.content_facts(str(device), lambda _command: (127, ""))
    assert facts["probe_error"] == "blkid failed with code 127"


def test_contradicting_signatures_are_a_signature(device: Path) -> None:
    facts = device_content.content_facts(str(device), lambda _command: (8, ""))
    assert facts["signature"] == "several contradicting signatures" and facts["sampled"] == 0
