# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration of the program on the hosts: read, checked, and held against the host. Private to the collection.

``parse`` is pure. ``problems`` asks the host: systemd for the calendars, the kernel for the folders.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timezone
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._defrag import Thresholds, check_thresholds
from ansible_collections.etcdops.headroom.plugins.module_utils._etcdctl import Connection
from ansible_collections.etcdops.headroom.plugins.module_utils._local import connection

PATH = "/etc/etcd/maintenance.json"
OPERATIONS = ("defrag", "snapshot", "drill")
# As ``systemd-analyze calendar --iterations=3`` prints them, with TZ=UTC.
_ELAPSE = re.compile(r"(?:Next elapse|Iter\S* ?#\d+): \w+ (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC")
_KINDS: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "bool": (bool,),
    "int | None": (int, type(None)),
    "list[str]": (list,),
}


class ConfigError(ValueError):
    """A configuration that cannot be meant; the text names the entry, the value and what it may be."""


@dataclass(frozen=True)
class Defrag:
    """The defragmentation of this host's member: percent and bytes that have to be free, seconds otherwise."""

    enabled: bool
    calendar: str
    free_share: int
    free_size: int
    pause: int
    wait: int
    timeout: int
    raise_memory: bool


@dataclass(frozen=True)
class Snapshot:
    """The backups that this host keeps when it is the one that takes them; ``reserve`` in bytes, ``timeout`` in seconds."""

    enabled: bool
    calendar: str
    directory: str
    prefix: str
    keep: int
    keep_days: int | None
    encrypt_to: list[str]
    copy_dir: str
    reserve: int
    timeout: int


@dataclass(frozen=True)
class Drill:
    """The rehearsal of a restore: ``memory_max`` in bytes bounds the scratch member, ``timeout`` in seconds each step."""

    enabled: bool
    calendar: str
    scratch_dir: str
    memory_max: int
    timeout: int


@dataclass(frozen=True)
class Config:
    """Everything that the program has to know. ``member`` is the name of the one on this host."""

    cluster: str
    member: str
    link: Connection
    endpoints: list[str]
    etcdutl_path: str
    unit: str
    data_dir: str
    state_dir: str
    metrics_dir: str
    defrag: Defrag
    snapshot: Snapshot
    drill: Drill


_CONNECTION = ("etcdctl_path", "endpoints", "ca_cert", "client_cert", "client_key", "request_timeout")
_PLAIN = ("cluster", "member", "etcdutl_path", "unit", "data_dir", "state_dir", "metrics_dir")


def load(path: str) -> Config:
    """Read the configuration file. Raises ConfigError."""
    try:
        with open(path, encoding="utf-8") as stream:
            return parse(json.load(stream))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}; the role etcd_maintenance writes it") from error
    except json.JSONDecodeError as error:
        raise ConfigError(f"{path} holds no JSON: {error}") from error


def parse(data: Any) -> Config:
    """Return the configuration that ``data`` describes. Raises ConfigError or another ValueError that names the entry."""
    if not isinstance(data, Mapping):
        raise ConfigError("the configuration is no map")
    known = {*_PLAIN, "connection", *OPERATIONS}
    _names(data, known, "")
    for name in _PLAIN:
        _type(data[name], "str", name)
    link = data["connection"]
    if not isinstance(link, Mapping):
        raise ConfigError("connection is no map")
    _names(link, set(_CONNECTION), "connection.")
    config = Config(
        **{name: data[name] for name in _PLAIN},
        link=connection({**link, "request_timeout": float(link["request_timeout"])}),
        endpoints=list(link["endpoints"]),
        defrag=Defrag(**_section(Defrag, data["defrag"], "defrag")),
        snapshot=Snapshot(**_section(Snapshot, data["snapshot"], "snapshot")),
        drill=Drill(**_section(Drill, data["drill"], "drill")),
    )
    _check(config)
    return config


def _section(kind: type, data: Any, name: str) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise ConfigError(f"{name} is no map")
    entries = {field.name: str(field.type) for field in fields(kind)}
    _names(data, set(entries), f"{name}.")
    for entry, wanted in entries.items():
        _type(data[entry], wanted, f"{name}.{entry}")
    return {entry: data[entry] for entry in entries}


def _names(data: Mapping[str, Any], known: set[str], prefix: str) -> None:
    missing, strange = sorted(known - set(data)), sorted(set(data) - known)
    if missing or strange:
        found = [f"{prefix}{name} is missing" for name in missing] + [
            f"{prefix}{name} is not known" for name in strange
        ]
        raise ConfigError("; ".join(found))


