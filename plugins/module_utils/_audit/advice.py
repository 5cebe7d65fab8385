# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recommend actions for the largest parts of a database. Pure."""

from __future__ import annotations

from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._audit.groups import OTHER
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_count, format_size

# A group with this share (percent) of all bytes or more is worth a cluster of its own, if it has this many bytes.
_LARGE_GROUP = (50, 100 << 20)
# A group with this share (percent) or more is nearly the whole database, which has its own cluster already.
_WHOLE = 90
# History or free pages of this share (percent) of the database or more, if they have this many bytes.
_WASTE = (45, 16 << 20)
# etcd is meant for small values: above this many bytes, a put makes a long entry in the raft log and a long fsync.
_LARGE_VALUE = 128 << 10
# A key written this often since it was created is a counter or a heartbeat.
_OFTEN = 100_000
_IDLE_LEASES = 1000


def advise(result: dict[str, Any]) -> list[str]:
    """Return advice on a result of etcd_keyspace_info, one sentence each; none if there is nothing to say."""
    return [*_on_waste(result["database"]), *_on_groups(result), *_on_keys(result), *_on_leases(result["leases"])]


def _on_waste(database: dict[str, Any]) -> list[str]:
    found = []
    size, share = database["size"], _WASTE
    for name, action in (
        ("history", "compact more often (etcd_auto_compaction_retention), then defragment"),
        ("free", "defragment one member at a time, the leader last"),
    ):
        part = database[name]
        if part is not None and size and part >= share[1] and part * 100 >= size * share[0]:
            found.append(
                f"{format_size(part)} of {format_size(size)} are {_PARTS[name]}, {share[0]} % or more: {action}"
            )
    return found


_PARTS = {"history": "old revisions", "free": "free pages"}


def _on_groups(result: dict[str, Any]) -> list[str]:
    if not result["groups"]:
        return []
    first = result["groups"][0]
    share, size = _LARGE_GROUP
    # Without all keys, the shares are those of the names that come first.
    if first["share"] is None or first["share"] < share or first["bytes"] < size or first["group"] in ("", OTHER):
        return []
    action = "move it to a cluster of its own"
    if "/events/" in first["group"]:
        action = "move it to a cluster of its own (kube-apiserver --etcd-servers-overrides)"
    elif first["share"] >= _WHOLE:
        action = "set a larger depth to see its parts"
    return [f"{first['group']} has {first['share']} % of all bytes, {format_size(first['bytes'])}: {action}"]


def _on_keys(result: dict[str, Any]) -> list[str]:
    found = []
    largest = [key for key in result["largest_keys"] if key["bytes"] > _LARGE_VALUE]
    if largest:
        found.append(
            f"{largest[0]['key']} has {format_size(largest[0]['bytes'])}, over {format_size(_LARGE_VALUE)}: keep large values "
            "elsewhere and their address in etcd"
        )
    often = [key for key in result["most_written_keys"] if key["writes"] > _OFTEN]
    if often:
        found.append(
            f"{often[0]['key']} was written {format_count(often[0]['writes'])} times, over {format_count(_OFTEN)}: write it less "
            "often, or keep it elsewhere"
        )
    return found


def _on_leases(leases: dict[str, Any]) -> list[str]:
    total, attached = leases["total"], leases["with_keys"]
    if total is None or attached is None or total - attached < _IDLE_LEASES:
        return []
    return [
        f"{format_count(total - attached)} of {format_count(total)} leases have no key: revoke those that clients leave behind"
    ]
