# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The memory model: against what was measured."""

from __future__ import annotations

import time
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._model import estimate as model_estimate
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import CONSTANTS_HIGH
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import BadInput

VERSIONS = ["3.5.35", "3.6.16", "3.7.3"]
GB = 10**9


def component(figures: dict[str, Any], name: str) -> dict[str, Any]:
    """Return one component."""
    found: dict[str, Any] = next(part for part in figures["components"] if part["name"] == name)
    return found


# One member, 100 kB values, 8 clients, 20,000 puts in 17 s (or, with the small settings, 10 s), compaction every 5 s: measured.
@pytest.mark.parametrize(
    ("version", "flags", "puts", "anon_peak"),
    [
        ("3.5.35", {"snapshot_count": 10000, "snapshot_catchup_entries": 5000}, 1176, 2.7),
        ("3.5.35", {"snapshot_count": 10000, "gomemlimit": "1800MiB"}, 1176, 1.7),
        ("3.5.35", {"snapshot_count": 1000, "snapshot_catchup_entries": 500}, 2000, 0.43),
        ("3.7.3", {}, 1176, 1.15),
        ("3.7.3", {"snapshot_catchup_entries": 500}, 2000, 0.25),
    ],
)
def test_measured_peaks(version: str, flags: dict[str, Any], puts: int, anon_peak: float) -> None:
    """20,000 puts, which on 3.5 is less than two teeth of the saw; bench/memory measures longer, docs/accuracy.md compares."""
    workload = {
        "value_size": 100000,
        "key_size": 10,
        "keys": 1,
        "puts_per_second": puts,
        "clients": 8,
        "watch_streams": 0,
        "watchers": 0,
        "range_size": 0,
        "revisions_per_key": 6000,
    }
    figures = model_estimate.estimate(version, workload, flags, 1)
    assert 0.95 * anon_peak < figures["rss_anon_peak"] / GB < 1.3 * anon_peak


def test_measured_restart() -> None:
    """3.6 and later, 100 kB values, the default snapshot-count: 1.9 GB after a restart, 0.25 GB in steady state.

    Of bench/memory's starts of this size (log-100k) the highest took 2.3 GB.
    """
    workload = {
        "value_size": 100000,
        "key_size": 10,
        "keys": 6000,
        "clients": 8,
        "range_size": 0,
        "revisions_per_key": 1,
    }
    figures = model_estimate.estimate("3.7.3", workload, {"snapshot_catchup_entries": 500}, 1)
    assert 1.9 < figures["restart_rss_anon_peak"] / GB < 1.2 * 2.3
    assert 0.13 < figures["rss_anon_peak"] / GB < 0.3
    assert any("after a restart" in note for note in figures["notes"])


# Heap in use under load, low and high of the sawtooth, in MB: etcd 3.5.16, published with the catch-up analysis.
@pytest.mark.parametrize(
    ("put", "snapshot_count", "catchup", "low", "high"),
    [
        (1000, 10000, 5000, 6, 28),
        (10000, 10000, 5000, 64, 180),
        (100000, 10000, 5000, 569, 1500),
        (1000000, 10000, 5000, 5000, 14200),
        (1000, 100000, 5000, 15, 143),
        (10000, 100000, 5000, 67, 1100),
        (100000, 100000, 5000, 900, 10600),
        (1000000, 500, 500, 550, 1000),
    ],
)
def test_published_raft_log(put: int, snapshot_count: int, catchup: int, low: int, high: int) -> None:
    workload = {"value_size": put, "key_size": 8, "keys": 10000, "revisions_per_key": 1}
    flags = {"snapshot_count": snapshot_count, "snapshot_catchup_entries": catchup}
    figures = model_estimate.estimate("3.5.16", workload, flags, 1)
    log, base = component(figures, "raft log"), component(figures, "base")
    assert log["low"] / 1e6 < 1.2 * low
    outside = CONSTANTS_HIGH[figures["series"]].base_outside
    assert 0.85 * high < (log["high"] + base["high"] + outside) / 1e6 < 1.2 * high


# Bytes allocated by the index, in MB: published constants of etcd 3.3, whose nodes were larger than today's.
@pytest.mark.parametrize(
    ("keys", "versions", "key", "published"),
    [(100000, 1, 64, 22), (1000000, 1, 64, 218), (1000000, 5, 64, 432), (100000, 1, 256, 41), (1000000, 1, 256, 409)],
)
def test_published_index(keys: int, versions: int, key: int, published: int) -> None:
    workload = {"keys": keys, "key_size": key, "value_size": 0, "revisions_per_key": versions}
    index = component(model_estimate.estimate("3.5.35", workload, {"quota_backend_bytes": -1}), "index")
    assert 0.7 * published < index["high"] / 1e6 < 1.15 * published


