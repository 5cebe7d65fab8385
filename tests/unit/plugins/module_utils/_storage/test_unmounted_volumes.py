# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which volumes that are not mounted may hold the data of a member."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._storage.unmounted_volumes import mount_commands

POINT, DEVICE = "/var/lib/etcd", "/dev/disk/by-id/data"
VOLUME = {"device": DEVICE, "mount": POINT}
ENTRY = {"source": DEVICE}


def commands(*volumes: dict[str, str], fstab: dict[str, str] | None = None, **device: Any) -> list[str]:
    """Return the commands for a host with an ext4 filesystem of etcd on the device that was mounted before, unless a test says otherwise."""
    found = {"exists": True, "is_block": True, "of_etcd": True, "mounted_at": [], "was_mounted": True, **device}
    host = {"devices": {DEVICE: found}, "mounts": {POINT: {"fstab": fstab}}}
    return mount_commands(host, volumes or (VOLUME,))


def test_a_volume_that_was_mounted_before_may_hold_data() -> None:
    assert commands() == [f"mkdir -p {POINT} && mount {DEVICE} {POINT}"]


@pytest.mark.parametrize(
    "device",
    [{"mounted_at": [POINT]}, {"mounted_at": ["/mnt"]}, {"of_etcd": False}, {"was_mounted": False}],
    ids=["mounted", "mounted elsewhere", "of another program", "never mounted"],
)
@pytest.mark.parametrize("fstab", [None, ENTRY], ids=["not in fstab", "in fstab"])
def test_another_volume_holds_none(device: dict[str, Any], fstab: dict[str, str] | None) -> None:
    """A first deployment that was interrupted between mkfs and mount must go on."""
    assert commands(fstab=fstab, **device) == []


def test_an_entry_in_fstab_shows_that_xfs_was_mounted() -> None:
    assert commands(was_mounted=None) == []
    assert commands(was_mounted=None, fstab=ENTRY) == [f"mkdir -p {POINT} && mount {DEVICE} {POINT}"]


def test_a_device_that_is_missing() -> None:
    """Its description has nothing else."""
    assert mount_commands({"devices": {DEVICE: {"exists": False, "is_block": False}}, "mounts": {}}, [VOLUME]) == []


def test_only_volumes_with_a_device_count() -> None:
    wal = {"device": "", "mount": "/var/lib/etcd-wal"}
    assert commands(wal) == []
    assert len(commands(wal, VOLUME)) == 1
