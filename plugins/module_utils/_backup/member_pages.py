# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Query a member's health and version over HTTP on a unix socket, without authentication."""

from __future__ import annotations

import http.client
import json
import socket

_SECONDS = 5.0
# Exceptions while a page is requested and parsed.
_FAILURES = (OSError, http.client.HTTPException, LookupError, TypeError, ValueError, AttributeError)


class _SocketConnection(http.client.HTTPConnection):
    """HTTP on a unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=_SECONDS)
        self._path = path

    def connect(self) -> None:
        """Connect to the socket."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(_SECONDS)
        self.sock.connect(self._path)


def is_healthy(client_socket: str) -> bool:
    """Return whether the member answers a linearizable read. A single member is then the leader and has applied all entries."""
    try:
        return str(json.loads(_get(client_socket, "/health?exclude=NOSPACE"))["health"]) == "true"
    except _FAILURES:
        return False


def read_version(client_socket: str) -> str:
    """Return the member's version. Raises ValueError."""
    try:
        return str(json.loads(_get(client_socket, "/version"))["etcdserver"])
    except _FAILURES as error:
        raise ValueError(f"etcd on the copy did not report its version: {error}") from error


def _get(path: str, page: str) -> str:
    client = _SocketConnection(path)
    try:
        client.request("GET", page)
        return client.getresponse().read().decode("utf-8", "replace")
    finally:
        client.close()
