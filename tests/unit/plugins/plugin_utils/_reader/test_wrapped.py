# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documents that wrap others."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.wrapped import unwrap

POD = {"kind": "Pod"}
OLD_COMPOSE = {
    "etcd": {"image": "quay.io/coreos/etcd:v2.3.7", "ports": ["2379"]},
    "app": {"build": ".", "links": ["etcd"]},
}


@pytest.mark.parametrize(
    ("document", "unwrapped"),
    [
        ({"kind": "List", "items": [POD]}, [{"kind": "List", "items": [POD]}, POD]),
        ({"kind": "Template", "objects": [POD]}, [{"kind": "Template", "objects": [POD]}, POD]),
        ({"kind": "List"}, [{"kind": "List"}]),
        (OLD_COMPOSE, [{"services": OLD_COMPOSE}]),
        ({**OLD_COMPOSE, "web": {"image": "a"}}, [{"services": {**OLD_COMPOSE, "web": {"image": "a"}}}]),
        ({**OLD_COMPOSE, "version": "2"}, [{**OLD_COMPOSE, "version": "2"}]),
        ({"etcd": {"image": {"tag": "v3.5.1"}, "ports": []}}, [{"etcd": {"image": {"tag": "v3.5.1"}, "ports": []}}]),
        ({"etcd": {"image": "etcd"}}, [{"etcd": {"image": "etcd"}}]),
        ({}, [{}]),
        ([POD], [[POD]]),
        ("text", ["text"]),
    ],
)
def test_unwrap(document: Any, unwrapped: list[Any]) -> None:
    assert unwrap([document]) == unwrapped
