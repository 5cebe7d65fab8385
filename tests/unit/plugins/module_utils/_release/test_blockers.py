# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the hosts of a cluster found before a change of its release, joined."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._release.blockers import (
    HostBlockers,
    cluster_blockers,
    higher_members,
)

QUOTA, SPACE, ARCHIVE = "the quota is too low", "10 MiB are free", "no SHA-256 is known"


@pytest.mark.parametrize(
    ("hosts", "found"),
    [
        ([], []),
        ([HostBlockers("n1", []), HostBlockers("n2", [])], []),
        # Every host has it.
        ([HostBlockers("n1", [QUOTA]), HostBlockers("n2", [QUOTA])], [QUOTA]),
        ([HostBlockers("n1", [QUOTA])], [QUOTA]),
        # One of them, in the order of the hosts.
        (
            [HostBlockers("n1", [SPACE, QUOTA]), HostBlockers("n2", [QUOTA, ARCHIVE])],
            [f"n1: {SPACE}", QUOTA, f"n2: {ARCHIVE}"],
        ),
        # To later steps.
        (
            [HostBlockers("n1", [QUOTA], [ARCHIVE]), HostBlockers("n2", [], [ARCHIVE, ARCHIVE])],
            [f"n1: {QUOTA}", f"n1: {ARCHIVE}", f"n2: {ARCHIVE}"],
        ),
        ([HostBlockers("n1", [QUOTA], [QUOTA]), HostBlockers("n2", [QUOTA])], [QUOTA]),
    ],
)
def test_obstacles_of_a_cluster(hosts: list[HostBlockers], found: list[str]) -> None:
    assert cluster_blockers(hosts) == found


@pytest.mark.parametrize(
    ("started", "release", "found"),
    [
        ({"etcd-1": "3.6.16", "etcd-2": "3.7.3"}, "3.6.16", ["etcd-2 (3.7.3)"]),
        ({"etcd-1": "3.6.16", "etcd-2": "3.10.0"}, "3.9.1", ["etcd-2 (3.10.0)"]),
        ({"etcd-1": "3.6.16", "etcd-2": "3.6.17"}, "3.6.16", []),
        ({"etcd-1": "3.7.3", "etcd-2": ""}, "3.7.3", []),
        ({"etcd-1": "3.7.3"}, "3.6.16-custom", ["etcd-1 (3.7.3)"]),
        ({"etcd-1": "3.6.16"}, "3.6.16-custom", []),
        ({}, "3.6.16", []),
    ],
)
def test_members_whose_units_start_a_higher_minor_version(
    started: dict[str, str], release: str, found: list[str]
) -> None:
    assert higher_members(started, release) == found
