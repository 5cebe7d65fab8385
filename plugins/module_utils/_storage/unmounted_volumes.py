# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find volumes that are not mounted and may hold a member's data. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def mount_commands(host: Mapping[str, Any], volumes: Sequence[Mapping[str, str]]) -> list[str]:
    """Return the commands that mount those volumes of etcd which are not mounted and were mounted before.

    host: what etcd_host_info returns. volumes: ``device``, empty for a volume that the role does not manage, and ``mount``.
    """
    return [
        f"mkdir -p {volume['mount']} && mount {volume['device']} {volume['mount']}"
        for volume in volumes
        if volume["device"] and _may_hold_data(host, volume)
    ]


def _may_hold_data(host: Mapping[str, Any], volume: Mapping[str, str]) -> bool:
    device = host["devices"][volume["device"]]
    if not device.get("of_etcd") or device["mounted_at"]:
        return False
    # Only ext4 records whether it was mounted. Otherwise, an entry in fstab shows it: role etcd_storage writes one for a volume that it mounts.
    if device["was_mounted"] is None:
        return bool(host["mounts"][volume["mount"]]["fstab"])
    return bool(device["was_mounted"])
