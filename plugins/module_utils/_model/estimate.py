# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much memory a member of etcd takes, by component.

Private to the collection. Pure, and written twice: policies/lib/memory has the same numbers in Rego, to the byte. So there are
integers only, factors are parts per thousand, and every division rounds up unless it says otherwise. The constants, with
source and calibration of each, are in model/memory.yml.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_count, format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import CONSTANTS, GO_PAGE, SIZE_CLASSES
from ansible_collections.etcdops.headroom.plugins.module_utils._model.releases import series as series_of
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import read, retention_amount

MIB = 1024 * 1024
# A database without a quota is reckoned no larger than this: it keeps the figures finite.
NO_QUOTA = 1 << 50


def divide_up(number: int, divisor: int) -> int:
    """Return the quotient, rounded up."""
    return -(-number // divisor)


def permille(number: int, factor: int) -> int:
    """Return number × factor / 1000, rounded up."""
    return divide_up(number * factor, 1000)


def size_class(size: int) -> int:
    """Return what Go's allocator takes for an object of this size: its size class, or whole pages."""
    if size > SIZE_CLASSES[-1]:
        return divide_up(size, GO_PAGE) * GO_PAGE
    return SIZE_CLASSES[bisect_left(SIZE_CLASSES, size)]


def history(constants: dict[str, Any], workload: dict[str, Any], settings: dict[str, Any], room: int) -> int:
    """Return the revisions kept beyond the live ones at the peak, no more than there is room for in the database."""
    keys: int = workload["keys"]
    writes: int = workload["puts_per_second"]
    if workload["revisions_per_key"] is not None:
        revisions: int = (workload["revisions_per_key"] - 1) * keys
        return min(revisions, room)
    amount = retention_amount(settings["auto_compaction_mode"], settings["auto_compaction_retention"])
    if amount == 0:
        return room if writes > 0 else 0
    if settings["auto_compaction_mode"] == "revision":
        revisions = amount + writes * constants["compaction_revision_check"]
    elif amount <= constants["compaction_hour"]:
        revisions = writes * permille(amount, constants["compaction_periodic_peak"])
    else:
        revisions = writes * (amount + constants["compaction_long_extra"])
    return min(revisions, room)


def database(constants: dict[str, Any], workload: dict[str, Any], settings: dict[str, Any]) -> dict[str, int]:
    """Return the database file: bytes and number of revisions, bytes in use, low and high of the file."""
    element = constants["db_revision_overhead"] + workload["key_size"] + workload["value_size"]
    leaf = max(constants["db_leaf_min"], constants["db_leaf_fill"] // element)
    page = constants["db_page"]
    revision = divide_up(divide_up(constants["db_page_header"] + leaf * element, page) * page, leaf)
    quota = settings["quota_backend_bytes"]
    limit = NO_QUOTA if quota < 0 else quota or constants["quota_default"]
    live = workload["keys"] * revision
    old = history(constants, workload, settings, max(limit - live, 0) // revision)
    in_use = min(live + old * revision, limit)
    return {
        "revision": revision,
        "history": old,
        "live": live,
        "limit": limit,
        "in_use": in_use,
        "low": min(permille(in_use, constants["db_churn"]["low"]), limit),
        "high": min(permille(in_use, constants["db_churn"]["high"]), limit),
    }


def raft_entries(constants: dict[str, Any], settings: dict[str, Any]) -> dict[str, int]:
    """Return the entries in memory: low and high of a running member, and right after a restart.

    3.5 compacts its log when it takes a disk snapshot, 3.6 and later each 100 entries whatever snapshot-count says; the
    log since the last disk snapshot is replayed into memory at start.
    """
    catchup, snapshot = settings["snapshot_catchup_entries"], settings["snapshot_count"]
    every = constants["raft_compacts_every"]
    return {
        "low": catchup,
        "high": catchup + (every if every > 0 else snapshot) + 1,
        "restart": snapshot,
    }


def heap_bounds(
    constants: dict[str, Any], settings: dict[str, Any], live: int, spikes: int, beyond: int
) -> tuple[int, int]:
    """Return the peaks of the heap and of RssAnon.

    live: bytes reachable at the peak; spikes: bytes that live for a moment; beyond: permille of the heap that RssAnon is.
    Without a limit the heap grows by GOGC percent of what is live. GOMEMLIMIT, which counts all of Go's memory, presses it
    down, but not below what the live heap needs.
    """
    heap = live + divide_up(live * settings["gogc"], 100) + spikes
    anon = permille(heap, beyond)
    limit = settings["gomemlimit"]
    if limit is not None:
        floor = permille(live + spikes, constants["gomemlimit_floor"])
        heap = min(heap, max(floor, limit))
        anon = min(anon, max(permille(floor, beyond), limit))
    return heap, anon


def requests_in_flight(constants: dict[str, Any], workload: dict[str, Any], put: int) -> int:
    """Return how many puts of this size are under way at once: those of the time that one takes, one for each client at most."""
    clients: int = workload["clients"]
    milliseconds = constants["request_time"] + divide_up(put * constants["request_time_mib"], MIB)
    return min(clients, divide_up(workload["puts_per_second"] * milliseconds, 1000))


def batched(constants: dict[str, Any], db: dict[str, int], put: int) -> int:
    """Return the bytes of one put in the write batch: half of them the put itself, half its place in the database's pages."""
    overhead: int = constants["put_overhead"]
    return divide_up(db["revision"] + put, 2) + overhead


def restart_batch(constants: dict[str, Any], batch: int, one_put: int) -> int:
    """Return what there is of the write batch while the replayed log is in memory, which first entries applied cut short."""
    least: int = constants["restart_batch"]
    first = constants["restart_puts"] * one_put
    return min(batch, max(permille(first, constants["write_batch_copies"]["high"]), least))


def restore_waiting(constants: dict[str, Any], workload: dict[str, Any], revisions: int) -> int:
    """Return the bytes of revisions that were read and wait to be indexed, when a start has read the database.

    The first chunk is indexed before the collector runs; of the next ones as many wait as have been read, one chunk at most.
    """
    further = min(max(revisions - constants["restore_chunk"], 0), constants["restore_further"])
    waiting = divide_up(constants["restore_chunk"] * further, constants["restore_further"])
    value = min(permille(workload["value_size"], constants["restore_share"]), constants["restore_value"])
    size: int = workload["key_size"] + value + constants["restore_pending"]
    return waiting * size


def components(
    constants: dict[str, Any],
    workload: dict[str, Any],
    settings: dict[str, Any],
    members: int,
    db: dict[str, int],
    entries: dict[str, int],
) -> list[dict[str, Any]]:
    """Return all components: name, kind, low and high in bytes, and why.

    kind: heap (live all the time), spike (for a moment), restart (at start), defrag (meanwhile), file (mapped).
    """
    put = workload["key_size"] + workload["value_size"]
    entry = size_class(put + constants["raft_entry_overhead"])
    struct = constants["raft_entry_struct"]
    keys, writes = workload["keys"], workload["puts_per_second"]
    per_key = constants["index_key"] + size_class(workload["key_size"]) + constants["index_version"]
    slot, growth = constants["index_slot"], constants["index_growth"]
    old = db["history"] * constants["index_version"]
    batch = divide_up(writes * batched(constants, db, put) * constants["write_batch_period"], 1000)
    flying = requests_in_flight(constants, workload, put)
    chunk = min(keys + db["history"], constants["restore_chunk"])
    pending = (
        constants["restore_slack"] + keys * constants["restore_key"] + entries["restart"] * constants["restore_entry"]
    )
    pending += restore_waiting(constants, workload, keys + db["history"])
    defrag = min(db["in_use"], constants["defrag_chunk"] * db["revision"])
    catchup = format_count(settings["snapshot_catchup_entries"])
    if constants["raft_compacts_every"] > 0:
        held = format_count(entries["high"])
        log = f"{held} entries of {format_size(put)}, kept for slow followers: catch-up {catchup}"
    else:
        log = (
            f"{format_count(entries['low'])} to {format_count(entries['high'])} entries of {format_size(put)}: "
            f"catch-up {catchup} and up to snapshot-count {format_count(settings['snapshot_count'])} more"
        )

    def times(name: str, count: int) -> tuple[int, int]:
        value = constants[name]
        return (count * value["low"], count * value["high"])

    def share(name: str, size: int) -> tuple[int, int]:
        value = constants[name]
        return (permille(size, value["low"]), permille(size, value["high"]))

    streams, watchers = times("watch_stream", workload["watch_streams"]), times("watcher", workload["watchers"])
    apart = workload["watchers"] if workload["watched_ranges"] is None else workload["watched_ranges"]
    ranges = times("watched_range", apart)
    peers = (members - 1) * constants["peer_connection"]
    rows: list[tuple[str, str, tuple[int, int], str]] = [
        ("base", "heap", times("base_heap", 1), "etcd itself, idle"),
        (
            "raft log",
            "heap",
            (entries["low"] * (entry + struct["low"]), entries["high"] * (entry + struct["high"])),
            log,
        ),
        ("peers", "heap", (peers, peers), f"connections to {format_count(members - 1)} other members"),
        (
            "index",
            "heap",
            (
                keys * (per_key + slot["low"]) + permille(old, growth["low"]),
                keys * (per_key + slot["high"]) + permille(old, growth["high"]),
            ),
            f"{format_count(keys)} keys of {format_size(workload['key_size'])}, {format_count(db['history'])} old versions",
        ),
        (
            "watches",
            "heap",
            (streams[0] + watchers[0] + ranges[0], streams[1] + watchers[1] + ranges[1]),
            f"{format_count(workload['watchers'])} watchers of {format_count(apart)} ranges "
            f"on {format_count(workload['watch_streams'])} streams",
        ),
        (
            "connections",
            "heap",
            times("connection_tls" if workload["tls"] else "connection", workload["clients"]),
            f"{format_count(workload['clients'])} clients, {'TLS' if workload['tls'] else 'plain'}",
        ),
        ("leases", "heap", times("lease", workload["leases"]), f"{format_count(workload['leases'])} leases"),
        (
            "requests",
            "heap",
            share("request_copies", flying * put),
            f"{format_count(flying)} puts of {format_size(put)} under way at once",
        ),
        (
            "write batch",
            "heap",
            share("write_batch_copies", batch),
            f"{format_count(writes)} puts/s of {format_size(put)}, "
            f"committed every {constants['write_batch_period']} ms",
        ),
        (
            "freelist",
            "heap",
            (
                permille(db["low"] - db["in_use"], constants["freelist"]["low"]),
                permille(db["high"] - db["in_use"], constants["freelist"]["high"]),
            ),
            f"up to {format_size(db['high'] - db['in_use'])} of free pages in the database",
        ),
        (
            "range answers",
            "spike",
            share("range_copies", workload["range_size"]),
            f"{format_size(workload['range_size'])} of answers in flight",
        ),
        (
            "start-up",
            "restart",
            (pending, pending),
            f"index rebuilt, {format_count(chunk)} revisions at a time",
        ),
        (
            "defragmentation",
            "defrag",
            share("defrag_copies", defrag),
            f"one transaction copies {format_size(defrag)}",
        ),
        (
            "database file",
            "file",
            (db["low"], db["high"]),
            f"{format_count(keys)} live and {format_count(db['history'])} old revisions "
            f"of {format_size(db['revision'])}",
        ),
    ]
    return [{"name": row[0], "kind": row[1], "low": row[2][0], "high": row[2][1], "why": row[3]} for row in rows]


def estimate(version: Any, workload: Any, settings: Any = None, members: Any = 3) -> dict[str, Any]:
    """Return what a member will need, in bytes, by component and as a whole.

    workload and settings as described in the documentation of the module etcd_memory_estimate; sizes may carry a unit.
    Raises UnknownVersion, or BadInput naming every problem.
    """
    full, effective, assumed = read(version, workload, {} if settings is None else settings, members)
    series = series_of(version)
    constants = CONSTANTS[series]
    db = database(constants, full, effective)
    entries = raft_entries(constants, effective)
    parts = components(constants, full, effective, members, db, entries)
    high = {part["name"]: part["high"] for part in parts}
    live = sum(part["high"] for part in parts if part["kind"] == "heap")
    one_entry = high["raft log"] // entries["high"]  # divides evenly
    heap_peak, anon = heap_bounds(constants, effective, live, high["range answers"], constants["rss_anon_over_heap"])
    restart_live = live - high["raft log"] - high["write batch"] + entries["restart"] * one_entry
    one_put = batched(constants, db, full["key_size"] + full["value_size"])
    restart_live += restart_batch(constants, high["write batch"], one_put)
    if members == 1:
        once_more = permille(high["requests"], constants["restart_requests"])
        restart_live += min(once_more, constants["restart_requests_max"])
    restart_heap, restart = heap_bounds(
        constants, effective, restart_live, high["start-up"], constants["restart_anon_over_heap"]
    )
    restart_heap, restart = max(heap_peak, restart_heap), max(anon, restart)
    # Defragmentation blocks writes; its copies come on top of the live heap. The measured factor includes garbage, which
    # is all that GOMEMLIMIT can save.
    defrag = live + high["defragmentation"]
    if effective["gomemlimit"] is not None:
        low = next(part["low"] for part in parts if part["name"] == "defragmentation")
        defrag = min(defrag, max(effective["gomemlimit"], permille(live + low, constants["gomemlimit_floor"])))
    defrag = max(anon, defrag)
    rss_file = db["high"] + constants["binary_text"]
    kernel = full["clients"] * constants["kernel_connection"]
    kernel += divide_up(restart + rss_file, constants["page_tables_divisor"])
    hot = max(min(db["high"], constants["hot_db_floor"]), permille(db["high"], constants["hot_db"]))
    if effective["memory_mlock"]:
        hot = db["high"]
    beside_go = hot + constants["binary_text"] + kernel

    def limit(beside: int) -> int:
        return divide_up(divide_up((restart + beside) * 1000, constants["memory_high"]), MIB) * MIB

    # In a cgroup the mapped pages count too: they are dropped before the limit is passed.
    resident_file = rss_file
    if effective["memory_max"] is not None:
        resident_file = min(rss_file, max(effective["memory_max"] - anon, constants["binary_text"]))
    result = {
        "version": version,
        "series": series,
        "members": members,
        "workload": full,
        "assumed": assumed,
        "settings": effective,
        "components": parts,
        "heap_live": live,
        "heap_peak": heap_peak,
        "restart_heap_live": restart_live,
        "rss_anon_peak": anon,
        "rss_file_peak": resident_file,
        "rss_peak": anon + resident_file,
        "restart_heap_peak": restart_heap,
        "restart_rss_anon_peak": restart,
        "defrag_rss_anon_peak": defrag,
        "db_size": db["high"],
        "db_in_use": db["in_use"],
        "db_hot": hot,
        "beside_go": beside_go,
        "memory_max_least": limit(beside_go),
        "memory_max_recommended": limit(beside_go - hot + db["high"]),
    }
    result["notes"] = notes(constants, result, db, entries, one_entry)
    return result


def notes(
    constants: dict[str, Any], result: dict[str, Any], db: dict[str, int], entries: dict[str, int], one_entry: int
) -> list[str]:
    """Return what a person should know beside the figures, in a fixed order."""
    workload, settings = result["workload"], result["settings"]
    live = result["heap_live"]
    texts = []
    if constants["raft_compacts_every"] > 0 and entries["restart"] > entries["high"]:
        texts.append(
            f"right after a restart up to {format_count(entries['restart'])} entries are replayed into memory, "
            f"RssAnon {format_size(result['restart_rss_anon_peak'])}: snapshot-count governs this, not the steady state"
        )
    if result["members"] > 1 and workload["puts_per_second"] > 0:
        grown = settings["snapshot_count"]
        if constants["raft_compacts_every"] > 0:
            grown = 30 * workload["puts_per_second"]
        texts.append(
            f"while a follower is sent a snapshot the raft log is not compacted: {format_size(grown * one_entry)} more "
            + ("for each 30 s" if constants["raft_compacts_every"] > 0 else "for each compaction that is skipped")
        )
    off = retention_amount(settings["auto_compaction_mode"], settings["auto_compaction_retention"]) == 0
    if off and workload["revisions_per_key"] is None and workload["puts_per_second"] > 0:
        texts.append(
            "compaction is off: history grows until the quota of " + format_size(db["limit"]) + " stops all writes"
            if settings["quota_backend_bytes"] >= 0
            else "compaction is off and there is no quota: the database grows without a bound"
        )
    if db["live"] > db["limit"]:
        texts.append(
            f"the live keys alone take {format_size(db['live'])}, more than the quota of {format_size(db['limit'])}: "
            "etcd will stop taking writes"
        )
    if settings["gomemlimit"] is not None and settings["gomemlimit"] < permille(live, constants["gomemlimit_floor"]):
        texts.append(
            f"GOMEMLIMIT {format_size(settings['gomemlimit'])} is below what the live heap of {format_size(live)} "
            "needs: Go would collect garbage without pause"
        )
    if settings["memory_mlock"]:
        texts.append("memory_mlock keeps the whole database in memory: it counts in full")
    bound = settings["memory_max"] or result["memory_max_recommended"]
    if result["defrag_rss_anon_peak"] > bound:
        texts.append(
            f"a defragmentation needs {format_size(result['defrag_rss_anon_peak'])} for a moment, "
            f"more than a MemoryMax of {format_size(bound)}: raise the limit while it runs"
        )
    if settings["memory_max"] is not None and settings["memory_max"] < result["memory_max_least"]:
        texts.append(
            f"MemoryMax {format_size(settings['memory_max'])} is below the {format_size(result['memory_max_least'])} "
            "that the member needs at least"
        )
    elif settings["memory_max"] is not None and settings["memory_max"] < result["memory_max_recommended"]:
        texts.append(
            f"MemoryMax {format_size(settings['memory_max'])} does not hold the whole database of up to "
            f"{format_size(result['db_size'])} beside the peak: what is dropped is read from the disk again, above all by "
            f"compaction and at a start; {format_size(result['memory_max_recommended'])} would hold it"
        )
    return texts