@pytest.mark.parametrize(
    ("version", "versions", "low", "high"),
    [
        ("3.6.16", 1, 141, 147),
        ("3.6.16", 5, 253, 259),
        ("3.7.3", 10, 381, 387),
        ("3.5.35", 1, 148, 160),
        ("3.5.35", 5, 260, 272),
    ],
)
def test_measured_index_per_key(version: str, versions: int, low: int, high: int) -> None:
    """The bytes of a key in addition to the key itself."""
    workload = {"keys": 1000000, "key_size": 64, "value_size": 0, "revisions_per_key": versions}
    index = component(model_estimate.estimate(version, workload, {"quota_backend_bytes": -1}), "index")
    assert index["low"] // 10**6 - 64 <= low
    assert 0.95 * high <= index["high"] / 10**6 - 64 <= 1.05 * high


def test_snapshot_count_bounds_steady_memory_on_3_5_only() -> None:
    def peak(version: str, count: int) -> int:
        figures = model_estimate.estimate(version, {"value_size": "100KB"}, {"snapshot_count": count})
        anon: int = figures["rss_anon_peak"]
        return anon

    assert peak("3.5.35", 1000) < peak("3.5.35", 10000)
    assert peak("3.6.16", 1000) == peak("3.6.16", 10000)
    assert peak("3.7.3", 1000) == peak("3.7.3", 10000)


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        ({}, "compaction is off: history grows until the quota of 2.0 GiB stops all writes"),
        ({"quota_backend_bytes": -1}, "compaction is off and there is no quota"),
        ({"gomemlimit": "16MB"}, "GOMEMLIMIT 16.0 MiB is below the "),
        ({"memory_mlock": True}, "memory_mlock keeps the whole database in memory"),
        ({"memory_max": "64MB"}, "MemoryMax 64.0 MiB is below the "),
        ({"quota_backend_bytes": "1MB"}, "the live keys alone take"),
    ],
)
def test_notes(flags: dict[str, Any], text: str) -> None:
    assert any(text in note for note in model_estimate.estimate("3.7.3", {}, flags)["notes"])


def test_zero_is_the_default() -> None:
    figures = model_estimate.estimate("3.5.35", {}, {"snapshot_count": 0, "snapshot_catchup_entries": 0})
    assert (figures["settings"]["snapshot_count"], figures["settings"]["snapshot_catchup_entries"]) == (100000, 5000)


def test_what_is_assumed_is_named() -> None:
    assert model_estimate.estimate("3.7.3", {"value_size": 1})["assumed"][0:2] == ["key_size", "keys"]


