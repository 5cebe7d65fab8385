# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filters about memory and configuration: the cores' answers, and the cores' errors as Ansible's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from ansible_collections.etcdops.headroom.plugins.filter import etcd_config, etcd_memory

FILTERS: dict[str, Callable[..., Any]] = {
    **etcd_memory.FilterModule().filters(),
    **etcd_config.FilterModule().filters(),
}


def test_estimate() -> None:
    figures = FILTERS["etcd_memory_estimate"]({"value_size": "100KB"}, version="3.6.16", settings={"gogc": 50})
    assert (figures["series"], figures["members"], figures["settings"]["gogc"]) == ("3.6", 3, 50)


def test_plan() -> None:
    plan = FILTERS["etcd_memory_plan"]({}, version="3.7.3", members=1, budget="1GB", settings={"snapshot_count": 5000})
    assert plan["settings"]["snapshot_count"] == 5000
    assert plan["memory_max"] == 1 << 30


def test_config() -> None:
    content = FILTERS["etcd_config"]({"snapshot_catchup_entries": 9}, version="3.5.35", extra={"log-level": "warn"})
    assert content == {"experimental-snapshot-catch-up-entries": 9, "log-level": "warn"}


@pytest.mark.parametrize(
    ("name", "value", "arguments", "text"),
    [
        (
            "etcd_memory_estimate",
            {"kees": 1},
            {"version": "3.7.3"},
            "etcd_memory_estimate: workload has an unknown key 'kees'",
        ),
        ("etcd_memory_plan", {}, {"version": "3.4.1", "budget": "1GB"}, "etcd_memory_plan: etcd 3.4.1 is not known"),
        (
            "etcd_config",
            {"nam": 1},
            {"version": "3.7.3"},
            "etcd_config: nam: no such setting of etcd, did you mean name?",
        ),
    ],
)
def test_errors(name: str, value: Any, arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(AnsibleFilterError) as error:
        FILTERS[name](value, **arguments)
    assert text in str(error.value)
