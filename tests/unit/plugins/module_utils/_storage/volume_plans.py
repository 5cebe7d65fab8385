# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Devices, mounts and volumes, and the plan for them, for the tests of volumes."""

from __future__ import annotations

from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._storage import volumes

GIB = 1024**3


def a_device(**other: Any) -> dict[str, Any]:
    """A blank disk, as etcd_host_info describes it."""
    return {
        "path": "/dev/vdb",
        "resolved": "/dev/vdb",
        "exists": True,
        "is_block": True,
        "number": "254:16",
        "size": 10 * GIB,
        "partitions": [],
        "holders": [],
        "swap": False,
        "busy": False,
        "read_only": False,
        "mounted_at": [],
        "signature": None,
        "probe_error": None,
        "nonzero_at": None,
        "has_erased_mark": False,
        "usage": None,
        "partition_table": None,
        "fstype": None,
        "label": None,
        "uuid": None,
        **other,
    }


def ours(**other: Any) -> dict[str, Any]:
    """A disk with the filesystem that the role makes."""
    return a_device(
        **{
            "signature": "ext4 filesystem",
            "usage": "filesystem",
            "fstype": "ext4",
            "label": "etcd-data",
            "uuid": "5c14",
            **other,
        }
    )


def a_mount(**other: Any) -> dict[str, Any]:
    """A mount point that does not exist yet."""
    return {
        "mounted": False,
        "entries": 0,
        "number": "254:0",
        "source": "/dev/vda",
        "mode": None,
        "uid": None,
        "fstab": None,
        **other,
    }


def mounted(**other: Any) -> dict[str, Any]:
    """The mount point with the volume, as the role leaves it."""
    entry = {"source": "UUID=5c14", "fstype": "ext4", "options": "noatime,nofail", "passno": "2"}
    return a_mount(
        **{
            "mounted": True,
            "entries": 1,
            "number": "254:16",
            "source": "/dev/vdb",
            "mode": "0755",
            "uid": 0,
            "fstab": entry,
            **other,
        }
    )


def a_volume(**other: Any) -> dict[str, Any]:
    """The data volume as the role asks for it."""
    return {
        "name": "data",
        "device": "/dev/vdb",
        "mount": "/var/lib/etcd",
        "directory": "/var/lib/etcd/data",
        "label": "etcd-data",
        "fstype": "ext4",
        "options": ["noatime", "nofail"],
        "min_size": GIB,
        **other,
    }


def plan_for(
    found: dict[str, Any], mount: dict[str, Any], erase: list[str] | None = None, **volume: Any
) -> dict[str, Any]:
    """The plan for one data volume on what was found."""
    asked = a_volume(**volume)
    host = {"devices": {asked["device"]: found}, "mounts": {asked["mount"]: mount}}
    return volumes.plan_volumes(host, [asked], "/var/lib/etcd/data", erase=erase or [])
