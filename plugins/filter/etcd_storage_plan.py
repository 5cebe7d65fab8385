# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter that decides what role etcd_storage does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible.errors import AnsibleFilterError
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import advice
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import volumes as storage_volumes

ASKED = ("erase", "quota", "snapshot_count", "entry_size", "scheduler", "fsync_p99_max_ms", "check_seconds")


def etcd_storage_plan(
    host: Mapping[str, Any],
    volumes: Sequence[Mapping[str, Any]],
    data_dir: str,
    wal_dir: str = "",
    **asked: Any,
) -> dict[str, Any]:
    """Decide what to do with the volumes; see the documentation beside this file."""
    unknown = sorted(set(asked) - set(ASKED))
    if unknown:
        raise AnsibleFilterError(f"etcd_storage_plan knows no {unknown[0]}: it takes {', '.join(ASKED)}.")
    try:
        decided = storage_volumes.plan(host, volumes, data_dir, wal_dir, asked.get("erase") or ())
        return {**decided, **advice.advise(host, volumes, decided, asked)}
    except KeyError as missing:
        raise AnsibleFilterError(
            f"etcd_host_info was not asked for {missing}: give it the device and the mount point of each volume."
        ) from missing
    except ValueError as problem:
        raise AnsibleFilterError(f"{problem}.") from problem


class FilterModule:
    """The filter of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filter by its name."""
        return {"etcd_storage_plan": etcd_storage_plan}
