# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of a running cluster in the report of an audit."""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.running import state_lines

ANSWERS = {
    "name": "a",
    "version": "3.7.3",
    "role": "leader",
    "healthy": True,
    "db_size": 400 << 20,
    "db_size_in_use": 300 << 20,
    "db_quota": 2 << 30,
    "resident_memory": 90 << 20,
}
SILENT = {**dict.fromkeys(ANSWERS), "name": "", "id": "1f", "role": "unknown", "healthy": False}


def test_the_state_is_a_table() -> None:
    assert state_lines({"members": [ANSWERS, SILENT], "leader": "a"}) == [
        "etcd cluster: 1 of 2 members healthy, leader a",
        "",
        "  member  version  role     health       db size       free    quota       RSS",
        "  a       3.7.3    leader   healthy    400.0 MiB  100.0 MiB  2.0 GiB  90.0 MiB",
        "  1f      -        unknown  UNHEALTHY          -          -        -         -",
    ]
