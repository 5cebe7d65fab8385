# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Define the module arguments for the connection to etcd, and create the connection from them."""

from __future__ import annotations

from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection, EtcdctlError

# Documented in plugins/doc_fragments/etcdctl.py.
CONNECTION_ARGUMENTS: dict[str, dict[str, Any]] = {
    "etcdctl_path": {"type": "path", "default": "/usr/local/bin/etcdctl"},
    "endpoints": {"type": "list", "elements": "str", "default": ["https://127.0.0.1:2379"]},
    "ca_cert": {"type": "path", "default": "/etc/etcd/tls/ca.crt"},
    "client_cert": {"type": "path", "default": "/etc/etcd/tls/client.crt"},
    "client_key": {"type": "path", "default": "/etc/etcd/tls/client.key", "no_log": False},
    "unit": {"type": "str", "default": "etcd.service"},
    "request_timeout": {"type": "float", "default": 3.0},
}

# Additional arguments of the modules that manage users and roles.
LOGIN_ARGUMENTS: dict[str, dict[str, Any]] = {
    **{name: spec for name, spec in CONNECTION_ARGUMENTS.items() if name != "unit"},
    "login_user": {"type": "str", "default": ""},
    "login_password": {"type": "str", "default": "", "no_log": True},
}

# Additional arguments of the modules that only read, from any cluster.
AUDIT_ARGUMENTS: dict[str, dict[str, Any]] = {
    **LOGIN_ARGUMENTS,
    "metrics_urls": {"type": "list", "elements": "str", "default": []},
}


def connection_from_params(params: dict[str, Any]) -> Connection:
    """Return the connection that a module's parameters describe. Raises EtcdctlError for invalid ones."""
    if params["request_timeout"] <= 0:
        raise EtcdctlError(f"request_timeout is {params['request_timeout']:g}, but must be above 0 s; 3 is the default")
    invalid = [url for url in params["endpoints"] if not url.startswith(("https://", "http://"))]
    if invalid or not params["endpoints"]:
        raise EtcdctlError(f"endpoints: {invalid or 'the list is empty'}; write them like https://127.0.0.1:2379")
    user, password = params.get("login_user") or "", params.get("login_password") or ""
    if bool(user) != bool(password):
        given, missing = ("login_user", "login_password") if user else ("login_password", "login_user")
        raise EtcdctlError(f"{given} is set without {missing}; set both, or neither")
    return Connection(
        etcdctl_path=params["etcdctl_path"],
        ca_cert=params["ca_cert"],
        client_cert=params["client_cert"],
        client_key=params["client_key"],
        timeout=params["request_timeout"],
        user=user,
        password=password,
    )