def _type(value: Any, wanted: str, name: str) -> None:
    """Refuse a value of another type; a bool is no number."""
    if not isinstance(value, _KINDS[wanted]) or (isinstance(value, bool) and wanted != "bool"):
        raise ConfigError(f"{name} is {value!r}, which is no {wanted}")


def _check(config: Config) -> None:
    """Refuse what cannot be meant, naming the role's variables."""
    defrag, snapshot, drill = config.defrag, config.snapshot, config.drill
    check_thresholds(Thresholds(defrag.free_share, defrag.free_size))
    for name, value, least in (
        ("defrag.pause", defrag.pause, 0),
        ("defrag.wait", defrag.wait, 0),
        ("defrag.timeout", defrag.timeout, 1),
        ("snapshot.timeout", snapshot.timeout, 1),
        ("drill.timeout", drill.timeout, 1),
    ):
        if not least <= value <= 86400:
            raise ConfigError(f"{name} is {value}, but must be {least} to 86400 seconds")
    if snapshot.enabled and not snapshot.directory:
        raise ConfigError("backups are enabled without a directory: set etcd_maintenance_backup_dir")
    if snapshot.keep < 1:
        raise ConfigError(
            f"etcd_maintenance_backup_keep is {snapshot.keep}, but must be at least 1: the newest is kept"
        )
    if snapshot.keep_days is not None and snapshot.keep_days < 1:
        raise ConfigError(
            f"etcd_maintenance_backup_keep_days is {snapshot.keep_days}, but must be at least 1; leave it empty to keep by number"
        )
    if drill.enabled and not snapshot.directory:
        raise ConfigError("drills are enabled without backups: set etcd_maintenance_backup_dir")


def problems(config: Config) -> list[str]:
    """Say what this host lacks for the operations that are enabled: calendars that systemd reads, folders that are there."""
    found = []
    for name in OPERATIONS:
        section: Defrag | Snapshot | Drill = getattr(config, name)
        if section.enabled:
            try:
                elapses(section.calendar)
            except ConfigError as error:
                found.append(f"{_VARIABLES[name]}: {error}")
    folders = []
    if config.snapshot.enabled:
        folders.append(("etcd_maintenance_backup_dir", config.snapshot.directory))
        if config.snapshot.copy_dir:
            folders.append(("etcd_maintenance_backup_copy_dir", config.snapshot.copy_dir))
    if config.metrics_dir:
        folders.append(("etcd_maintenance_metrics_dir", config.metrics_dir))
    for variable, path in folders:
        if not os.path.isabs(path):
            found.append(f"{variable} is {path!r}, but must be an absolute path")
        elif not os.path.isdir(path):
            found.append(f"{variable}: {path} is no directory on this host: make it, or mount its volume, first")
        elif not _writable(path):
            found.append(
                f"{variable}: {path} cannot be written to: it is mounted read-only, or belongs to another system"
            )
    return found


_VARIABLES = {
    "defrag": "etcd_maintenance_defrag_calendar",
    "snapshot": "etcd_maintenance_backup_calendar",
    "drill": "etcd_maintenance_drill_calendar",
}


def _writable(path: str) -> bool:
    """Root may write where the permissions say no, but not on a filesystem that is mounted read-only."""
    return os.access(path, os.W_OK | os.X_OK) and not os.statvfs(path).f_flag & os.ST_RDONLY


def elapses(calendar: str) -> list[datetime]:
    """Return the next times of a calendar expression, as systemd reads it. Raises ConfigError."""
    try:
        done = subprocess.run(
            ["systemd-analyze", "calendar", "--iterations=3", calendar],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, "TZ": "UTC", "LC_ALL": "C", "SYSTEMD_COLORS": "0"},
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConfigError(f"systemd-analyze cannot be run: {error}") from error
    if done.returncode != 0:
        raise ConfigError(f"{calendar!r} is no calendar that systemd reads, such as daily, Sun 03:00 or *-*-* 02:30")
    found = parse_elapses(done.stdout)
    if not found:
        raise ConfigError(f"{calendar!r} never comes")
    return found


def parse_elapses(text: str) -> list[datetime]:
    """Read what ``systemd-analyze calendar`` prints."""
    return [
        datetime.strptime(found, "%Y-%m-%d %H:%M:%S").replace(tzinfo=timezone.utc) for found in _ELAPSE.findall(text)
    ]


def period(times: list[datetime]) -> int | None:
    """Return the shortest time between two of them in seconds, None for fewer than two."""
    steps = [(later - earlier).total_seconds() for earlier, later in zip(times, times[1:])]
    return round(min(steps)) if steps else None
