# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find problems with replacing members from the members' hashes. Pure.

A member that joins copies the data of another one, so the data of those that stay must be known to be right.
comparison: ``hashes.Comparison`` as a dict; empty if the members were not compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import hashes
from ansible_collections.etcdops.headroom.plugins.module_utils._membership.recovery import REPLACE


def differs(comparison: Mapping[str, Any], name: str) -> bool:
    """Return whether the hash of a member differs from that of the majority."""
    return name in comparison.get("differing", [])


def hash_note(comparison: Mapping[str, Any], name: str) -> str:
    """Describe the hash of a healthy member, for a message; empty if it was not compared."""
    return ", and its hash is that of the majority" if name in comparison.get("agreeing", []) else ""


def hash_lines(comparison: Mapping[str, Any]) -> list[str]:
    """Return the lines about the hashes for the plan."""
    return [f"Hashes: {hashes.describe(comparison)}"] if comparison else []


def newest_record(records: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the newest comparison with a result in the records of the hosts' timers, and when it was made; empty if there is none.

    records: ``integrity`` of ``_maintenance.records``. Keys of the result: ``comparison``, ``compared_at``.
    """
    found = []
    for record in records:
        for one in (record, record.get("former_comparison"), record.get("last_done")):
            comparison = (one or {}).get("comparison") or {}
            if one and comparison.get("verdict", hashes.UNKNOWN) != hashes.UNKNOWN:
                found.append({"comparison": comparison, "compared_at": one.get("compared_at") or one["started_at"]})
    return max(found, key=lambda one: str(one["compared_at"]), default={})


def record_problems(record: Mapping[str, Any], members: Iterable[str], where: str) -> list[str]:
    """Return why no host may join: the last comparison found that the data to copy may be wrong.

    record: as ``newest_record`` returns it. members: names of the remaining members.
    """
    found = record.get("comparison") or {}
    wrong = [name for name in found.get("differing", []) if name in members]
    if found.get("verdict") == hashes.UNDECIDED:
        remedy = "restore a backup that passed its drill (the playbook etcdops.headroom.restore)"
    elif wrong:
        remedy = f"run '{REPLACE.format(names=','.join(wrong))}' first"
    else:
        return []
    return [
        f"{where}: the last comparison of the members ({record['compared_at']}) says that {hashes.describe(found)}. A member that joins copies the data of "
        f"another one: {remedy}. `headroom integrity` on the leader's host compares them again"
    ]


def hash_problems(
    comparison: Mapping[str, Any], replaced: Sequence[str], *, joins: bool, confirmed: bool, where: str
) -> list[str]:
    """Return why no member may be replaced.

    replaced: names in the request, also of other clusters. joins: whether a host of this cluster joins. confirmed: the user confirmed that the data
    of the remaining members is right.
    """
    if not replaced or confirmed:
        return []
    verdict = comparison.get("verdict", hashes.UNKNOWN)
    if verdict == hashes.UNKNOWN:
        found = hashes.describe(comparison) if comparison else "no host of this run saw its own member lead the cluster"
        return [f"{where}: its members were not compared: {found}. {_COMPARE_FIRST}"] if joins else []
    if verdict == hashes.UNDECIDED:
        return [
            f"{where}: {hashes.describe(comparison)}. A member that joins copies the data of another one: restore a backup that passed its drill "
            "(the playbook etcdops.headroom.restore), or, if you know which member is right, confirm it with -e etcd_replace_healthy=true"
        ]
    left = [name for name in comparison["differing"] if name not in replaced]
    if left:
        names = ",".join([*replaced, *left])
        return [f"{where}: {hashes.describe(comparison)}. Replace every member that differs: -e etcd_replace={names}"]
    return []


_COMPARE_FIRST = (
    "A member that joins copies the data of another one, which may be wrong: run the playbook again once a majority of the members can be compared, or, if "
    "you know that the data of the remaining members is right, confirm it with -e etcd_replace_healthy=true"
)
