# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The block devices and mount points of a host that etcd's volumes are made of. Private to the collection."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base import deadline
from ansible_collections.etcdops.headroom.plugins.module_utils._host import block_devices
from ansible_collections.etcdops.headroom.plugins.module_utils._host import facts as host_facts
from ansible_collections.etcdops.headroom.plugins.module_utils._host import mounts as host_mounts
from ansible_collections.etcdops.headroom.plugins.module_utils._host.fstab import read_fstab
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import devices as storage_devices
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import neighbours as storage_neighbours


def storage_facts(devices: list[str], paths: list[str]) -> dict[str, Any]:
    """Return the facts of block devices and mount points, and which other services write to their disks."""
    for path in paths:
        with suppress(OSError):
            os.listdir(path)  # systemd mounts an automount point at its first access
    mounts, swaps, fstab = host_mounts.read_mounts(), block_devices.read_swaps(), read_fstab()
    found_devices = {path: block_devices.device_facts(path, mounts, swaps, host_facts.run) for path in devices}
    found_mounts = {path: block_devices.mount_facts(path, mounts, fstab) for path in paths}
    neighbours = _neighbours() if devices or paths else []
    for device in found_devices.values():
        if device["is_block"]:
            device.update(storage_devices.filesystem_and_disks(device, mounts, neighbours))
    for mount in found_mounts.values():
        mount.update(storage_devices.disks_and_neighbours(mount["number"], neighbours))
    return {"devices": found_devices, "mounts": found_mounts}


def _neighbours() -> list[storage_neighbours.Neighbour]:
    """Return the other services that write to disks; none if a folder or file of theirs is on a share whose server does not answer."""
    try:
        return deadline.call_with_deadline(
            lambda: storage_neighbours.find_neighbours(storage_devices.whole_disks), deadline.ANSWER_SECONDS
        )
    except deadline.DeadlineError:
        return []
