# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Describe the etcd processes of a host: their settings, memory, supervisor, disks and certificates. Nothing is written.

Files are read through /proc/PID/root, so that those of a container are found. Functions take the root of the filesystem for tests.
"""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._audit.process_settings import (
    MAX_FILE,
    ProcessSettings,
    read_process_settings,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import read_text
from ansible_collections.etcdops.headroom.plugins.module_utils._host.mounts import mount_of, parse_mountinfo
from ansible_collections.etcdops.headroom.plugins.module_utils._host.owners import find_by_name, read_owner
from ansible_collections.etcdops.headroom.plugins.module_utils._host.process import read_process
from ansible_collections.etcdops.headroom.plugins.module_utils._tls.server_certificate import (
    CertificateError,
    parse_pem,
    parse_trusted_pem,
)

_MEMORY = (
    "rss", "rss_anon", "rss_peak", "swap", "locked", "memory_limit", "memory_high", "memory_current", "memory_peak", "oom_kills",
)  # fmt: skip
_CERTIFICATES = (
    "cert-file", "trusted-ca-file", "client-cert-file", "peer-cert-file", "peer-trusted-ca-file", "peer-client-cert-file",
)  # fmt: skip
_DENIED = "its /proc/PID/environ and /proc/PID/root may not be read: run as root (become)"
# Parts of a control group's path → the engine.
_ENGINES = (("docker", "docker"), ("libpod", "podman"), ("crio", "cri-o"), ("containerd", "containerd"))


def describe_processes(root: str = "/") -> list[dict[str, Any]]:
    """Return the etcd processes of this host in the order of their PIDs."""
    found = (describe_process(one.pid, root) for one in find_by_name("etcd", os.path.join(root, "proc")))
    return [process for process in found if process is not None]


def describe_process(pid: int, root: str = "/") -> dict[str, Any] | None:
    """Return one process, None if it has ended or is only a thread or a fork without a command line. Sizes are bytes."""
    measured = read_process(Path(root), pid)
    settings = read_process_settings(os.path.join(root, "proc", str(pid)))
    if measured is None or not settings.command_line:
        return None
    return {
        "pid": pid,
        "hostname": platform.node(),
        "name": settings.setting("name") or "default",
        "client_urls": [url.strip() for url in settings.setting("advertise-client-urls").split(",") if url.strip()],
        "command": settings.command_line,
        "environment": settings.environment,
        "config_file": settings.config_path,
        "config": settings.config_text,
        "problem": settings.problem or ("" if settings.readable else _DENIED),
        "supervisor": _supervisor(pid, root),
        "memory": {name: measured[name] for name in _MEMORY},
        "disks": _disks(settings) if settings.readable else {},
        "certificates": _certificates(settings, time.time()) if settings.readable else [],
    }


def _supervisor(pid: int, root: str) -> dict[str, str]:
    owner = read_owner(pid, os.path.join(root, "proc"))
    engine = next((name for part, name in _ENGINES if part in owner.path), "") if owner.container else ""
    kind = {"other": "process"}.get(owner.kind, owner.kind)
    return {"kind": kind, "unit": owner.unit, "container": owner.container[:12], "engine": engine, "pod": owner.pod}


def _disks(settings: ProcessSettings) -> dict[str, dict[str, Any]]:
    """Return size and free bytes of the file systems of the data and the WAL, as far as they can be read."""
    paths = {"data": settings.setting("data-dir") or f"{settings.setting('name') or 'default'}.etcd"}
    if settings.setting("wal-dir"):
        paths["wal"] = settings.setting("wal-dir")
    mounts = parse_mountinfo(read_text(f"{settings.folder}/mountinfo", MAX_FILE))
    found = {}
    for name, path in paths.items():
        inside = os.path.normpath(os.path.join(settings.cwd, path))
        try:
            space = os.statvfs(settings.path(path))
        except OSError:
            continue
        mount = mount_of(inside, mounts)
        found[name] = {
            "path": inside,
            "size": space.f_blocks * space.f_frsize,
            "free": space.f_bavail * space.f_frsize,
            "fstype": mount.fstype if mount else None,
        }
    return found


def _certificates(settings: ProcessSettings, now: float) -> list[dict[str, Any]]:
    """Return when the certificates expire that etcd's flags name. Keys are not opened."""
    found = []
    for flag in _CERTIFICATES:
        path = settings.setting(flag)
        if not path:
            continue
        one: dict[str, Any] = {"flag": flag, "path": path, "problem": ""}
        one.update(days_left=None, not_after=None, valid_from=None)
        try:
            parse = parse_trusted_pem if flag.endswith("trusted-ca-file") else parse_pem
            validity = parse(settings.read(path))
            one.update(days_left=validity.days_left(now), not_after=validity.date(), valid_from=validity.start(now))
        except CertificateError as error:
            one["problem"] = str(error)
        found.append(one)
    return found
