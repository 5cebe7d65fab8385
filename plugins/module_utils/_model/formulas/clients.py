# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What clients occupy: connections, watches, and requests and events in flight.

Private to the collection. Pure, in the subset of Python that formulas/__init__.py describes.
"""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.module_utils._model.arithmetic import divide_up, permille, scale_up
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import Constants
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.records import MIB, MICROSECONDS
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas.storage import put_size
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import Workload


def watched_ranges(workload: Workload) -> int:
    """Return the number of watched keys or ranges: as in the workload, or else the number of watchers.

    Unit: keys or ranges
    Source: server/storage/mvcc/watcher_group.go
    """
    return workload.watchers if workload.watched_ranges is None else workload.watched_ranges


def watch_stream(constants: Constants, workload: Workload) -> int:
    """Return the size of one watch stream; with TLS etcd serves gRPC by another HTTP/2 server, which keeps more for each.

    Unit: bytes
    Source: server/embed/serve.go; measured, see the constants
    """
    return constants.watch_stream_tls if workload.tls else constants.watch_stream


def watches(constants: Constants, workload: Workload) -> int:
    """Return the watch streams, the watchers on them, and the ranges that they watch.

    Unit: bytes
    Source: server/storage/mvcc/watcher_group.go
    """
    stream_bytes = workload.watch_streams * watch_stream(constants, workload)
    watcher_bytes = workload.watchers * constants.watcher
    return stream_bytes + watcher_bytes + watched_ranges(workload) * constants.watched_range


def connections(constants: Constants, workload: Workload) -> int:
    """Return the client connections, stacks included.

    Unit: bytes
    Source: measured, see the constants
    """
    return workload.clients * constants.connection_tls if workload.tls else workload.clients * constants.connection


def writers(workload: Workload) -> int:
    """Return the clients of one member that put at once: as in the workload, or else all of them.

    Unit: clients
    Source: the workload
    """
    return workload.clients if workload.writers is None else workload.writers


def busy(constants: Constants, workload: Workload, members: int) -> int:
    """Return how busy the puts keep a member's log and database: rate × time of one put. At 1000 they are saturated.

    The leader sends each put to the other members too, so that the time of a put's bytes counts for each member.

    Unit: permille
    Source: measured, see the constants
    """
    sent = divide_up(put_size(workload) * members * constants.put_busy_mib, MIB)
    return min(divide_up(workload.puts_per_second * (constants.put_busy + sent), 1000), 1000)


def requests_in_flight(constants: Constants, workload: Workload, members: int, rewritten: int) -> int:
    """Return the puts in flight in the cluster: rate × latency, the longer the busier it is, and at most one for each client that puts.

    While a compaction commits the pages that it has written again, puts wait.

    Unit: puts
    Source: Little's law, and the waiting time of a single queue; measured, see the constants
    """
    latency = constants.request_time + divide_up(put_size(workload) * constants.request_time_mib, MIB)
    idle = max(1000 - busy(constants, workload, members), 1)
    commit = scale_up(rewritten, constants.put_busy_mib, MIB)
    waiting = scale_up(workload.puts_per_second, commit, MICROSECONDS)
    return min(writers(workload) * members, divide_up(workload.puts_per_second * latency, idle) + waiting)


def requests(constants: Constants, workload: Workload, members: int, rewritten: int) -> int:
    """Return the puts in flight on one member: those of its own clients, and those of other members, which raft brings to each.

    Unit: bytes
    Source: server/etcdserver/v3_server.go and raft.go; go.etcd.io/raft, raft.go
    """
    puts = requests_in_flight(constants, workload, members, rewritten)
    own = divide_up(puts, members)
    forwarded = (puts - own) * permille(put_size(workload), constants.request_forwarded)
    return own * (permille(put_size(workload), constants.request_copies) + constants.request_overhead) + forwarded


def watch_events(constants: Constants, workload: Workload, members: int, rewritten: int) -> int:
    """Return the events in flight to watchers: each stream marshals one event at a time.

    In the worst case the puts in flight are to different watched ranges. One event of each is part of the put.

    Unit: bytes
    Source: server/etcdserver/api/v3rpc/watch.go, sendLoop
    """
    ranges = max(watched_ranges(workload), 1)
    puts = min(requests_in_flight(constants, workload, members, rewritten), ranges)
    events = min(puts * max(divide_up(workload.watchers, ranges) - 1, 0), workload.watch_streams)
    return events * put_size(workload)
