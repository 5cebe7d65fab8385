# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A follower of real etcd returns after its entries are gone: the leader keeps all that is written, and the estimate counts it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._model.estimate import estimate

from bench.common.member import Member, leader_of, releases, running
from bench.follower.cases import ROOM, Case
from bench.follower.run import applied, rss_anon, snapshots_sent, start_load
from bench.plan.configurations import flags

SETTINGS = {"snapshot_count": 500, "snapshot_catchup_entries": 100}
# The leader compacts again 30 s after the snapshot.
WATCHED_SECONDS = 20


@pytest.mark.parametrize("version", [version for version in releases() if not version.startswith("3.5.")])
def test_the_estimate_counts_the_leaders_log(version: str, tmp_path: Path) -> None:
    case = Case(version, 20_000, 300, 150, ROOM)
    ports = {f"m{number}": 24700 + 10 * number for number in range(3)}
    members = [
        Member(version, tmp_path, port, flags(version, SETTINGS), {}, (), name, ports) for name, port in ports.items()
    ]
    found = estimate(version, case.workload(0).stated() | {"revisions_per_key": 20}, SETTINGS, 3)
    with running(members):
        leader = leader_of(members)
        follower = next(member for member in members if member is not leader)
        assert follower.process
        load = start_load([member.endpoint for member in members if member is not follower], case, 120)
        try:
            time.sleep(5)
            follower.process.kill()
            follower.process.wait()
            gone = applied(leader)
            while applied(leader) < gone + 400:
                time.sleep(0.5)
            before = rss_anon(leader)
            follower.start()
            deadline = time.monotonic() + 60
            while not snapshots_sent(leader):
                assert time.monotonic() < deadline, "the follower needed no snapshot"
                time.sleep(0.5)
            sent = applied(leader)
            time.sleep(WATCHED_SECONDS)
            kept = (applied(leader) - sent) * case.value_size
            peak = rss_anon(leader)
        finally:
            load.kill()
            load.wait()
    assert kept > WATCHED_SECONDS * case.rate * case.value_size / 3, "the load was too slow to show anything"
    assert peak > kept
    assert peak > before + kept / 2
    assert peak < found["follower_snapshot_rss_anon_peak"]
