# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose the volumes whose disks are benchmarked, and report the latency of each volume. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

VALID_SECONDS = 30 * 86400

# The recorded benchmark of each mount point, None without one, as etcd_host_info returns them in ``disk_checks``.
Records = Mapping[str, Any]
Volumes = Sequence[Mapping[str, Any]]


def unmeasured_volumes(
    volumes: Volumes, records: Records, now: float, *, accept_slow: bool, has_member: bool, unused: str
) -> list[Mapping[str, Any]]:
    """Return the volumes to benchmark: those without a record of the last 30 days, and those whose record is a failure.

    accept_slow: a slow disk is not a failure. has_member: the host has a member with data. Its disk is neither benchmarked nor judged by its record, which
    the report shows: a slow disk must not prevent the repair of a cluster. Whether the member runs does not matter, because members without a quorum wait
    (activating) or are stopped. unused: the name of a new volume on a disk of its own, to which the log has not moved yet; it is benchmarked all the same.
    """
    return [
        volume
        for volume in volumes
        if not (has_member and volume["name"] != unused)
        and not _is_valid(records.get(volume["mount"]), now, accept_slow=accept_slow)
    ]


def _is_valid(record: Mapping[str, Any] | None, now: float, *, accept_slow: bool) -> bool:
    if not record or now - record["measured_at"] >= VALID_SECONDS:
        return False
    return record["verdict"] != "fail" or accept_slow


def volume_latencies(
    volumes: Volumes, records: Records, results: Sequence[Mapping[str, Any]]
) -> dict[str, dict[str, int]]:
    """Return the latency of each volume with its limit, by name: from a benchmark of this run, or else from the record.

    results: of the tasks that waited for benchmarks, with the started task as ``item``, and its volume as the item of that.
    """
    recorded = {volume["name"]: records.get(volume["mount"]) for volume in volumes}
    measured = {result["item"]["item"]["name"]: result for result in results if "p99_us" in result}
    return {
        name: {"p99_us": found["p99_us"], "limit_us": found["limit_us"]}
        for name, found in {**recorded, **measured}.items()
        if found
    }
