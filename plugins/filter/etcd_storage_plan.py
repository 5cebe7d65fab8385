# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters over the volumes of a host."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible.errors import AnsibleFilterError

# Ansible loads every filter of a collection in each process that uses one of them, so each imports what it needs when it is called.

SETTINGS = (
    "erase",
    "restoring",
    "recovery",
    "quota",
    "snapshot_count",
    "entry_size",
    "scheduler",
    "fsync_p99_max_ms",
    "check_seconds",
    "check_enabled",
)


def etcd_storage_plan(
    host: Mapping[str, Any],
    volumes: Sequence[Mapping[str, Any]],
    data_dir: str,
    wal_dir: str = "",
    **settings: Any,
) -> dict[str, Any]:
    """Plan the volumes; etcd_storage_plan.yml documents it."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._storage import advice, erase_list
    from ansible_collections.etcdops.headroom.plugins.module_utils._storage import volumes as volume_plans

    unknown = sorted(set(settings) - set(SETTINGS))
    if unknown:
        raise AnsibleFilterError(f"etcd_storage_plan has no argument {unknown[0]}: use {', '.join(SETTINGS)}.")
    settings["erase"] = erase_list.entries(settings.get("erase"))
    try:
        planned = volume_plans.plan_volumes(
            host,
            volumes,
            data_dir,
            wal_dir,
            settings["erase"],
            restoring=bool(settings.get("restoring")),
            recovery=settings.get("recovery"),
        )
        return {**planned, **advice.advise(host, volumes, planned, settings)}
    except KeyError as missing:
        raise AnsibleFilterError(
            f"etcd_host_info has not described {missing}: pass it the device and the mount point of each volume."
        ) from missing
    except ValueError as problem:
        raise AnsibleFilterError(f"{problem}.") from problem


def etcd_mount_commands(host: Mapping[str, Any], volumes: Sequence[Mapping[str, str]]) -> list[str]:
    """Return the commands that mount volumes; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._storage import unmounted_volumes

    return unmounted_volumes.mount_commands(host, volumes)


def etcd_unmeasured_volumes(
    volumes: Sequence[Mapping[str, Any]],
    records: Mapping[str, Any],
    accept_slow: bool = False,
    has_member: bool = False,
    unused: str = "",
) -> list[Mapping[str, Any]]:
    """Return the volumes to benchmark; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._storage import measured_volumes

    return measured_volumes.unmeasured_volumes(
        volumes, records, time.time(), accept_slow=accept_slow, has_member=has_member, unused=unused
    )


def etcd_volume_latencies(
    volumes: Sequence[Mapping[str, Any]], records: Mapping[str, Any], results: Sequence[Mapping[str, Any]]
) -> dict[str, dict[str, int]]:
    """Return the latency of each volume; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._storage import measured_volumes

    return measured_volumes.volume_latencies(volumes, records, results)


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters by name."""
        return {
            "etcd_storage_plan": etcd_storage_plan,
            "etcd_mount_commands": etcd_mount_commands,
            "etcd_unmeasured_volumes": etcd_unmeasured_volumes,
            "etcd_volume_latencies": etcd_volume_latencies,
        }
