# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse and validate the configuration of the program on the hosts. ``parse_config`` is pure; host_checks.py checks it against the host."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._backup.bucket import Bucket
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import parse_count, parse_size
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import connection_from_params
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.records import OPERATIONS

_MAX_SECONDS = 86400
_MAX_COUNT = 100_000
_BUCKET = {"name", "prefix", "endpoint_url", "region", "ca_cert", "credentials_file"}
# Entries that are sizes, with an optional unit.
_SIZES = ("free_size", "reserve", "memory_max")


class ConfigError(ValueError):
    """An invalid configuration; the text names the entry, its value and the allowed ones."""


@dataclass(frozen=True)
class Defrag:
    """Defragmentation of this host's member: what must be free, in percent and bytes; times in seconds."""

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
    """Backups that this host takes, and how many it keeps; ``reserve`` in bytes, ``timeout`` in seconds."""

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
    """Restore drills: ``memory_max`` limits the scratch member in bytes, ``timeout`` each step in seconds."""

    enabled: bool
    calendar: str
    scratch_dir: str
    memory_max: int
    timeout: int


@dataclass(frozen=True)
class Integrity:
    """The comparison of the members; ``timeout`` is the seconds that one member may take for its hash."""

    enabled: bool
    calendar: str
    timeout: int


@dataclass(frozen=True)
class Config:
    """The whole configuration. ``member`` is the name of the member on this host."""

    cluster: str
    member: str
    connection: Connection
    endpoints: list[str]
    etcdutl_path: str
    unit: str
    data_dir: str
    state_dir: str
    metrics_dir: str
    defrag: Defrag
    snapshot: Snapshot
    drill: Drill
    integrity: Integrity


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
        raise ConfigError(f"{path} is not JSON: {error}") from error


def parse_config(data: Any) -> Config:
    """Return the configuration in ``data``. Raises ConfigError, or another ValueError that names the entry."""
    if not isinstance(data, Mapping):
        raise ConfigError("the configuration is not a mapping")
    known = {*_PLAIN, "connection", *OPERATIONS}
    _validate_names(data, known, "")
    for name in _PLAIN:
        if not isinstance(data[name], str):
            raise ConfigError(f"{name} is {data[name]!r}, which is not text")
    params = data["connection"]
    if not isinstance(params, Mapping):
        raise ConfigError("connection is not a mapping")
    _validate_names(params, set(_CONNECTION), "connection.")
    config = Config(
        **{name: data[name] for name in _PLAIN},
        connection=connection_from_params({**params, "request_timeout": float(params["request_timeout"])}),
        endpoints=list(params["endpoints"]),
        defrag=Defrag(**_parse_section(Defrag, data["defrag"], "defrag")),
        snapshot=Snapshot(**_parse_section(Snapshot, data["snapshot"], "snapshot")),
        drill=Drill(**_parse_section(Drill, data["drill"], "drill")),
        integrity=Integrity(**_parse_section(Integrity, data["integrity"], "integrity")),
    )
    _validate_ranges(config)
    return config


def _parse_section(kind: type, data: Any, name: str) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        raise ConfigError(f"{name} is not a mapping")
    entries = {field.name: str(field.type) for field in fields(kind)}
    _validate_names(data, set(entries), f"{name}.")
    return {entry: _parse_value(data[entry], wanted, entry, name) for entry, wanted in entries.items()}


def role_variable(section: str, entry: str) -> str:
    """Return the role's variable for an entry, which messages name."""
    entry = {"directory": "dir"}.get(entry, entry)
    return f"etcd_maintenance_{'backup' if section == 'snapshot' else section}_{entry}"


def _parse_value(value: Any, wanted: str, entry: str, section: str) -> Any:
    """Convert a value, given as YAML or as text, to its type. Raises ValueError."""
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
        raise ConfigError(f"{name} is {value!r}, which is not a list of texts")
    if not isinstance(value, bool if wanted == "bool" else str):
        raise ConfigError(f"{name} is {value!r}, which is not {'a boolean' if wanted == 'bool' else 'text'}")
    return value


def _parse_bucket(value: Any, variables: str) -> Bucket | None:
    """Return the bucket for copies, None without a name. Its keys are elsewhere: others may read the configuration."""
    if not value:
        return None
    if not isinstance(value, Mapping):
        raise ConfigError(f"{variables} is {value!r}, which is not a mapping")
    _validate_names(value, _BUCKET, "snapshot.bucket.")
    for entry in sorted(_BUCKET):
        if not isinstance(value[entry], str):
            name = variables if entry == "name" else f"{variables}_{entry}"
            raise ConfigError(f"{name} is {value[entry]!r}, which is not text")
    return Bucket(**value) if value["name"] else None


def _validate_names(data: Mapping[str, Any], known: set[str], prefix: str) -> None:
    missing, unknown = sorted(known - set(data)), sorted(set(data) - known)
    if missing or unknown:
        found = [f"{prefix}{name} is missing" for name in missing] + [f"{prefix}{name} is unknown" for name in unknown]
        raise ConfigError("; ".join(found))


def _validate_ranges(config: Config) -> None:
    """Raise ConfigError for values out of range, naming the role's variables."""
    defrag, snapshot, drill = config.defrag, config.snapshot, config.drill
    bounds = [
        ("defrag", "free_share", defrag.free_share, 0, 99, "percent of the database; 45 is usual"),
        ("defrag", "pause", defrag.pause, 0, _MAX_SECONDS, "seconds"),
        ("defrag", "wait", defrag.wait, 0, _MAX_SECONDS, "seconds"),
        ("defrag", "timeout", defrag.timeout, 1, _MAX_SECONDS, "seconds"),
        ("snapshot", "keep", snapshot.keep, 1, _MAX_COUNT, "backups: the newest is always kept"),
        ("snapshot", "keep_days", snapshot.keep_days, 1, _MAX_COUNT, "days; leave it empty to keep by number alone"),
        ("snapshot", "timeout", snapshot.timeout, 1, _MAX_SECONDS, "seconds"),
        ("drill", "timeout", drill.timeout, 1, _MAX_SECONDS, "seconds"),
        ("integrity", "timeout", config.integrity.timeout, 1, _MAX_SECONDS, "seconds"),
    ]
    for section, entry, value, lowest, highest, what in bounds:
        if value is not None and not lowest <= value <= highest:
            raise ConfigError(f"{role_variable(section, entry)} is {value}, but must be {lowest} to {highest} {what}")
    for name, enabled in (("backups", snapshot.enabled), ("drills", drill.enabled)):
        if enabled and not snapshot.directory:
            raise ConfigError(
                f"{name} are enabled, but etcd_maintenance_backup_dir is empty: set it to a directory on this host"
            )
