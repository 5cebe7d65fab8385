# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The memory outside Go's heap, and the limits that a member needs.

Private to the collection. Pure, in the subset of Python that formulas/__init__.py describes.
"""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.module_utils._model.arithmetic import divide_up, permille, scale_up
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import Constants
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.garbage import (
    anon_peak,
    marking_garbage,
    marking_puts,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.live_heap import components, heap_live
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.records import MIB, Database, Required
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.restart import (
    restart_heap_live,
    restore_anon_peak,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.storage import (
    put_size,
    raft_entries,
    raft_log_growth,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import Settings, Workload


def hot_pages(constants: Constants, settings: Settings, db: Database) -> int:
    """Return the pages of the database that must stay in memory, so that the member does not reread them all the time.

    Unit: bytes
    Source: estimate, see the constants
    """
    return (
        db.size
        if settings.memory_mlock
        else max(min(db.size, constants.hot_db_floor), permille(db.size, constants.hot_db))
    )


def mapped_file(constants: Constants, db: Database) -> int:
    """Return the mapped files: the database and etcd itself.

    Unit: bytes
    Source: measured, see the constants
    """
    return db.size + constants.binary_text


def kernel_memory(constants: Constants, workload: Workload, mapped: int) -> int:
    """Return the kernel's memory for the member: socket buffers and page tables.

    Unit: bytes
    Source: estimate, see the constants
    """
    return workload.clients * constants.kernel_connection + divide_up(mapped, constants.page_tables_divisor)


def memory_max(constants: Constants, size: int) -> int:
    """Return the MemoryMax, in whole MiB, whose MemoryHigh has room for this size.

    Unit: bytes
    Source: systemd.resource-control(5)
    """
    return divide_up(scale_up(size, 1000, constants.memory_high), MIB) * MIB


def untouched_buffers(constants: Constants, workload: Workload, members: int) -> int:
    """Return the part of the buffers to and from peers that no message reaches: Go counts it as heap, the kernel does not.

    Unit: bytes
    Source: server/etcdserver/api/rafthttp/msgappv2_codec.go, msgAppV2BufSize
    """
    return (members - 1) * constants.peer_buffers * max(constants.peer_buffer - put_size(workload), 0)


def untouched_queues(constants: Constants, members: int) -> int:
    """Return the queues to and from peers that a start has not filled when its garbage peaks: messages go round in them.

    Unit: bytes
    Source: server/etcdserver/api/rafthttp/peer.go and stream.go
    """
    return (members - 1) * constants.peer_queues


def required(constants: Constants, workload: Workload, settings: Settings, members: int, db: Database) -> Required:
    """Return the memory that a member needs while it runs, right after a restart and as a leader that sends a snapshot, and its smallest MemoryMax.

    Unit: bytes
    Source: the other formulas
    """
    parts = components(constants, workload, settings, members, db, raft_entries(constants, settings))
    live = heap_live(parts)
    copies = marking_puts(constants, workload)
    marked = live + marking_garbage(constants, workload, parts.index) + copies
    answers = parts.range_answers + parts.watch_events
    untouched = untouched_buffers(constants, workload, members)
    running = anon_peak(constants, settings, marked, answers, constants.rss_anon_over_heap) - untouched
    grown = marked + raft_log_growth(constants, workload, settings, members, db)
    leader = anon_peak(constants, settings, grown, answers, constants.rss_anon_over_heap) - untouched
    restart_live = restart_heap_live(constants, workload, settings, members, db, parts)
    restart_marked = restart_live + copies
    restart = anon_peak(constants, settings, restart_marked, parts.start_up, constants.restart_anon_over_heap)
    started = restart - untouched - untouched_queues(constants, members)
    # No plan sets GOMEMLIMIT below what the larger of the two live heaps needs.
    peak = max(running, started, restore_anon_peak(constants, workload, settings, db, max(live, restart_live)))
    hot = hot_pages(constants, settings, db)
    kernel = kernel_memory(constants, workload, peak + mapped_file(constants, db))
    outside_go = hot + constants.binary_text + kernel
    return Required(
        components=parts,
        heap_live=live,
        restart_heap_live=restart_live,
        rss_anon_peak=running,
        restart_rss_anon_peak=peak,
        follower_snapshot_rss_anon_peak=leader,
        db_hot=hot,
        outside_go=outside_go,
        memory_max_least=memory_max(constants, peak + outside_go),
    )


def memory_max_with_snapshot(constants: Constants, needed: Required) -> int:
    """Return the MemoryMax that a leader needs while a follower receives a snapshot.

    Unit: bytes
    Source: the other formulas
    """
    return memory_max(constants, needed.follower_snapshot_rss_anon_peak + needed.outside_go)


def memory_max_recommended(constants: Constants, needed: Required, db: Database) -> int:
    """Return the MemoryMax with room for the whole database in the page cache, while a follower receives a snapshot too.

    Unit: bytes
    Source: the other formulas
    """
    peak = max(needed.restart_rss_anon_peak, needed.follower_snapshot_rss_anon_peak)
    return memory_max(constants, peak + needed.outside_go - needed.db_hot + db.size)


def file_peak(constants: Constants, settings: Settings, needed: Required, db: Database) -> int:
    """Return the peak of RssFile: in a cgroup the kernel drops mapped pages before the limit is reached.

    Unit: bytes
    Source: Documentation/admin-guide/cgroup-v2.rst of Linux
    """
    mapped = mapped_file(constants, db)
    return (
        mapped
        if settings.memory_max is None
        else min(mapped, max(settings.memory_max - needed.rss_anon_peak, constants.binary_text))
    )
