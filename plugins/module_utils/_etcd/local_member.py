# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the modules that talk to a member share: arguments and the local member. Private to the collection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection, EtcdctlError
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.https import quota_backend_bytes
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.settings import QUOTA, effective_settings
from ansible_collections.etcdops.headroom.plugins.module_utils._host import systemd
from ansible_collections.etcdops.headroom.plugins.module_utils._host.process import read_mounts, read_process

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


def connection(params: dict[str, Any]) -> Connection:
    """Return the connection that a module's parameters describe; raises EtcdctlError if they cannot be right."""
    if params["request_timeout"] <= 0:
        raise EtcdctlError(f"request_timeout: {params['request_timeout']:g} s is too short; 3 is the default")
    wrong = [url for url in params["endpoints"] if not url.startswith(("https://", "http://"))]
    if wrong or not params["endpoints"]:
        raise EtcdctlError(f"endpoints: {wrong or 'the list is empty'}; write them like https://127.0.0.1:2379")
    return Connection(
        etcdctl_path=params["etcdctl_path"],
        ca_cert=params["ca_cert"],
        client_cert=params["client_cert"],
        client_key=params["client_key"],
        timeout=params["request_timeout"],
    )


def local_member(
    unit: systemd.Unit, link: Connection, endpoint: str, data_dir: str | None, wal_dir: str | None
) -> dict[str, Any]:
    """Describe the etcd that runs under a unit on this host: process, settings in effect, mounts.

    Without a running process only the unit's own state is given. ``data_dir`` and ``wal_dir`` default to what etcd
    itself says it uses; ``endpoint`` is asked for the quota if the journal does not state the settings.
    """
    state: dict[str, Any] = {
        "unit": unit.name,
        "load_state": unit.load_state,
        "active_state": unit.active_state,
        "sub_state": unit.sub_state,
        "result": unit.result,
        "restarts": unit.restarts,
        "since": unit.since,
        "running": False,
    }
    process = read_process(Path("/"), unit.pid) if unit.pid else None
    if process is None or not unit.pid:
        return state
    record = systemd.start_record(unit.invocation, link.timeout)
    settings = effective_settings(record) if record else {}
    source = "journal" if record else "none"
    if not record:
        try:
            quota = quota_backend_bytes(link, endpoint)
        except EtcdctlError:
            quota = None
        if quota is not None:
            settings, source = {QUOTA: quota}, "metrics"
    data = data_dir or settings.get("data_dir")
    wal = wal_dir or settings.get("wal_dir") or (f"{data}/member/wal" if data else None)
    paths = {name: path for name, path in (("data", data), ("wal", wal)) if path}
    return {
        **state,
        **process,
        "running": True,
        "version": record.get("etcd-version") if record else None,
        "go_version": record.get("go-version") if record else None,
        "settings": settings,
        "settings_source": source,
        "mounts": read_mounts(Path("/"), unit.pid, paths),
    }
