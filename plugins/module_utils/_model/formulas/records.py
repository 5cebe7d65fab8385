# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The records that formulas return, and the numbers that several of them need.

Private to the collection. Pure, in the subset of Python that formulas/__init__.py describes.
"""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024
# Microseconds of a second.
MICROSECONDS = 1000 * 1000
# The upper bound of a database without a quota, which keeps all figures finite.
NO_QUOTA = 1024 * 1024 * 1024 * 1024 * 1024


@dataclass(frozen=True)
class Database:
    """The database file: bytes, but for history, which counts revisions."""

    revision: int
    history: int
    live: int
    limit: int
    in_use: int
    size: int


@dataclass(frozen=True)
class Components:
    """The bytes of each part of a member."""

    base: int
    raft_log: int
    peers: int
    index: int
    watches: int
    connections: int
    leases: int
    requests: int
    write_batch: int
    freelist: int
    range_answers: int
    watch_events: int
    start_up: int


@dataclass(frozen=True)
class Required:
    """The memory that a member needs, in bytes, and the components that it consists of."""

    components: Components
    heap_live: int
    restart_heap_live: int
    rss_anon_peak: int
    restart_rss_anon_peak: int
    follower_snapshot_rss_anon_peak: int
    db_hot: int
    outside_go: int
    memory_max_least: int
