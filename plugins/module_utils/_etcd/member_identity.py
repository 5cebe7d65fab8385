# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the ids of a member and its cluster from its write-ahead log. Private to the collection.

Each segment begins with a CRC record and a metadata record (server/storage/wal/wal.go, 3.5 to 3.7).
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import wal

HEAD_BYTES = 512  # both records, many times over


def read_identity(folders: Iterable[str]) -> dict[str, str] | None:
    """Return ``member_id`` and ``cluster_id`` of the newest segment in the folders, in hexadecimal; None if there is none."""
    segments = [
        os.path.join(folder, name)
        for folder in folders
        if os.path.isdir(folder)
        for name in os.listdir(folder)
        if name.endswith(".wal")
    ]
    if not segments:
        return None
    try:
        with open(max(segments, key=os.path.basename), "rb") as file:
            return parse_identity(file.read(HEAD_BYTES))
    except OSError:
        return None


def parse_identity(head: bytes) -> dict[str, str] | None:
    """Parse the beginning of a segment. None if it holds no metadata, as after an interrupted first start."""
    for kind, data in wal.read_records(io.BytesIO(head)):
        if kind == wal.METADATA:
            ids = wal.parse_fields(data)
            return {
                "member_id": format(wal.number_field(ids, 1), "x"),
                "cluster_id": format(wal.number_field(ids, 2), "x"),
            }
    return None
