# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Inspect the content of a block device: blkid's signatures, or else a sample of its bytes.

Private to the collection. Nothing here writes. blkid does not know everything: plain dm-crypt has no header, and a raw LUN of
a database may have any. A device without a signature is blank only if the whole sample is zero.
"""

from __future__ import annotations

import errno
import mmap
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

# (return code, standard output) of a command; a command that does not exist returns 127.
Runner = Callable[[Sequence[str]], "tuple[int, str]"]

# blkid(8): nothing found, or nothing could be read; several signatures contradict each other.
BLKID_NOTHING = 2
BLKID_AMBIVALENT = 8

# The sample is 5 MiB: the first and the last MiB, and 48 times 64 KiB evenly between them. 48 seeks of a rotating disk take
# about 0.6 s.
EDGE_BYTES = 1 << 20
POSITIONS = 48
POSITION_BYTES = 64 << 10
# Direct reads need offsets, lengths and memory that are aligned to the device's blocks.
ALIGNMENT = 4096

# Role etcd_storage writes this to the start of a device whose erasure is permitted, before it removes the signatures: after an
# interruption the next run knows that the data without a signature belongs to nobody.
ERASED_MARK = "etcdops.headroom: erased, to become a volume of etcd\n"


def parse_blkid(text: str) -> dict[str, str]:
    """Parse the KEY=value lines of `blkid -p -o export`."""
    values = {}
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if equals:
            values[key.strip()] = value.replace("\\ ", " ")
    return values


def signature(probe: dict[str, str]) -> str | None:
    """Return a description of the probe's findings, None if there are none."""
    if "PTTYPE" in probe and "TYPE" not in probe:
        return f"partition table ({probe['PTTYPE']})"
    if "TYPE" not in probe:
        return None
    words = {"filesystem": "filesystem", "raid": "RAID or LVM member", "crypto": "encrypted volume"}
    return f"{probe['TYPE']} {words.get(probe.get('USAGE', ''), 'signature')}"


def sample_spans(size: int) -> Iterator[tuple[int, int]]:
    """Return the (offset, length) of each read of a sample: start, end, and evenly between them."""
    yield 0, min(size, EDGE_BYTES)
    if size <= EDGE_BYTES:
        return
    end = max(EDGE_BYTES, (size - EDGE_BYTES) // ALIGNMENT * ALIGNMENT)
    yield end, size - end
    for number in range(1, POSITIONS + 1):
        offset = size * number // (POSITIONS + 1) // ALIGNMENT * ALIGNMENT
        if EDGE_BYTES <= offset < end:
            yield offset, min(POSITION_BYTES, end - offset)


def sample(path: str) -> dict[str, Any]:
    """Read a sample of a device: sampled (bytes), nonzero_at (where it is not zero, else None), has_erased_mark. Raises OSError."""
    # Direct I/O: the page cache may have zeros that are not on the device.
    handle = _open_direct(path)
    try:
        with mmap.mmap(-1, EDGE_BYTES + ALIGNMENT) as buffer:
            mark = ERASED_MARK.encode().ljust(ALIGNMENT, b"\0")
            sampled, marked, found = 0, False, None
            for offset, length in sample_spans(os.lseek(handle, 0, os.SEEK_END)):
                data = _read_at(handle, buffer, offset, length)
                if offset == 0:
                    marked = data[:ALIGNMENT] == mark
                sampled += len(data)
                if found is None and data.count(0) != len(data):
                    found = offset + len(data) - len(data.lstrip(b"\0"))
    finally:
        os.close(handle)
    return {"sampled": sampled, "nonzero_at": found, "has_erased_mark": marked}


def _open_direct(path: str) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECT)
    except OSError as error:
        if error.errno != errno.EINVAL:  # files on some filesystems; each block device can
            raise
    return os.open(path, os.O_RDONLY)


def _read_at(handle: int, buffer: mmap.mmap, offset: int, length: int) -> bytes:
    aligned = -(-length // ALIGNMENT) * ALIGNMENT
    with memoryview(buffer) as view, view[:aligned] as part:
        count = os.preadv(handle, [part], offset)
    if count < length:
        raise OSError(errno.EIO, f"{count} of {length} bytes at {offset} could be read")
    return buffer[:length]


def content_facts(path: str, run: Runner) -> dict[str, Any]:
    """Return the content of a device, or why it is unknown (probe_error). The keys are documented in etcd_host_info's RETURN."""
    values, found, problem = _probe(path, run)
    taken: dict[str, Any] = {"sampled": 0, "nonzero_at": None, "has_erased_mark": False}
    if problem is None and found is None:
        try:
            taken = sample(path)
        except OSError as error:
            problem = f"cannot be read: {error.strerror}"
    return {
        "signature": found,
        "probe_error": problem,
        "usage": values.get("USAGE"),
        "fstype": values.get("TYPE"),
        "label": values.get("LABEL"),
        "uuid": values.get("UUID"),
        "partition_table": values.get("PTTYPE"),
        **taken,
    }


def _probe(path: str, run: Runner) -> tuple[dict[str, str], str | None, str | None]:
    """Return blkid's findings, a description of the signature, and the reason if the device could not be probed."""
    try:
        # blkid also answers "nothing found" if it cannot read, so that answer proves nothing.
        with open(path, "rb", buffering=0) as stream:
            stream.read(4096)
    except OSError as error:
        return {}, None, f"cannot be read: {error.strerror}"
    code, output = run(["blkid", "-p", "-o", "export", path])
    if code == BLKID_AMBIVALENT:
        return {}, "several contradicting signatures", None
    if code not in (0, BLKID_NOTHING):
        return {}, None, f"blkid failed with code {code}"
    values = parse_blkid(output)
    return values, signature(values), None
