# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The configuration of the program on the hosts: read, checked, and held against the host. Private to the collection.

``parse`` is pure. ``problems`` asks the host: systemd for the calendars, the kernel for the folders.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import bucket as backup_bucket
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.bucket import Bucket, BucketError
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import parse_count, parse_size
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import connection_from_params
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.records import OPERATIONS
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.timers import CalendarError, next_runs

CONFIG_FILE = "/etc/etcd/maintenance.json"
_LONGEST = 86400
_MOST = 100_000
_BUCKET = {"name", "prefix", "endpoint_url", "region", "ca_cert", "credentials_file"}
# Entries that are sizes, which may be given with a unit.
_SIZES = ("free_size", "reserve", "memory_max")


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
    bucket: Bucket | None
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


def load_config(path: str) -> Config:
    """Read the configuration file. Raises ConfigError."""
    try:
        with open(path, encoding="utf-8") as stream:
            return parse_config(json.load(stream))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}; the role etcd_maintenance writes it") from error
    except json.JSONDecodeError as error:
        raise ConfigError(f"{path} holds no JSON: {error}") from error


def parse_config(data: Any) -> Config:
    """Return the configuration that ``data`` describes. Raises ConfigError or another ValueError that names the entry."""
    if not isinstance(data, Mapping):
        raise ConfigError("the configuration is no map")
    known = {*_PLAIN, "connection", *OPERATIONS}
    _names(data, known, "")
    for name in _PLAIN:
        if not isinstance(data[name], str):
            raise ConfigError(f"{name} is {data[name]!r}, which is no text")
    link = data["connection"]
    if not isinstance(link, Mapping):
        raise ConfigError("connection is no map")
    _names(link, set(_CONNECTION), "connection.")
    config = Config(
        **{name: data[name] for name in _PLAIN},
        link=connection_from_params({**link, "request_timeout": float(link["request_timeout"])}),
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
    return {entry: _value(data[entry], wanted, entry, name) for entry, wanted in entries.items()}


def role_variable(section: str, entry: str) -> str:
    """Return the role's variable for an entry, which is what a message has to name."""
    entry = {"directory": "dir"}.get(entry, entry)
    return f"etcd_maintenance_{'backup' if section == 'snapshot' else section}_{entry}"


def _value(value: Any, wanted: str, entry: str, section: str) -> Any:
    """Return a value as the type that is wanted, whether it came as YAML or as text. Raises ValueError."""
    name = role_variable(section, entry)
    if entry == "bucket":
        return _parse_bucket(value, name)
    if entry in _SIZES:
        return parse_size(value, name)
    if wanted == "int | None" and value in ("", None):
        return None
    if wanted.startswith("int"):
        return parse_count(value, name)
    if wanted == "list[str]":
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return list(value)
        raise ConfigError(f"{name} is {value!r}, which is no list of text")
    if not isinstance(value, bool if wanted == "bool" else str):
        raise ConfigError(f"{name} is {value!r}, which is no {'boolean' if wanted == 'bool' else 'text'}")
    return value


def _parse_bucket(value: Any, variables: str) -> Bucket | None:
    """Return the bucket for copies, None without a name. Its keys are not in the configuration, which others may read."""
    if not value:
        return None
    if not isinstance(value, Mapping):
        raise ConfigError(f"{variables} is {value!r}, which is no map")
    _names(value, _BUCKET, "snapshot.bucket.")
    for entry in sorted(_BUCKET):
        if not isinstance(value[entry], str):
            name = variables if entry == "name" else f"{variables}_{entry}"
            raise ConfigError(f"{name} is {value[entry]!r}, which is no text")
    return Bucket(**value) if value["name"] else None


def _names(data: Mapping[str, Any], known: set[str], prefix: str) -> None:
    missing, strange = sorted(known - set(data)), sorted(set(data) - known)
    if missing or strange:
        found = [f"{prefix}{name} is missing" for name in missing] + [
            f"{prefix}{name} is not known" for name in strange
        ]
        raise ConfigError("; ".join(found))


def _check(config: Config) -> None:
    """Refuse what cannot be meant, naming the role's variables."""
    defrag, snapshot, drill = config.defrag, config.snapshot, config.drill
    bounds = [
        ("defrag", "free_share", defrag.free_share, 0, 99, "percent of the database; 45 is usual"),
        ("defrag", "pause", defrag.pause, 0, _LONGEST, "seconds"),
        ("defrag", "wait", defrag.wait, 0, _LONGEST, "seconds"),
        ("defrag", "timeout", defrag.timeout, 1, _LONGEST, "seconds"),
        ("snapshot", "keep", snapshot.keep, 1, _MOST, "backups: the newest is always kept"),
        ("snapshot", "keep_days", snapshot.keep_days, 1, _MOST, "days; leave it empty to keep by number alone"),
        ("snapshot", "timeout", snapshot.timeout, 1, _LONGEST, "seconds"),
        ("drill", "timeout", drill.timeout, 1, _LONGEST, "seconds"),
    ]
    for section, entry, value, least, most, what in bounds:
        if value is not None and not least <= value <= most:
            raise ConfigError(f"{role_variable(section, entry)} is {value}, but must be {least} to {most} {what}")
    for name, enabled in (("backups", snapshot.enabled), ("drills", drill.enabled)):
        if enabled and not snapshot.directory:
            raise ConfigError(
                f"{name} are enabled, but etcd_maintenance_backup_dir is empty: write a directory of this host"
            )


def host_problems(config: Config) -> list[str]:
    """Say what this host lacks for the operations that are enabled: calendars that systemd reads, folders that are there."""
    found = []
    for name in OPERATIONS:
        section: Defrag | Snapshot | Drill = getattr(config, name)
        if section.enabled:
            try:
                next_runs(section.calendar)
            except CalendarError as error:
                found.append(f"{role_variable(name, 'calendar')}: {error}")
    folders = []
    if config.snapshot.enabled:
        folders.append(("etcd_maintenance_backup_dir", config.snapshot.directory))
        if config.snapshot.copy_dir:
            folders.append(("etcd_maintenance_backup_copy_dir", config.snapshot.copy_dir))
    if config.metrics_dir:
        folders.append(("etcd_maintenance_metrics_dir", config.metrics_dir))
    for name, path in folders:
        if not os.path.isabs(path):
            found.append(f"{name} is {path!r}, but must be an absolute path")
        elif not os.path.isdir(path):
            found.append(f"{name}: {path} is no directory on this host: make it, or mount its volume, first")
        elif not _writable(path):
            found.append(f"{name}: {path} cannot be written to: it is mounted read-only, or belongs to another system")
    return found


def bucket_problems(bucket: Bucket | None, *, installed: bool) -> list[str]:
    """Say why the bucket for copies cannot be used; it is asked for. With ``installed`` boto3 has to be there by now."""
    if bucket is None:
        return []
    try:
        backup_bucket.check(bucket)
        if installed or backup_bucket.available():
            backup_bucket.connect(bucket).entries()
    except BucketError as error:
        return [f"etcd_maintenance_backup_bucket: {error}"]
    return []


def _writable(path: str) -> bool:
    """Root may write where the permissions say no, but not on a filesystem that is mounted read-only."""
    return os.access(path, os.W_OK | os.X_OK) and not os.statvfs(path).f_flag & os.ST_RDONLY
