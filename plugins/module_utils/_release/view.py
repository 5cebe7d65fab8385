# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Query from each member its release, the cluster and storage versions, and whether a downgrade is enabled."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import http_api
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import Cluster, Member
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    Connection,
    EtcdctlError,
    base_release,
    downgrade_target,
    run_etcdctl,
)

_THREADS = 16


@dataclass(frozen=True)
class MemberRelease:
    """The answer of one member.

    server: its own release, without the suffix of a custom build. cluster, storage: such as "3.6.0", storage empty in 3.5. downgrade_to: the minor version that
    a downgrade is enabled to, empty without one; 3.5 does not tell. error: why the member did not answer.
    """

    name: str
    endpoint: str
    server: str = ""
    cluster: str = ""
    storage: str = ""
    downgrade_to: str = ""
    error: str = ""


def observe_releases(connection: Connection, cluster: Cluster) -> list[MemberRelease]:
    """Query all members in parallel, each at its own client URL. A member that does not answer is a result."""
    with ThreadPoolExecutor(max_workers=_THREADS) as pool:
        return list(pool.map(lambda member: _observe(connection, member), cluster.members))


def _observe(connection: Connection, member: Member) -> MemberRelease:
    name = member.name or member.id
    if not member.endpoint:
        return MemberRelease(name, "", error="it was added but never started")
    try:
        found = parse_version(http_api.fetch_version(connection, member.endpoint))
        downgrade_to = ""
        if found["storage"]:  # 3.5 has neither
            downgrade_to = parse_downgrade(run_etcdctl(connection, [member.endpoint], "endpoint", "status").stdout)
    except EtcdctlError as error:
        return MemberRelease(name, member.endpoint, error=str(error))
    return MemberRelease(name, member.endpoint, **found, downgrade_to=downgrade_to)


def parse_version(text: str) -> dict[str, str]:
    """Parse what a member serves under /version. Raises EtcdctlError."""
    data = _json(text)
    server = base_release(str(data.get("etcdserver", ""))) if isinstance(data, dict) else ""
    if not server:
        raise EtcdctlError(f"/version: expected the release of etcd, got {text[:80]!r}")
    return {
        "server": server,
        "cluster": str(data.get("etcdcluster", "")),
        "storage": str(data.get("storage", "")),
    }


def parse_downgrade(text: str) -> str:
    """Return the minor version that a downgrade is enabled to, from ``endpoint status -w json``; empty without one."""
    entries = _json(text or "null") or []
    found = [downgrade_target(entry.get("Status", {})) for entry in (entries if isinstance(entries, list) else [])]
    return next(filter(None, found), "")


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise EtcdctlError(f"expected JSON, got {text[:80]!r}") from error
