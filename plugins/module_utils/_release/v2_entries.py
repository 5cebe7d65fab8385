# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find entries of the v2 API in a member's write-ahead log that its next start would replay.

etcd 3.5 writes such entries for its own use (a member's client URLs, the cluster's version) until the cluster is at 3.6. etcd 3.7 panics on
them when it replays them ("unmarshal should never fail"), unless a disk snapshot of raft's state is newer. Seen with 3.5.35, 3.6.16 and 3.7.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import wal

_NORMAL = 0  # the type of an entry that holds a request; others change the members


def count_v2_entries(data_dir: Path, wal_dir: Path | None) -> int:
    """Return how many entries of the v2 API follow the newest disk snapshot. Raises OSError if the log cannot be read."""
    snapshot = newest_snapshot(data_dir / "member" / "snap")
    found = set()
    for path in log_files(wal_dir or data_dir / "member" / "wal", snapshot):
        with path.open("rb") as log:
            for index, data in read_entries(log):
                if index > snapshot and is_v2(data):
                    found.add(index)
    return len(found)


def newest_snapshot(folder: Path) -> int:
    """Return the raft index of the newest disk snapshot, 0 without one."""
    names = (re.fullmatch(r"[0-9a-f]{16}-([0-9a-f]{16})\.snap", path.name) for path in folder.iterdir())
    return max((int(name.group(1), 16) for name in names if name), default=0)


def log_files(folder: Path, index: int) -> list[Path]:
    """Return the files of the log that may have entries after an index, oldest first."""
    paths = sorted(path for path in folder.iterdir() if re.fullmatch(r"[0-9a-f]{16}-[0-9a-f]{16}\.wal", path.name))
    older = [number for number, path in enumerate(paths) if int(path.stem.split("-")[1], 16) <= index]
    return paths[older[-1] :] if older else paths


def read_entries(log: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the index and the beginning of the data of each normal entry with data in one file, up to its end or a torn record."""
    for kind, start in wal.read_records(log):
        entry = wal.parse_fields(start)
        index, data = wal.number_field(entry, 3), wal.bytes_field(entry, 4)
        if kind == wal.ENTRY and wal.number_field(entry, 1) == _NORMAL and data:
            yield index, data


def is_v2(data: bytes) -> bool:
    """Return whether an entry's data is a request of the v2 API: its second field is the method; no other request has that field."""
    return isinstance(wal.parse_fields(data, last=2).get(2), bytes)
