# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A large workload, and what every plan promises, for the tests of plans."""

from __future__ import annotations

from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import MIB

VERSIONS = ["3.5.5", "3.5.35", "3.6.16", "3.7.3"]


LARGE: dict[str, Any] = {
    "value_size": "100KB",
    "keys": 20000,
    "puts_per_second": 200,
    "clients": 200,
    "watch_streams": 400,
    "watchers": 5000,
    "range_size": "10MB",
}


def flag(plan: dict[str, Any], name: str) -> dict[str, Any]:
    """Return one row of the flags."""
    found: dict[str, Any] = next(row for row in plan["flags"] if row["name"] == name)
    return found


def assert_fits(plan: dict[str, Any]) -> None:
    """Check what every plan promises."""
    figures = plan["estimate"]
    needed = max(figures["rss_anon_peak"], figures["restart_rss_anon_peak"]) + figures["outside_go"]
    assert needed <= plan["memory_high"] < plan["memory_max"] <= plan["budget"]
    assert figures["memory_max_least"] <= plan["budget"] + MIB
    limit = plan["environment"].get("GOMEMLIMIT")
    if limit is not None:
        assert int(limit.removesuffix("MiB")) * MIB < plan["memory_high"]
    assert 2 << 30 <= plan["settings"]["quota_backend_bytes"] <= 8 << 30
    assert plan["settings"]["auto_compaction_retention"][-1] in "hms"
