# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which members start later after a restore, and which clusters' snapshots it accepts."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.restore_hosts import (
    snapshot_clusters,
    start_order,
)

HOSTS = ["h1", "h2", "h3"]


@pytest.mark.parametrize(
    ("generations", "later"),
    [
        ({}, []),
        ({"h1": 0, "h2": 0, "h3": 0}, []),
        ({"h1": 0, "h3": 0}, ["h2"]),  # lost now
        ({"h1": 1, "h2": 0, "h3": 0}, ["h1"]),  # lost in an earlier run, which ended before the members started
        ({"h3": 0}, ["h2"]),  # with one survivor, just enough members for a majority: it wins the election
        ({"h1": 0, "h2": 2, "h3": 1}, ["h2"]),  # lost twice: the writes may be on h3 alone
        ({"h2": 2, "h3": 1}, ["h1"]),
        ({"h1": 1, "h2": 1, "h3": 1}, []),
    ],
)
def test_members_with_the_oldest_data_start_first(generations: dict[str, int], later: list[str]) -> None:
    found = start_order(generations, [host for host in HOSTS if host not in generations])
    assert found == {"generation": max(generations.values(), default=-1) + 1, "later": later}


def test_members_of_one_generation_start_by_name() -> None:
    assert start_order({"b": 1, "A": 1, "c": 1, "d": 0}, ["e"])["later"] == ["c", "e"]


@pytest.mark.parametrize("hosts", [1, 2, 4, 5, 7])
def test_a_majority_starts_with_the_only_survivor(hosts: int) -> None:
    lost = [f"h{number}" for number in range(2, hosts + 1)]
    assert len(start_order({"h1": 3}, lost)["later"]) == hosts - (hosts // 2 + 1)


@pytest.mark.parametrize(
    ("running", "ids", "origins", "clusters"),
    [
        # No member answers, and no host has data: the restore accepts any snapshot.
        ("", ["", "", ""], ["", "", ""], []),
        ("", ["", "", ""], ["75cf", "", ""], []),
        ("99aa", ["", "", ""], ["", "", ""], ["99aa"]),
        # The data on one host is enough.
        ("", ["", "99aa", ""], ["", "", ""], ["99aa"]),
        ("", ["99aa", "11bb", "99aa"], ["", "", ""], ["99aa", "11bb"]),
        # The id of the running cluster wins over those of the data.
        ("99aa", ["11bb", "", ""], ["", "", ""], ["99aa"]),
        # An earlier restore gave the cluster a new id, which a host that was replaced then does not know.
        ("99aa", ["99aa", "", ""], ["75cf", "", ""], ["99aa", "75cf"]),
        ("", ["99aa", "99aa", ""], ["75cf", "75cf", ""], ["99aa", "75cf"]),
        # The origin of another cluster's data does not count, unless it is that of the host itself.
        ("99aa", ["", "", "11bb"], ["", "", "22cc"], ["99aa"]),
        ("99aa", ["", "11bb", ""], ["", "22cc", ""], ["99aa", "22cc"]),
    ],
)
def test_clusters_whose_snapshots_belong_to_the_cluster(
    running: str, ids: list[str], origins: list[str], clusters: list[str]
) -> None:
    found = snapshot_clusters("h2", running, dict(zip(HOSTS, ids)), dict(zip(HOSTS, origins)))
    assert found == clusters
