# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Restore the memory limit that a defragmentation raised, once etcd needs it no more.

etcd continues a defragmentation after its client has timed out or was killed. Source: ``Defragment`` in
server/etcdserver/api/v3rpc/maintenance.go, 3.5 to 3.7.
"""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection, EtcdctlError
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.http_api import fetch_metrics
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_metrics import parse_member_metrics
from ansible_collections.etcdops.headroom.plugins.module_utils._host.memory_limit import restore


def is_defragmenting(connection: Connection, endpoint: str) -> bool:
    """Return whether the member at a URL is being defragmented; true if it returns no metrics, since it may be."""
    try:
        return parse_member_metrics(fetch_metrics(connection, endpoint), 0).defragmenting
    except EtcdctlError:
        return True


def restore_limit(unit: str, connection: Connection, endpoint: str) -> str:
    """Restore the limit that a killed run left raised. endpoint: of the member on this host. Returns the reason if that failed."""
    return restore(unit, lambda: is_defragmenting(connection, endpoint))
