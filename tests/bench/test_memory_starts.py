"""The recorded starts over large databases are those of the cases, and the model has a figure for each."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB

from bench.memory.predict import case_of
from bench.memory.results import read
from bench.memory.starts import RESULTS, cases, database, predicted


def test_the_results_are_those_of_the_cases() -> None:
    known = {(case.series, case.name): case for case in cases()}
    for row in read(RESULTS):
        assert case_of(row) == known[row["series"], row["name"]]
        assert 0 < float(row["restart_rss_anon_least"]) <= float(row["restart_rss_anon_peak"])


def test_hardly_any_raft_log_is_replayed() -> None:
    for case in cases():
        assert case.snapshot_count * case.value_size <= 10 * MIB


def test_the_model_follows_the_limit_of_the_heap() -> None:
    free, limited = database("3.7", "fit", 100000, 9000), database("3.7", "fit", 100000, 9000, gomemlimit=64 * MIB)
    rows = {row["name"]: row for row in read(RESULTS) if row["series"] == "3.7"}
    measured = rows[limited.name]
    unlimited = {**measured, "name": free.name, "gomemlimit": "0"}
    assert predicted(measured) < predicted(unlimited)
    assert replace(limited, name=free.name, gomemlimit=0) == free
