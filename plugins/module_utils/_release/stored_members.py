# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the members stored in a member's database, and compare them with the cluster's member list.

etcd 3.5 answers from its v2 store and 3.6 from its database. Members that were removed long ago may still be in the database, and come back
with 3.6 ("zombie members"). Source: https://etcd.io/blog/2025/zombie_members_upgrade/.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import bbolt
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster

# Number of attempts if etcd writes during a read.
_ATTEMPTS = 20


class DatabaseError(ValueError):
    """The database cannot be read; the text says why."""


def read_members(path: Path) -> dict[str, dict[str, Any]]:
    """Return the members in a database by their id, also while etcd writes to it. Raises DatabaseError."""
    problem = ""
    for _attempt in range(_ATTEMPTS):
        try:
            with path.open("rb", buffering=0) as database:
                before = bbolt.newest_meta(database)
                found = {item.key.decode(): item.value for item in bbolt.items(database, before, b"members")}
                # Pages are used again two transactions later at the earliest.
                if bbolt.newest_meta(database).transaction - before.transaction <= 1:
                    return {key: json.loads(value) for key, value in found.items()}
                problem = "etcd writes all the time"
        except (OSError, ValueError) as error:
            problem = str(error)
    raise DatabaseError(f"{path}: {problem}")


def stored_problems(stored: Mapping[str, Mapping[str, Any]], cluster: Cluster) -> list[str]:
    """Return how the members in a database differ from those that the cluster lists."""
    listed = {member.id: member for member in cluster.members}
    problems = []
    for key in sorted(stored.keys() - listed.keys()):
        name = stored[key].get("name") or "without a name"
        problems.append(
            f"its database still holds member {key} ({name}), which the cluster does not list, and which would come back: restart "
            "the members with 3.5.26 or later, and wait until they are healthy"
        )
    for key in sorted(listed.keys() & stored.keys()):
        if bool(stored[key].get("isLearner")) != (listed[key].role == "learner"):
            problems.append(
                f"its database and the cluster disagree on whether {listed[key].name} is a learner: restart the members with "
                "3.5.24 or later, and wait until they are healthy"
            )
    missing = ", ".join(listed[key].name or key for key in sorted(listed.keys() - stored.keys()))
    if missing:
        problems.append(f"its database lacks {missing}, which the cluster lists: rebuild this member")
    return problems