@pytest.mark.parametrize(
    ("version", "workload", "flags", "members", "text"),
    [
        ("3.7.3", {"value_sise": 1}, {}, 3, "workload has an unknown key 'value_sise', did you mean 'value_size'?"),
        ("3.7.3", {"zzz": 1}, {}, 3, "unknown key 'zzz'; known: value_size, key_size"),
        ("3.7.3", {"value_size": -1}, {}, 3, "workload.value_size is -1, which is not a valid size"),
        (
            "3.7.3",
            {"value_size": "1TB"},
            {},
            3,
            "workload.value_size is 1.0 TiB: it must lie between 0 B and 512.0 MiB",
        ),
        (
            "3.7.3",
            {},
            {"quota_backend_bytes": 8192},
            3,
            "settings.quota_backend_bytes is 8.0 KiB: it must be 0, -1, or at least 1.0 MiB; 8 GiB is 8589934592",
        ),
        ("3.7.3", {"keys": 0}, {}, 3, "workload.keys is 0: it must lie between 1 and"),
        ("3.7.3", {"keys": "many"}, {}, 3, "workload.keys is 'many', which is not a whole number"),
        ("3.7.3", "x", {}, 3, "workload must be a map of value_size"),
        (
            "3.7.3",
            {},
            {"snapshot_cout": 1},
            3,
            "settings has an unknown key 'snapshot_cout', did you mean 'snapshot_count'?",
        ),
        ("3.7.3", {}, {}, 0, "members is 0: a cluster has between 1 and 99 members"),
        ("3.5.7", {}, {"gomemlimit": "1GB"}, 3, "no effect on etcd 3.5.7: GOMEMLIMIT needs 3.5.8 or later"),
        (
            "3.7.3",
            {},
            {"gomemlimit": "2GB", "memory_max": "1GB"},
            3,
            "settings.gomemlimit (2.0 GiB) is above settings.memory_max",
        ),
        ("3.7.3", {}, {"memory_high": "2GB", "memory_max": "1GB"}, 3, "settings.memory_high (2.0 GiB) is above"),
        (
            "3.7.3",
            {"value_size": "2MB"},
            {},
            3,
            "workload.value_size (2.0 MiB) makes a put larger than max_request_bytes (1.5 MiB), which etcd refuses: with keys of 64 B "
            "a value may have 1,572,770 bytes; split the value into several keys, or raise max_request_bytes",
        ),
        ("3.5.35", {"value_size": 1572771}, {}, 3, "a value may have 1,572,770 bytes"),
        (
            "3.7.3",
            {"value_size": 0, "key_size": 100},
            {"max_request_bytes": 120},
            3,
            "workload.key_size (100 B) makes every put larger than max_request_bytes (120 B), which etcd refuses: raise max_request_bytes",
        ),
        ("3.7.3", {}, {"auto_compaction_mode": "hourly"}, 3, "write periodic or revision"),
        (
            "3.7.3",
            {},
            {"auto_compaction_retention": "5d"},
            3,
            "settings.auto_compaction_retention is '5d', which is not a valid duration",
        ),
        (
            "3.7.3",
            {},
            {"auto_compaction_mode": "revision", "auto_compaction_retention": "5m"},
            3,
            "in revision mode it is a number of revisions",
        ),
        (
            "3.7.3",
            {},
            {"auto_compaction_retention": True},
            3,
            "settings.auto_compaction_retention is True: write for example",
        ),
        (
            "3.7.3",
            {},
            {"auto_compaction_retention": "999999999h"},
            3,
            "settings.auto_compaction_retention is '999999999h': etcd takes at most 2,562,047 hours, the longest duration of Go; "
            "write for example 5m or 720h",
        ),
        (
            "3.7.3",
            {},
            {"auto_compaction_retention": 99999999},
            3,
            "is '99999999' hours: etcd takes at most 2,562,047 hours",
        ),
        ("3.7.3", {}, {"memory_mlock": "yes"}, 3, "settings.memory_mlock is 'yes': write true or false"),
        ("3.8.0", {}, {}, 3, "etcd 3.8.0 is not known; known series: 3.5"),
    ],
)
def test_bad_input(version: str, workload: Any, flags: Any, members: Any, text: str) -> None:
    with pytest.raises(ValueError) as error:
        model_estimate.estimate(version, workload, flags, members)
    assert text in str(error.value)


def test_the_largest_value_that_etcd_accepts() -> None:
    """etcd compares the whole request with max_request_bytes: value, key and framing."""
    found = model_estimate.estimate("3.7.3", {"value_size": 1572770})
    assert found["workload"]["value_size"] == 1572770


@pytest.mark.parametrize("retention", ["2562047h", "2562047"])
def test_the_longest_retention_that_etcd_accepts(retention: str) -> None:
    settings = {"auto_compaction_retention": retention}
    assert model_estimate.estimate("3.7.3", {}, settings)["settings"]["auto_compaction_retention"] == retention


def test_every_problem_is_named_at_once() -> None:
    with pytest.raises(BadInput) as error:
        model_estimate.estimate("3.7.3", {"keys": 0, "clients": -1}, {"gogc": 0}, 0)
    assert str(error.value).count(";") == 3


@pytest.mark.parametrize("version", VERSIONS)
def test_no_overflow(version: str) -> None:
    """The largest input stays exact: twice the watchers are twice the bytes."""
    workload = {"keys": 10**9, "watchers": 10**8, "value_size": (1 << 29) - 94, "puts_per_second": 10**7}
    flags = {"max_request_bytes": "512MB", "quota_backend_bytes": -1}
    watches = component(model_estimate.estimate(version, {**workload, "watch_streams": 0}, flags), "watches")
    assert watches["high"] == 10**8 * 776


def test_fast_enough() -> None:
    """10,000 workloads in 5 s are asked for; a tenth of them, with room for a busy machine."""
    start = time.process_time()
    for number in range(1000):
        model_estimate.estimate("3.7.3", {"value_size": number, "keys": 1 + number})
    assert time.process_time() - start < 1.5
