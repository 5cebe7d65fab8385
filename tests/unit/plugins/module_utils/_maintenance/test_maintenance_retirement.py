# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the maintenance of a host without data is that of a removed member."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.retirement import maintains_removed_member

OWN = "https://127.0.0.1:2379"


def cluster(identity: str, network: str, *names: str, local: bool = False) -> dict[str, Any]:
    members = [
        {"name": name, "client_urls": [f"https://{network}.{number}:2379", *([OWN] if local else [])]}
        for number, name in enumerate(names, 1)
    ]
    return {"id": identity, "members": members}


FIRST = cluster("cdf8", "10.0.0", "etcd-1", "etcd-3")
SECOND = cluster("75cf", "10.0.1", "other-1", "other-2")
INSTALLED = {
    "cluster": "etcd",
    "member": "etcd-2",
    "connection": {"endpoints": [OWN, "https://10.0.0.1:2379", "https://10.0.0.2:2379"]},
}


@pytest.mark.parametrize(
    ("changed", "removed", "clusters", "expected"),
    [
        ({}, ["etcd-2"], [FIRST], True),
        ({}, ["etcd-9", "etcd-2"], [{}, FIRST, SECOND, FIRST], True),
        ({}, ["etcd-9"], [FIRST], False),
        ({"member": "etcd-9"}, ["etcd-2"], [FIRST], False),
        # It is a member again, or one of the hosts has not seen its removal.
        ({}, ["etcd-2"], [cluster("cdf8", "10.0.0", "etcd-1", "etcd-2", "etcd-3")], False),
        ({}, ["etcd-2"], [FIRST, cluster("cdf8", "10.0.0", "etcd-1", "etcd-2", "etcd-3")], False),
        # A member of that name was removed from another cluster.
        ({}, ["etcd-2"], [SECOND], False),
        ({"connection": {"endpoints": [OWN]}}, ["etcd-2"], [cluster("cdf8", "10.0.0", "etcd-1", local=True)], False),
        # One of the clusters got an address of the other.
        ({}, ["etcd-2"], [FIRST, cluster("75cf", "10.0.0", "other-1")], False),
        ({}, ["etcd-2"], [], False),
        ({}, ["etcd-2"], [{}, {"id": "cdf8", "members": []}], False),
    ],
)
def test_the_name_and_the_addresses_decide(
    changed: dict[str, Any], removed: list[str], clusters: list[dict[str, Any]], expected: bool
) -> None:
    assert maintains_removed_member(json.dumps({**INSTALLED, **changed}), removed, clusters) is expected


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"member": "etcd-2", "connection": {"endpoints": 5}}'])
def test_no_configuration_is_no_removed_member(text: str) -> None:
    assert maintains_removed_member(text, ["etcd-2"], [FIRST]) is False
