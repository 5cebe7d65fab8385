# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Weighted statistics of sizes, and histograms."""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.module_utils._audit.sizes import Histogram, summarize


def test_every_size_counts_by_its_weight() -> None:
    sizes = summarize([(10, 98.0), (1000, 2.0)])
    assert sizes is not None
    assert sizes.as_dict() == {"mean": 30, "p50": 10, "p90": 10, "p99": 1000, "max": 1000}


def test_one_size() -> None:
    sizes = summarize([(7, 0.5)])
    assert sizes is not None and sizes.as_dict() == dict.fromkeys(("mean", "p50", "p90", "p99", "max"), 7)


def test_nothing_has_no_statistics() -> None:
    assert summarize([]) is None and summarize([(3, 0.0)]) is None


def test_a_histogram_has_the_buckets_that_are_not_empty() -> None:
    histogram = Histogram()
    for size in (0, 64, 65, 2_000_000):
        histogram.add(size)
    assert histogram.as_list() == [
        {"up_to": 64, "keys": 2, "bytes": 64},
        {"up_to": 256, "keys": 1, "bytes": 65},
        {"up_to": None, "keys": 1, "bytes": 2_000_000},
    ]
