# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Defragmenting all members from one host. Real etcd is defragmented in tests/integration."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag import rolling
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.decision import Thresholds
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.one_member import Outcome, Request
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import lock
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, Member, Quorum
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import ClusterView
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection

NOWHERE = Connection("/nowhere/etcdctl", None, None, None, 0.5)
REQUEST = Request(["http://127.0.0.1:1"], "", True, Thresholds(45, 100 * MIB), unit="headroom-unit-test.service")


def cluster_with_free_space(free: int) -> ClusterView:
    """Return three members, the first one leading, with this many free bytes of 1000 MiB each."""
    members = [
        Member(
            name,
            name,
            "leader" if name == "m0" else "follower",
            True,
            "",
            f"http://{name}:2379",
            [],
            [],
            db_size=1000 * MIB,
            db_size_in_use=1000 * MIB - free,
            lag=0,
        )
        for name in ("m0", "m1", "m2")
    ]
    return ClusterView(Cluster("1", "m0", members, Quorum(3, 2, 3, True), []), {})


@pytest.mark.parametrize("check", [False, True])
def test_every_member_that_is_skipped_is_named(monkeypatch: pytest.MonkeyPatch, check: bool) -> None:
    monkeypatch.setattr(rolling, "view_cluster", lambda *_arguments: cluster_with_free_space(100 * MIB))
    monkeypatch.setattr(rolling, "restore_limit", lambda *_arguments: "")
    monkeypatch.setattr(rolling, "_lock_holder", lambda *_arguments: "")
    outcomes = rolling.run_defrag(REQUEST, NOWHERE, check=check)
    assert [outcome.reason for outcome in outcomes] == [
        f"{name} does not need defragmentation: 100.0 MiB of 1000.0 MiB (10 %) are free; the thresholds are 45 % and 100.0 MiB"
        for name in ("m0", "m1", "m2")
    ]
    assert all(outcome.settled for outcome in outcomes)


@contextlib.contextmanager
def held_lock(*_arguments: object, **_options: object) -> Iterator[None]:
    yield None


def test_the_rest_is_skipped_by_name_once_the_lock_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    def defragment(_request: Request, _connection: Connection, name: str, _keeper: object) -> Outcome:
        order.append(name)
        if len(order) > 1:
            raise lock.LockLostError("the cluster's lock was lost: its lease expired")
        return Outcome(name, "done", f"{name}: 2.0 MiB became 1.0 MiB", settled=True)

    monkeypatch.setattr(rolling, "view_cluster", lambda *_arguments: cluster_with_free_space(700 * MIB))
    monkeypatch.setattr(rolling, "restore_limit", lambda *_arguments: "")
    monkeypatch.setattr(rolling, "_hold_lock", held_lock)
    monkeypatch.setattr(rolling, "defragment_member", defragment)
    outcomes = rolling.run_defrag(REQUEST, NOWHERE)
    assert order == ["m1", "m2"]  # followers first, then nobody
    assert {outcome.member: outcome.reason for outcome in outcomes} == {
        "m0": "m0 was not defragmented: the cluster's lock was lost: its lease expired",
        "m1": "m1: 2.0 MiB became 1.0 MiB",
        "m2": "m2 was not defragmented: the cluster's lock was lost: its lease expired",
    }
