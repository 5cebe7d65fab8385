# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of block devices and mount points of a host."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base import deadline
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import host_storage, neighbours


def test_a_service_on_a_share_that_hangs_does_not_stop_the_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbours, "find_neighbours", lambda _disks: time.sleep(600))
    monkeypatch.setattr(deadline, "ANSWER_SECONDS", 0.5)
    found = host_storage.storage_facts([], [str(tmp_path)])["mounts"][str(tmp_path)]
    assert found["exists"] and found["neighbours"] == []


def test_services_are_found_in_a_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    neighbour = neighbours.Neighbour("MySQL or MariaDB", "/var/lib/mysql", ("vdb",))
    monkeypatch.setattr(neighbours, "find_neighbours", lambda _disks: [neighbour])
    monkeypatch.setattr(host_storage.storage_devices, "disk_facts", lambda _number: [{"name": "vdb"}])
    found = host_storage.storage_facts([], [str(tmp_path)])["mounts"][str(tmp_path)]
    assert found["neighbours"] == [{"name": "MySQL or MariaDB", "path": "/var/lib/mysql", "disk": "vdb"}]
