# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Describe the cluster together with the member on this host. Private to the collection."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster import unreachable_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import observe_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import connection_from_params
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import EtcdctlError
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.local_member import describe_local_member
from ansible_collections.etcdops.headroom.plugins.module_utils._host.systemd import show

ELECTION_PAUSE = 0.5  # seconds between two queries while there is no quorum


def describe_member_in_quorum(params: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Call ``describe_member``; without a quorum, repeat until there is one, for at most ``seconds``.

    Members that have just lost their leader elect another one: etcd's default election timeout is 1 s, and several
    candidates can need more than one round.
    """
    deadline = time.monotonic() + seconds
    while True:
        found = describe_member(params)
        if found["cluster"]["quorum"]["ok"] or time.monotonic() >= deadline:
            return found
        time.sleep(ELECTION_PAUSE)


def former_endpoints(endpoints: list[str], settings: Mapping[str, Any]) -> list[str]:
    """Return the loopback endpoints of the process on this host from its start line, because its client port may be about to change."""
    ports = {urlsplit(url).port for url in settings.get("listen_client_urls") or []}
    own = urlsplit(endpoints[0])
    return [f"{own.scheme}://{own.hostname}:{port}" for port in sorted(filter(None, ports)) if port != own.port]


def describe_member(params: dict[str, Any]) -> dict[str, Any]:
    """Return the cluster, the name of the member on this host, and its process.

    If a cluster does not answer at ``endpoints``, it is queried at the endpoints of the process on this host.

    params: those of CONNECTION_ARGUMENTS, data_dir and wal_dir. An unreachable cluster is a result. Raises EtcdctlError
    for invalid parameters.
    """
    link, endpoints = connection_from_params(params), params["endpoints"]
    try:
        cluster, answered_by = observe_cluster(link, endpoints)
    except EtcdctlError as error:
        cluster, answered_by = unreachable_cluster(str(error)), ""
    unit = show(params["unit"], link.timeout)
    process = describe_local_member(unit, link, endpoints[0], params["data_dir"], params["wal_dir"])
    former = [] if cluster.members else former_endpoints(endpoints, process.get("settings", {}))
    if former:
        try:
            cluster, answered_by = observe_cluster(link, former)
        except EtcdctlError as error:
            cluster = unreachable_cluster(str(error))
    member = process.get("settings", {}).get("name") or (answered_by if len(endpoints) == 1 else "")
    return {"cluster": cluster.as_dict(), "member": member, "process": process}
