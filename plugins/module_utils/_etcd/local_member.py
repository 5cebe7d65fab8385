# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Describe the member on this host: its unit, process, effective settings and mounts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection, EtcdctlError
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.http_api import fetch_quota
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.settings import QUOTA, effective_settings
from ansible_collections.etcdops.headroom.plugins.module_utils._host import systemd
from ansible_collections.etcdops.headroom.plugins.module_utils._host.process import read_mounts, read_process


def describe_local_member(
    unit: systemd.Unit, connection: Connection, endpoint: str, data_dir: str | None, wal_dir: str | None
) -> dict[str, Any]:
    """Describe the etcd that runs under a unit on this host: process, effective settings, mounts.

    Without a running process only the unit's state is returned. data_dir, wal_dir: default to what etcd logged at its
    start. endpoint: asked for the quota if the journal lacks the settings.
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
    record = systemd.start_record(unit.invocation, connection.timeout)
    settings = effective_settings(record) if record else {}
    source = "journal" if record else "none"
    if not record:
        try:
            quota = fetch_quota(connection, endpoint)
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


def unit_problem(unit: systemd.Unit) -> tuple[str, bool]:
    """Return why the unit does not run, and whether waiting cannot change that."""
    if not unit.load_state:
        return (
            f"systemctl does not report the state of {unit.name}: the host may be slow, or systemd is not its init",
            False,
        )
    if unit.load_state == "not-found":
        return f"unit {unit.name} does not exist on this host; install etcd first", True
    if unit.job:
        return (
            f"{unit.name} is {unit.active_state} ({unit.sub_state}): systemd has not finished a job for it yet",
            False,
        )
    if unit.crash_loops:
        if unit.result == "oom-kill":
            return (
                f"{unit.name} was killed because it ran out of memory; raise memory_max, or lower what etcd needs",
                True,
            )
        ended = f"{unit.result or 'failed'}, exit status {unit.exit_status}, restarted {unit.restarts} times"
        return f"{unit.name} does not start ({ended})", True
    if unit.active_state != "active" or not unit.pid:
        return f"{unit.name} is {unit.active_state} ({unit.sub_state})", False
    return "", False
