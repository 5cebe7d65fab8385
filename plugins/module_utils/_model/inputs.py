# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Generated from model/inputs.yml by `make model`: change that file.

The fields of a workload, the settings of an estimate, and the constants of the plan. Private to the collection.
"""

from __future__ import annotations

from typing import Any

WORKLOAD: dict[str, Any] = {
    "value_size": {"kind": "size", "default": 1024, "min": 0, "max": 536870912, "text": "mean value of a put"},
    "key_size": {"kind": "size", "default": 64, "min": 1, "max": 1048576, "text": "mean length of a key"},
    "keys": {"kind": "count", "default": 10000, "min": 1, "max": 10000000000, "text": "live keys"},
    "puts_per_second": {
        "kind": "count",
        "default": 100,
        "min": 0,
        "max": 10000000,
        "text": "writes a second",
        "at the peak": None,
    },
    "clients": {"kind": "count", "default": 50, "min": 0, "max": 10000000, "text": "client connections to one member"},
    "writers": {
        "kind": "count",
        "default": None,
        "min": 0,
        "max": 10000000,
        "text": "those of them that put at once; all clients by default",
    },
    "tls": {"kind": "flag", "default": True, "text": "whether clients connect with TLS"},
    "watch_streams": {
        "kind": "count",
        "default": 50,
        "min": 0,
        "max": 100000000,
        "text": "watch streams on one member",
    },
    "watchers": {"kind": "count", "default": 500, "min": 0, "max": 1000000000, "text": "watchers on one member"},
    "watched_ranges": {
        "kind": "count",
        "default": None,
        "min": 0,
        "max": 1000000000,
        "text": "distinct keys or ranges that they watch; as many as watchers by default",
    },
    "leases": {"kind": "count", "default": 0, "min": 0, "max": 1000000000, "text": "live leases"},
    "range_size": {
        "kind": "size",
        "default": 10485760,
        "min": 0,
        "max": 1099511627776,
        "text": "bytes of range answers in flight at once",
    },
    "revisions_per_key": {
        "kind": "count",
        "default": None,
        "min": 1,
        "max": 1000000000,
        "text": "revisions kept of a key; computed from writes and compaction by default",
    },
}

ESTIMATE_SETTINGS: dict[str, Any] = {
    "snapshot_count": {"kind": "count", "min": 0, "max": 100000000},
    "snapshot_catchup_entries": {"kind": "count", "min": 0, "max": 100000000},
    "quota_backend_bytes": {"kind": "size", "min": -1, "smallest": 1048576, "max": 1125899906842624},
    "max_request_bytes": {"kind": "size", "min": 1, "max": 536870912},
    "gogc": {"kind": "count", "min": 1, "max": 1000},
    "gomemlimit": {"kind": "size", "min": 16777216, "max": 1125899906842624},
    "memory_high": {"kind": "size", "min": 16777216, "max": 1125899906842624},
    "memory_max": {"kind": "size", "min": 16777216, "max": 1125899906842624},
    "memory_mlock": {"kind": "flag"},
    "auto_compaction_mode": {"kind": "mode"},
    "auto_compaction_retention": {"kind": "retention", "max_hours": 2562047},
}

PLAN: dict[str, Any] = {
    "3.5": {
        "budget_min": 67108864,
        "catchup_seconds": 30,
        "catchup_several": 1000,
        "catchup_single": 100,
        "catchup_floor": {"several": 100, "single": 1},
        "snapshot_counts": [100000, 50000, 20000, 10000, 5000, 2000, 1000],
        "snapshot_count_soft": 5000,
        "snapshot_seconds": 5,
        "wal_bytes": 2147483648,
        "gomemlimit_easy": 1330,
        "gogc_steps": [100, 50, 25],
        "retentions": [3600, 1800, 900, 600, 300, 120, 60, 30],
        "retention_enough": 300,
        "revisions": [100000, 50000, 20000, 10000, 5000, 1000],
        "index_share": 250,
        "quota_room": 1250,
        "quota_step": 268435456,
        "volume_share": 900,
        "splits": [2, 5, 10, 20, 50, 100],
    },
    "3.6": {
        "budget_min": 67108864,
        "catchup_seconds": 30,
        "catchup_several": 1000,
        "catchup_single": 100,
        "catchup_floor": {"several": 100, "single": 1},
        "snapshot_counts": [10000, 5000, 2000, 1000, 500],
        "snapshot_count_soft": 2000,
        "snapshot_seconds": 5,
        "wal_bytes": 2147483648,
        "gomemlimit_easy": 1330,
        "gogc_steps": [100, 50, 25],
        "retentions": [3600, 1800, 900, 600, 300, 120, 60, 30],
        "retention_enough": 300,
        "revisions": [100000, 50000, 20000, 10000, 5000, 1000],
        "index_share": 250,
        "quota_room": 1250,
        "quota_step": 268435456,
        "volume_share": 900,
        "splits": [2, 5, 10, 20, 50, 100],
    },
    "3.7": {
        "budget_min": 67108864,
        "catchup_seconds": 30,
        "catchup_several": 1000,
        "catchup_single": 100,
        "catchup_floor": {"several": 100, "single": 1},
        "snapshot_counts": [10000, 5000, 2000, 1000, 500],
        "snapshot_count_soft": 2000,
        "snapshot_seconds": 5,
        "wal_bytes": 2147483648,
        "gomemlimit_easy": 1330,
        "gogc_steps": [100, 50, 25],
        "retentions": [3600, 1800, 900, 600, 300, 120, 60, 30],
        "retention_enough": 300,
        "revisions": [100000, 50000, 20000, 10000, 5000, 1000],
        "index_share": 250,
        "quota_room": 1250,
        "quota_step": 268435456,
        "volume_share": 900,
        "splits": [2, 5, 10, 20, 50, 100],
    },
}
