# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan the move of a member's write-ahead log, and refuse a log that is missing, ambiguous or outdated. Pure.

``host`` is the result of etcd_host_info. A link at the old folder proves that a move was complete: wal_move creates it last, so the member
may have written to the new folder since, and the old log is outdated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._storage.capacity import filesystem_or_device


def _target(data_dir: str, wal_dir: str) -> str:
    return wal_dir or f"{data_dir}/member/wal"


def pending_wal_move(host: Mapping[str, Any], data_dir: str, wal_dir: str) -> dict[str, Any]:
    """Return the move of the member's log during the rolling update, or the clean-up after one.

    The keys are source, target and pending (whether the log still has to move); empty if there is nothing to do.
    """
    member, target = host.get("member", {}), _target(data_dir, wal_dir)
    dirs, asides, links = (member.get(name, []) for name in ("wal_dirs", "wal_asides", "wal_links"))
    others = [path for path in dirs if path != target]
    if target not in dirs:
        sources = others or [path for path in asides if path != target and path not in links]
        return {"source": sources[0], "target": target, "pending": True} if sources else {}
    # An old log next to the target is left over from the move away from it.
    left = [path for path in [*asides, *links] if path != target] or [path for path in asides if path == target]
    if others:
        return {}
    if not left:
        copies = member.get("wal_copies", [])  # of moves that were interrupted, and then abandoned
        return {"source": copies[0], "target": target, "pending": False} if copies else {}
    unlinked = left[0] != target and left[0] not in links
    # The link is missing if the move was interrupted before its last step; a running member shows that it was not.
    return {"source": left[0], "target": target, "pending": unlinked and not _runs(host)}


def unused_volume(
    host: Mapping[str, Any], volumes: Sequence[Mapping[str, Any]], move: Mapping[str, Any]
) -> tuple[str, str | None]:
    """Return the name of the volume to which the member's log has yet to move, and whose disk nothing of the member uses; else empty.

    ``move`` is the result of pending_wal_move. The second value is a warning if the volume's disk may be one that the member uses: to measure
    it would load the member's disk, on all hosts at once. A disk that the kernel does not show counts as used.
    """
    known = {volume["name"]: {**filesystem_or_device(volume, host), **volume} for volume in volumes}
    if not move.get("pending") or "wal" not in known or move["target"] in host["member"]["wal_dirs"]:
        return "", None
    data, new = known["data"], known["wal"]
    used, own = ({disk["name"] for disk in facts.get("disks", [])} for facts in (data, new))
    # The disk of a log that is elsewhere is not known.
    separate = used and own and not used & own and move["source"].startswith(f"{data['directory']}/")
    if separate and data["number"] != new["number"]:
        return "wal", None
    shared = f"it is on the same disk as {data['mount']}, {', '.join(sorted(used & own))}"
    return "", (
        f"{new['mount']} was not measured, because {shared if used & own else 'the member may already use its disk'}: the load "
        "could cost the member its leadership. etcd_disk_live_info reads the latencies of the member's own writes."
    )


def _runs(host: Mapping[str, Any]) -> bool:
    return bool((host.get("unit") or {}).get("active_state") == "active")


def wal_problem(
    host: Mapping[str, Any], data_dir: str, wal_dir: str, recovery: str | None = None, blank: str = ""
) -> str | None:
    """Return why the member cannot start with the database and the logs found, None if it can. Without its log it would lose its history.

    recovery: how to go on if one of them is lost, a clause; empty for a new cluster, None if unknown. blank: the device of the data, if it is to be formatted.
    """
    member, target = host.get("member", {}), _target(data_dir, wal_dir)
    dirs, asides, links = (member.get(name, []) for name in ("wal_dirs", "wal_asides", "wal_links"))
    if len(dirs) > 1:
        return (
            f"the member has write-ahead logs in {' and '.join(dirs)}: find the newest "
            "(ls -l --time-sort), and move the others away."
        )
    if dirs and dirs[0] in links and dirs[0] != target:
        return (
            f"the member's write-ahead log is behind a link, {dirs[0]}, and would have to move to {target}: stop etcd and put the real folder in the place "
            "of the link, or leave etcd_storage_wal_device and etcd_wal_dir as they were before."
        )
    fixed = _mount_problem(pending_wal_move(host, data_dir, wal_dir), member.get("mount_points", []))
    if fixed:
        return fixed
    if member.get("db_size") is None and dirs:
        # The first start of a new cluster may be repeated, since its log is complete.
        return None if recovery == "" else _database_problem(dirs[0], data_dir, recovery, blank)
    if member.get("db_size") is None or dirs or pending_wal_move(host, data_dir, wal_dir):
        return None
    if target in asides and target not in links:
        return (
            f"the member's write-ahead log is in {target}.moved, because its move to another folder was interrupted: set "
            "etcd_wal_dir and etcd_storage_wal_device to that folder again to finish the move, or rename "
            f"{target}.moved to {target}."
        )
    outdated = "".join(
        f" {path}.moved is older: the member has written elsewhere since its log moved from there."
        for path in asides
        if path in links
    )
    return (
        f"the member has a database in {data_dir}, but no write-ahead log in {target}: it would start without its "
        f"history.{outdated} If the log is on another volume, mount it; if it is lost, {recovery or _without_cluster(data_dir)}."
    )


def _mount_problem(move: Mapping[str, Any], mount_points: Sequence[str]) -> str | None:
    """Return why a move cannot rename its folders, None if it can or if there is none. A mount point cannot be renamed."""
    if move.get("pending") and move["source"] in mount_points:
        return (
            f"{move['source']} is a mount point and cannot be renamed, so the log cannot move to {move['target']}: stop etcd, and move the files there "
            "yourself."
        )
    if move.get("pending") and move["target"] in mount_points:
        return f"{move['target']} is a mount point and cannot be replaced by the log: set etcd_wal_dir to a folder below it."
    return None


def _without_cluster(folder: str) -> str:
    return f"remove the member from the cluster, empty {folder}, and add the member again"


def _database_problem(log: str, data_dir: str, recovery: str | None, blank: str) -> str:
    """Return the problem of a log without its database.

    etcd 3.7 does not start from a log that has a snapshot. 3.5 and 3.6 start, and serve an empty database after a restore, because the log
    lacks what the restore brought.
    """
    where = f", whose device {blank} is not formatted" if blank else ""
    return (
        f"the member has a write-ahead log in {log}, but no database in {data_dir}{where}: etcd would not start, or would serve without the "
        f"keys that only the database had. If the database is on another volume, mount it; if it is lost, {recovery or _without_cluster(log)}."
    )
