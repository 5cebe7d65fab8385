# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The member that is read, and whose metrics count."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._audit import access
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, Member, Quorum
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection

LINK = Connection("/nowhere/etcdctl", None, None, None, 1.0)
MEMBER = Member(
    "a", "1f", "follower", False, "connection refused", "http://localhost:2379", [], ["http://localhost:2379"]
)


def a_cluster(*members: Member) -> Cluster:
    return Cluster("7", "", list(members), Quorum(1, 1, 0, False), [])


def test_a_cluster_without_a_status_is_an_error_with_its_urls() -> None:
    never = replace(MEMBER, name="", id="2e", endpoint="", health_error="it was added but never started")
    with pytest.raises(access.MeasureError) as raised:
        access.choose_reader(a_cluster(MEMBER, never))
    assert "a at http://localhost:2379: connection refused; 2e at no URL: it was added but never started" in str(
        raised.value
    )
    assert "Add a URL to endpoints" in str(raised.value) and "advertise-client-urls" in str(raised.value)


def test_the_metrics_of_another_member_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    page = 'etcd_server_id{server_id="2e"} 1\netcd_server_quota_backend_bytes 8\netcd_mvcc_put_total 1\n'
    monkeypatch.setattr(access.http_api, "fetch_metrics", lambda *_arguments: page)
    own = replace(MEMBER, id="2e")
    found = access.scrape_members(LINK, a_cluster(MEMBER, own), [], lambda: 1.0)
    assert found["1f"] == "the metrics at http://localhost:2379 are those of another member (2e)"
    assert isinstance(found["2e"], access.Scrape) and found["2e"].count("quota") == 8
