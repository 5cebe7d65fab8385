# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Request from a member over HTTP what etcdctl cannot request."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
from urllib.parse import urlsplit

from ansible_collections.etcdops.headroom.plugins.module_utils._base.prometheus import parse_samples
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import (
    Alarm,
    Connection,
    EtcdctlError,
    MemberList,
    parse_members,
)


def connection_problem(url: str, timeout: float) -> str:
    """Return why no TCP connection to this client URL can be made; empty if one can.

    A refused connection is known at once; etcdctl would use its whole timeout to report the same.
    """
    parts = urlsplit(url)
    try:
        socket.create_connection((parts.hostname or "", parts.port or 2379), timeout=timeout).close()
    except socket.timeout:
        return f"no connection within {timeout:g} s"
    except (OSError, ValueError) as error:
        return (getattr(error, "strerror", None) or str(error)).lower()
    return ""


def fetch_member_list(connection: Connection, url: str) -> MemberList:
    """Return the member list that this one member has, without asking the others. Raises EtcdctlError.

    etcdctl 3.5 can ask for a linearizable list only, which a cluster without quorum never answers; the gateway's
    default is a serializable one in every version.
    """
    return parse_members(_request(connection, url, "POST", "/v3/cluster/member/list", "{}"))


def deactivate_alarm(connection: Connection, url: str, alarm: Alarm) -> None:
    """Disarm one alarm, which etcdctl cannot do. Raises EtcdctlError, always if authentication is enabled."""
    body = {"action": "DEACTIVATE", "memberID": str(int(alarm.member_id, 16)), "alarm": alarm.type}
    _request(connection, url, "POST", "/v3/maintenance/alarm", json.dumps(body))


def fetch_quota(connection: Connection, url: str) -> int | None:
    """Return the member's quota in bytes from its metrics, None if they lack it. Raises EtcdctlError."""
    return parse_quota(fetch_metrics(connection, url))


def fetch_version(connection: Connection, url: str) -> str:
    """Return what the member serves under /version. Raises EtcdctlError."""
    return _request(connection, url, "GET", "/version", None)


def fetch_metrics(connection: Connection, url: str) -> str:
    """Return the member's page of metrics. Raises EtcdctlError."""
    return _request(connection, url, "GET", "/metrics", None)


def parse_quota(page: str) -> int | None:
    """Return the quota in bytes from a page of metrics, None if it is missing."""
    found = (sample.value for sample in parse_samples(page) if sample.name == "etcd_server_quota_backend_bytes")
    return next((int(quota) for quota in found), None)


def _request(connection: Connection, url: str, method: str, path: str, body: str | None) -> str:
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 2379
    client: http.client.HTTPConnection
    try:
        if parts.scheme == "https":
            context = ssl.create_default_context(cafile=connection.ca_cert)
            # Python 3.13 refuses CAs without keyUsage, which etcd's own clients accept. Chain and name stay verified.
            context.verify_flags &= ~ssl.VERIFY_X509_STRICT
            if connection.client_cert:
                context.load_cert_chain(connection.client_cert, connection.client_key)
            client = http.client.HTTPSConnection(host, port, timeout=connection.timeout, context=context)
        else:
            client = http.client.HTTPConnection(host, port, timeout=connection.timeout)
        try:
            client.request(method, path, body)
            response = client.getresponse()
            text = response.read().decode("utf-8", "replace")
        finally:
            client.close()
    except (OSError, http.client.HTTPException) as error:
        raise EtcdctlError(f"{url}{path}: {error}") from error
    if response.status != 200:
        raise EtcdctlError(f"{url}{path}: HTTP status {response.status}")
    return text
