# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Effective settings, from the line that each version logs when it starts, and how they are compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import settings
from ansible_collections.etcdops.headroom.plugins.module_utils._host.systemd import parse_start_record


def effective(version: str, **changes: Any) -> dict[str, Any]:
    fixture = Path(__file__).parent.parent / "fixtures" / f"etcdctl-{version}.json"
    record = parse_start_record(json.loads(fixture.read_text())["start line"])
    assert record is not None
    return settings.effective_settings({**record, **changes})


@pytest.mark.parametrize("version", ["3.5", "3.6", "3.7"])
def test_effective_settings(version: str) -> None:
    expected = {
        "name": "m1",
        "data_dir": "/var/lib/etcd/data",
        "wal_dir": "/var/lib/etcd-wal/wal",
        "snapshot_count": 1000,
        "snapshot_catchup_entries": 500,
        "quota_backend_bytes": 1 << 30,
        "auto_compaction_mode": "periodic",
        "auto_compaction_retention": "30m",
        "heartbeat_interval": 100,
        "election_timeout": 1000,
        "max_request_bytes": 1572864,
        "corrupt_check_time": "0",
        "compact_hash_check_time": "1m",
        "initial_cluster_state": "new",
    }
    found = effective(version)
    assert {name: found.get(name) for name in expected} == expected
    assert not {"level", "etcd_version", "go_version", "member_dir", "auto_compaction_interval"} & set(found)


@pytest.mark.parametrize(("version", "name"), [("3.5", "compact_hash_check_enabled"), ("3.6", "local_address")])
def test_names_are_canonical(version: str, name: str) -> None:
    assert name in effective(version)


def test_revision_mode_counts_revisions() -> None:
    found = effective("3.7", **{"auto-compaction-mode": "revision", "auto-compaction-retention": "1µs"})
    assert found["auto_compaction_retention"] == 1000


def test_bootstrap_settings_are_not_in_effect_later() -> None:
    found = effective("3.7", **{"member-initialized": True, "initial-cluster": ""})
    assert "initial_cluster" not in found
    assert settings.compare_settings({"initial_cluster": "a=b"}, found) == ([], ["initial_cluster"])


@pytest.mark.parametrize(
    ("asked", "stated"),
    [
        ({"snapshot_count": "1000"}, {"snapshot_count": 1000}),
        ({"snapshot_count": None}, {"snapshot_count": 1000}),
        ({"quota_backend_bytes": 0}, {"quota_backend_bytes": 2 << 30}),
        ({"auto_compaction_retention": "1"}, {"auto_compaction_retention": "1h"}),
        ({"auto_compaction_retention": 0}, {"auto_compaction_retention": "0"}),
        ({"auto_compaction_retention": "90m"}, {"auto_compaction_retention": "1h30m"}),
        (
            {"auto_compaction_mode": "revision", "auto_compaction_retention": "1000"},
            {"auto_compaction_mode": "revision", "auto_compaction_retention": 1000},
        ),
        (
            {"election_timeout": 1050, "heartbeat_interval": "100"},
            {"election_timeout": 1000, "heartbeat_interval": 100},
        ),
        ({"pre_vote": True}, {"pre_vote": True}),
        ({"pre_vote": "true"}, {"pre_vote": True}),
        ({"corrupt_check_time": "60m"}, {"corrupt_check_time": "1h"}),
        ({"listen_client_urls": "https://b,https://a"}, {"listen_client_urls": ["https://a", "https://b"]}),
        ({"initial_cluster": "b=1,a=2"}, {"initial_cluster": "a=2,b=1"}),
    ],
)
def test_compare_settings_treats_as_equal(asked: dict[str, Any], stated: dict[str, Any]) -> None:
    assert settings.compare_settings(asked, stated) == ([], [])


def test_compare_settings_finds_differences() -> None:
    asked = {"snapshot_count": 500, "auto_compaction_retention": "5m", "quota_backend_bytes": 8 << 30, "max_txn_ops": 9}
    differences, unstated = settings.compare_settings(asked, effective("3.6"))
    assert differences == [
        {"setting": "auto_compaction_retention", "asked": "5m", "effective": "30m"},
        {"setting": "quota_backend_bytes", "asked": 8 << 30, "effective": 1 << 30},
        {"setting": "snapshot_count", "asked": 500, "effective": 1000},
    ]
    assert unstated == ["max_txn_ops"]


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"quota_backend_bytes": "8G"}, "quota_backend_bytes: '8G' is not an integer"),
        ({"auto_compaction_retention": "five"}, "'five' is not a valid duration: write for example 30m"),
    ],
)
def test_compare_settings_refuses_invalid_values(asked: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        settings.compare_settings(asked, effective("3.7"))
