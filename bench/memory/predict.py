"""Compute the model's estimate for a measured case."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._model.estimate import estimate

from bench.memory.cases import Case

# Bytes of a key and a value in a range response in addition to their own: revisions, version, framing.
RANGE_OVERHEAD = 16


def number(row: dict[str, str], name: str) -> int:
    """Return a column as an integer."""
    return math.ceil(float(row[name]))


def case_of(row: dict[str, str]) -> Case:
    """Return the case of a row."""
    kinds: dict[str, Callable[[str], Any]] = {"str": str, "int": int, "bool": lambda text: text == "True"}
    return Case(**{field.name: kinds[str(field.type)](row[field.name]) for field in fields(Case)})


def revisions_of(row: dict[str, str], moment: str) -> int:
    """Return how many revisions there are, live and old, at one of the moments of workload_of."""
    keys, puts = number(row, "keys"), number(row, "puts")
    every = number(row, "compact_every")
    if every and moment == "restart":  # those that the last compaction kept
        return min(puts, keys + number(row, "revisions"))
    kept = keys + number(row, "compact_keep") + number(row, "puts_per_second") * every if every else puts
    return min(max(puts, 1), kept) + (case_of(row).puts_after_restart if moment == "defragmentation" else 0)


def workload_of(row: dict[str, str], moment: str = "running") -> dict[str, Any]:
    """Return a case as the model's workload, with the measured rate of puts.

    moment: running, restart (without ranges), or defragmentation (with the puts that followed the restart).
    """
    keys, value, key = number(row, "keys"), number(row, "value_size"), number(row, "key_size")
    puts, rate = number(row, "puts"), number(row, "puts_per_second")
    leases, ranges = number(row, "leases"), number(row, "range_clients")
    # A load of puts opens no watches: those of "mixed-20k" were never opened.
    streams = number(row, "streams") if case_of(row).held else 0
    revisions = revisions_of(row, moment)
    if moment != "running":
        ranges = 0
    live = min(keys, puts) if puts else max(leases, 1)
    # The benchmark tool spreads its connections over the members.
    clients = math.ceil(
        max(number(row, "clients") if puts else 0, number(row, "connections"), ranges, 1) / number(row, "members")
    )
    return {
        "value_size": value,
        "key_size": key,
        "keys": live,
        "puts_per_second": rate,
        "clients": clients,
        **watches_of(row, streams),
        "leases": leases,
        "range_size": ranges * number(row, "range_keys") * (value + key + RANGE_OVERHEAD),
        **({} if number(row, "retention") else {"revisions_per_key": max(1, revisions // live)}),
        **({"tls": True} if row["tls"] == "True" else {"tls": False}),
    }


def watches_of(row: dict[str, str], streams: int) -> dict[str, int]:
    """Return the workload's fields for this many open watch streams of a case."""
    watchers = streams * number(row, "watchers_per_stream")
    return {
        "watch_streams": streams,
        "watchers": watchers,
        "watched_ranges": min(watchers, number(row, "watched_keys")),
    }


def settings_of(row: dict[str, str], moment: str = "running") -> dict[str, Any]:
    """Return the settings of a case. A raft entry with several puts counts as that many entries.

    A restart of 3.6 and 3.7 replays the entries since the last disk snapshot; 3.5 continues to snapshot-count. Older rows
    do not say how many these are. There it is the number of puts modulo snapshot-count, or snapshot-count if that is 0.
    """
    puts = number(row, "txn_ops")
    entries = number(row, "snapshot_count")
    if moment == "restart" and row["series"] != "3.5":
        entries = number(row, "replayed") if row["replayed"] else number(row, "puts") // puts % entries or entries
    compaction = {"auto_compaction_retention": f"{row['retention']}s"} if number(row, "retention") else {}
    found = {
        **compaction,
        "snapshot_count": entries * puts,
        "snapshot_catchup_entries": number(row, "catchup") * puts,
        "quota_backend_bytes": 16 << 30,
        "gogc": number(row, "gogc"),
    }
    return {**found, "gomemlimit": number(row, "gomemlimit")} if number(row, "gomemlimit") else found


def predicted(row: dict[str, str], moment: str = "running") -> dict[str, Any]:
    """Return the model's estimate of a case at one of the moments of workload_of."""
    return estimate(row["version"], workload_of(row, moment), settings_of(row, moment), number(row, "members"))
