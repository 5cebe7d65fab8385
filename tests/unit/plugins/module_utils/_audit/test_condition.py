# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import math

from ansible_collections.etcdops.headroom.plugins.module_utils._audit.condition import UNKNOWN, describe_condition
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.scrape import Scrape
from ansible_collections.etcdops.headroom.plugins.module_utils._storage.live_latency import Histogram, Metrics

BOUNDS = (0.001, 0.016, 0.032, math.inf)


def page(at: float, fast: int, slow: int, changes: int = 1, started: float | None = 1000.0) -> Scrape:
    """Return a page with fsyncs below 1 ms and slow ones of 16 to 32 ms, and as many commits."""
    histogram = Histogram(BOUNDS, (fast, fast, fast + slow, fast + slow))
    return Scrape("1", {}, at, Metrics(histogram, histogram, 0, changes, started))


def test_the_window_counts_if_it_has_enough_samples() -> None:
    found = describe_condition(page(1.0, 500, 0), page(11.0, 560, 60), 4600.0)
    assert found["wal_fsync"]["samples"] == 120 and found["wal_fsync"]["seconds"] == 10
    assert found["wal_fsync"]["p99_us"] > 30_000 and not found["wal_fsync"]["since_start"]
    assert (found["leader_changes"], found["leader_changes_since_start"], found["uptime"]) == (0, 1, 3600)


def test_a_quiet_window_leaves_all_since_the_start() -> None:
    found = describe_condition(page(1.0, 500, 0), page(11.0, 510, 0, changes=3), 4600.0)
    assert found["wal_fsync"] == {"p99_us": 990, "samples": 510, "seconds": 3600, "since_start": True}
    assert found["leader_changes"] == 2


def test_a_member_that_was_slow_only_before_is_not_slow() -> None:
    found = describe_condition(page(1.0, 500, 60), page(11.0, 550, 60), 4600.0)
    assert found["backend_commit"] == {"p99_us": 990, "samples": 50, "seconds": 10, "since_start": False}


def test_a_slow_moment_does_not_make_a_member_slow() -> None:
    found = describe_condition(page(1.0, 5000, 0), page(11.0, 5050, 1), 4600.0)
    assert found["wal_fsync"]["p99_us"] < 1000 and found["wal_fsync"]["since_start"]


def test_a_few_fast_samples_do_not_acquit_a_slow_member() -> None:
    found = describe_condition(page(1.0, 500, 60), page(11.0, 510, 60), 4600.0)
    assert found["wal_fsync"]["p99_us"] > 30_000 and found["wal_fsync"]["since_start"]


def test_too_few_samples_say_nothing() -> None:
    assert describe_condition(page(1.0, 5, 0), page(11.0, 50, 40), 4600.0)["wal_fsync"] is None


def test_a_member_that_restarted_is_known_since_its_start() -> None:
    found = describe_condition(page(1.0, 500, 0, started=1.0), page(11.0, 200, 0), 1060.0)
    assert found["wal_fsync"]["since_start"] and found["leader_changes"] is None


def test_without_metrics_nothing_is_known() -> None:
    assert describe_condition("refused", "refused", 0.0) == UNKNOWN
    assert describe_condition(page(1.0, 1, 0), Scrape("1", {}, 2.0), 0.0) == UNKNOWN
    assert describe_condition("refused", page(11.0, 500, 0, started=None), 9.0)["uptime"] is None
