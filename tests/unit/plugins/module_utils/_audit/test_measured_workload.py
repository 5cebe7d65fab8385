# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measurements become a workload; what they do not say is unknown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.history import History
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.pages import Key
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.sample import Sample
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.scrape import Load, Scrape
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.workload import (
    Measured,
    MemberReading,
    Readings,
    measured_workload,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import parse_workload

FIGURES = {
    "puts": 9000.0,
    "put_bytes": 9_000_000.0,
    "keys": 500.0,
    "revision": 4001.0,
    "compact_revision": 3001.0,
    "watchers": 12.0,
    "watch_streams": 4.0,
    "open_files": 31.0,
}
LOAD = Load(10.0, {"puts": 2000.0, "put_bytes": 2_400_000.0, "revision": 1000.0, "deletes": 0.0, "sent_bytes": 20480.0})
LEADER = MemberReading("m1", True, Scrape("1", FIGURES, 10.0), LOAD)
KEYS = Sample([(Key(b"k" * 20, 300, 1, 1, 0), 500.0)], 500)


def measured(*members: MemberReading, sample: Sample | str = KEYS, leases: int | str = 3) -> Measured:
    return measured_workload(Readings(list(members), sample, leases, True))


def test_a_plan_takes_the_measured_workload() -> None:
    found = measured(LEADER)
    assert found.workload == {
        "key_size": 20,
        "value_size": 1180,
        "puts_per_second": 200,
        "keys": 500,
        "revisions_per_key": 5,
        "watch_streams": 4,
        "watchers": 12,
        "leases": 3,
        "tls": True,
    }
    assert set(found.basis) == set(found.workload)
    assert set(found.unknown) == {"clients", "writers", "range_size", "watched_ranges"}
    assert "31, its open files" in found.unknown["clients"] and "2.0 KiB a second" in found.unknown["range_size"]
    problems: list[str] = []
    parse_workload(found.workload, problems)
    assert problems == []


def test_the_busiest_member_has_the_watchers_and_the_leader_the_writes() -> None:
    follower = MemberReading(
        "m2", False, Scrape("2", {**FIGURES, "watchers": 99.0, "puts": 1.0}, 9.0), replace(LOAD, seconds=1.0)
    )
    found = measured(follower, LEADER)
    assert found.workload["watchers"] == 99 and found.basis["watchers"].startswith("m2")
    assert found.workload["puts_per_second"] == 200


@pytest.mark.parametrize(
    ("load", "figures", "size", "basis"),
    [
        (
            replace(LOAD, increase={"puts": 3.0, "put_bytes": 3000.0}),
            FIGURES,
            980,
            "9,000 puts since the member started",
        ),
        (None, {"keys": 500.0}, 300, "because no put was counted"),
    ],
)
def test_values_are_measured_by_the_best_that_there_is(load: Any, figures: Any, size: int, basis: str) -> None:
    found = measured(MemberReading("m1", True, Scrape("1", figures, 10.0), load))
    assert found.workload["value_size"] == size and basis in found.basis["value_size"]


def test_without_metrics_only_the_sample_is_known() -> None:
    found = measured(MemberReading("m1", True, None, None, "connection refused"), leases="denied")
    assert found.workload == {"key_size": 20, "value_size": 300, "keys": 500, "tls": True}
    assert (
        found.unknown["puts_per_second"] == "no member's metrics could be read" and found.unknown["leases"] == "denied"
    )


def test_a_restart_leaves_the_rate_unknown() -> None:
    found = measured(MemberReading("m1", True, Scrape("1", FIGURES, 10.0), None, "it restarted"))
    assert found.unknown["puts_per_second"] == "it restarted" and found.workload["keys"] == 500


def test_denied_keys_leave_sizes_unknown_with_the_mean_of_a_put() -> None:
    found = measured(LEADER, sample="permission denied")
    assert found.unknown["value_size"] == (
        "keys could not be sampled: permission denied; a put has 1.2 KiB on average, key included"
    )
    assert found.workload["keys"] == 500


def test_an_empty_database() -> None:
    empty = Scrape("1", {**FIGURES, "keys": 0.0, "puts": 0.0}, 10.0)
    found = measured(MemberReading("m1", True, empty, Load(10.0, {"puts": 0.0})), sample=Sample())
    assert found.workload["puts_per_second"] == 0 and "keys" not in found.workload
    assert found.unknown["keys"] == "the database has no keys, and a plan takes 1 or more"


def test_a_database_that_was_never_compacted_keeps_every_revision() -> None:
    figures = {**FIGURES, "compact_revision": -1.0}
    found = measured(MemberReading("m1", True, Scrape("1", figures, 10.0), Load(10.0, {"puts": 1.0})))
    assert found.workload["revisions_per_key"] == 8


def test_revisions_of_a_key_are_rounded_up() -> None:
    """Rounded down, the plan would have no room for 400 of 1,400 revisions."""
    figures = {**FIGURES, "keys": 1000.0, "revision": 1401.0, "compact_revision": -1.0}
    found = measured(MemberReading("m1", True, Scrape("1", figures, 10.0), Load(10.0, {"puts": 1.0})))
    assert found.workload["revisions_per_key"] == 2


def test_keys_that_were_written_once_have_one_revision() -> None:
    figures = {**FIGURES, "keys": 1000.0, "revision": 1006.0, "compact_revision": -1.0}
    found = measured(MemberReading("m1", True, Scrape("1", figures, 10.0), Load(10.0, {"puts": 1.0})))
    assert found.workload["revisions_per_key"] == 1


def with_history(figures: dict[str, float], highest: dict[str, int], writes: float = 1.0) -> Measured:
    """Return the workload of a member with these figures, and of a Prometheus server with these highest gauges."""
    member = MemberReading("m1", True, Scrape("1", {**FIGURES, **figures}, 10.0), Load(10.0, {"puts": 1.0}))
    history = History(0.0, 86_400.0, 60.0, highest=highest, revision_writes=writes)
    return measured_workload(Readings([member], KEYS, 3, True, history))


NEVER = {"keys": 1000.0, "revision": 1006.0, "compact_revision": -1.0}
FEW_NOW = {"keys": 1000.0, "revision": 20_000.0, "compact_revision": 10_000.0}


@pytest.mark.parametrize(
    ("figures", "highest", "keys", "revisions"),
    [
        # Without a compaction the live keys are among the versions.
        (NEVER, {"keys": 1000, "all_revisions": 1005}, 1000, 1),
        (NEVER, {"keys": 1000, "all_revisions": 5000}, 1000, 5),
        (NEVER, {"keys": 500, "all_revisions": 1005, "revisions": 4000}, 1000, 5),
        # Many keys have the versions that few keys have now.
        (FEW_NOW, {"keys": 100_000, "revisions": 10_000}, 100_000, 2),
        (FEW_NOW, {"keys": 100_000, "revisions": 300_000}, 100_000, 4),
        (FEW_NOW, {"keys": 800, "revisions": 300}, 1000, 11),
        (FEW_NOW, {"keys": 100_000}, 100_000, 2),
        (NEVER, {"keys": 100_000}, 100_000, 1),
    ],
)
def test_revisions_belong_to_the_highest_number_of_keys(
    figures: dict[str, float], highest: dict[str, int], keys: int, revisions: int
) -> None:
    found = with_history(figures, highest).workload
    assert (found["keys"], found["revisions_per_key"]) == (keys, revisions)


def test_transactions_count_with_all_their_writes() -> None:
    found = with_history(NEVER, {"all_revisions": 1100}, writes=3.0)
    assert found.workload["revisions_per_key"] == 4
    assert found.basis["revisions_per_key"].startswith(
        "at most 3,300 versions of keys before the first compaction from "
    )


def test_revisions_are_known_from_history_alone() -> None:
    member = MemberReading("m1", True, None, None, "connection refused")
    history = History(0.0, 86_400.0, 60.0, highest={"keys": 2000, "revisions": 4000})
    found = measured_workload(Readings([member], "denied", "denied", True, history))
    assert (found.workload["keys"], found.workload["revisions_per_key"]) == (2000, 3)
    assert "revisions_per_key" not in found.unknown
