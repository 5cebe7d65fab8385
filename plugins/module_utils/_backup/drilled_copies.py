# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Record a passed drill at the copies of its snapshot too, so that retention keeps the newest tested copy.

The next backup does this: the drill runs later than the copy of its snapshot. Several hosts may share the directory or bucket of the copies, and
none of them knows the drills of another one, so the record must be next to the copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import retention, store
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.store import StoredSnapshot


@dataclass(frozen=True)
class PassedDrill:
    """The record of a drill, and the SHA-256 of the stored file of its snapshot, which copies have too."""

    file_sha256: str
    text: str


def newest_passed(stored: list[StoredSnapshot], cluster_id: str, now: float) -> PassedDrill | None:
    """Return the drill of the newest snapshot in a directory of this host that passed one."""
    found = retention.newest_drilled(retention.newest_first(stored, cluster_id, now))
    if found is None or found.metadata is None:
        return None
    try:
        return PassedDrill(found.metadata.file_sha256, store.read_drill(found.path))
    except OSError:  # a drill that proved the snapshot bad has removed it
        return None


def mark(
    copies: Sequence[StoredSnapshot], passed: PassedDrill | None, write: Callable[[str, str], None]
) -> list[StoredSnapshot]:
    """Write the record of a drill at the copy of its snapshot, and return the copies. Raises what ``write`` raises."""
    marked = []
    for copy in copies:
        if passed and _is_unmarked(copy, passed):
            write(copy.path, passed.text)
            marked.append(replace(copy, drilled=True))
        else:
            marked.append(copy)
    return marked


def _is_unmarked(copy: StoredSnapshot, passed: PassedDrill) -> bool:
    same = copy.metadata is not None and copy.metadata.file_sha256 == passed.file_sha256
    return same and not copy.problem and not copy.drilled
