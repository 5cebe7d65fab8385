# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the filters about releases return; what they decide is tested with its functions."""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.filter.etcd_release import FilterModule

FILTERS = FilterModule().filters()


def test_releases() -> None:
    assert FILTERS["etcd_newest_version"](iter(["3.6.16", "3.7.3"])) == "3.7.3"
    assert FILTERS["etcd_higher_members"]({"etcd-1": "3.7.3"}, "3.6.16") == ["etcd-1 (3.7.3)"]
    assert FILTERS["etcd_release_blockers"]([["n1", ["x"], []], ["n2", [], ["y"]]]) == ["n1: x", "n2: y"]
    assert FILTERS["etcd_release_room"](["3.7.3"], "/wal", "/opt/etcd")[1] == {
        "path": "/opt/etcd",
        "purpose": "etcd 3.7.3",
        "size": 150_000_000,
        "databases": 0,
    }
