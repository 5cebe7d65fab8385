# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose the revision that restored data begins with, above every revision that clients may have seen. Pure.

A watch from a future revision waits for it without an error, and misses all writes before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._backup.restore_folders import RestoreError

# Releases that recorded no bump added this by default.
DEFAULT_BUMP = 1_000_000_000
# etcd counts revisions in signed 64-bit integers. Half of their range leaves more than enough for writes and for later restores.
MAX_REVISION = 1 << 62


def first_revision(record: Mapping[str, Any]) -> int:
    """Return the revision that the data of a restore began with, by its record; 0 without a valid one."""
    snapshot = record.get("snapshot")
    parts = [snapshot.get("revision") if isinstance(snapshot, dict) else None, record.get("bump", DEFAULT_BUMP)]
    # etcd's user can write the record. A bool is an int, too.
    valid = all(isinstance(part, int) and not isinstance(part, bool) and 0 <= part <= MAX_REVISION for part in parts)
    return sum(parts) if valid else 0


def required_bump(revision: int, known_revision: int, bump: int) -> int:
    """Return what to add to the snapshot's revision: the new data begins ``bump`` above it and above the highest revision known.

    0 adds nothing. Raises RestoreError if etcd could not count that far.
    """
    if not bump:
        return 0
    highest = max(revision, known_revision)
    if highest + bump > MAX_REVISION:
        raise RestoreError(
            f"bump_revision is {bump} and the highest known revision {highest}, but together they must be {MAX_REVISION} or less, because etcd "
            "counts revisions in 64 bits: lower bump_revision (etcd_restore_bump_revision)"
        )
    return highest + bump - revision
