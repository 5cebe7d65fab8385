# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse and validate the configuration of the program on the hosts, and check it against the host.

``parse_config`` is pure. ``host_problems`` asks the host: systemd about calendars, the kernel about directories.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import bucket as backup_bucket
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.bucket import (
    Bucket,
    BucketError,
    BucketSettingError,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._base import deadline
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import parse_count, parse_size
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import connection_from_params
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection
from ansible_collections.etcdops.headroom.plugins.module_utils._host.fstab import unmounted_problem
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.records import OPERATIONS
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.timers import validate_calendars

_MAX_SECONDS = 86400
_MAX_COUNT = 100_000
_BUCKET = {"name", "prefix", "endpoint_url", "region", "ca_cert", "credentials_file"}
# Entries that are sizes, with an optional unit.
_SIZES = ("free_size", "reserve", "memory_max")
# systemd splits lists of paths at whitespace, and interprets the other characters.
_SPECIAL_IN_UNITS = re.compile(r"[\s\"'%\\]")
_BACKUP_DIR = "etcd_maintenance_backup_dir"
_COPY_DIR = "etcd_maintenance_backup_copy_dir"


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


def host_problems(
    config: Config, known_copy_dir: str = "", *, joining: bool = False, mounted: bool = True
) -> list[str]:
    """Return the problems of this host with the enabled operations: invalid calendars, missing or read-only directories.

    known_copy_dir: a directory to which backups are copied already. The copy itself reports it, so that a share that is down does not prevent
    the replacement of a member. Only the place that it leads to is checked.
    joining: this host gets a new member, so the directory for copies may be one whose server does not answer.
    mounted: the volume of the backups must be mounted.
    """
    sections: dict[str, Defrag | Snapshot | Drill | Integrity] = {name: getattr(config, name) for name in OPERATIONS}
    calendars = {name: section.calendar for name, section in sections.items() if section.enabled}
    invalid = validate_calendars(list(calendars.values()))
    found = [
        f"{role_variable(name, 'calendar')}: {invalid[calendar]}"
        for name, calendar in calendars.items()
        if calendar in invalid
    ]
    directories = []
    if config.snapshot.enabled:
        directories.append((_BACKUP_DIR, config.snapshot.directory))
        if config.snapshot.copy_dir:
            directories.append((_COPY_DIR, config.snapshot.copy_dir))
    if config.metrics_dir:
        directories.append(("etcd_maintenance_metrics_dir", config.metrics_dir))
    # The role creates the scratch folder.
    created = [("etcd_maintenance_drill_scratch_dir", config.drill.scratch_dir)] if config.drill.enabled else []
    for name, path in [*directories, *created]:
        invalid_path = _path_problem(path, normalized=name == _COPY_DIR)
        if invalid_path:
            found.append(f"{name} is {path!r}, but {invalid_path}")
        elif (name, path) not in created:
            known = (name, path) == (_COPY_DIR, known_copy_dir)
            problem = (
                _copy_dir_problem(path, known=known, joining=joining)
                if name == _COPY_DIR
                else _directory_problem(path, mounted=mounted and name == _BACKUP_DIR)
            )
            found += [f"{name}: {path} {problem}"] if problem else []
    return found


def copy_root(copy_dir: str) -> str:
    """Return the folder that the unit of backups may write to for copies, as _etcd_maintenance_copy_root in role etcd_maintenance."""
    return re.sub(r"^(?!/+(?:home|root)/)(/+[^/]+)/.*$", r"\1", copy_dir)


def _path_problem(path: str, *, normalized: bool) -> str:
    """Return why a unit cannot list a path; empty if it can. normalized: it may list the first folder of the path instead."""
    if not os.path.isabs(path):
        return "must be an absolute path"
    if _SPECIAL_IN_UNITS.search(path):
        return "systemd units cannot list a path with whitespace, quotes, % or backslashes: choose another directory"
    if normalized and (path.removesuffix("/") != os.path.normpath(path) or not path.strip("/")):
        return "must be a normalized path below /"
    return ""


def _copy_dir_problem(path: str, *, known: bool, joining: bool) -> str:
    """Return why backups cannot be copied to a directory; empty if they can.

    known: the copy itself reports that it cannot be used; joining: that its server does not answer.
    """

    def look() -> str:
        root, real = os.path.realpath(copy_root(path)), os.path.realpath(path)
        if not f"{real}/".startswith(f"{root.rstrip('/')}/"):
            return f"leads to {real}: set that path"
        return "" if known else _look_at(path)

    return _limited(look, must_answer=not (known or joining))


def _directory_problem(path: str, *, mounted: bool = False) -> str:
    """Return why files cannot be written to a directory; empty if they can. mounted: its volume must be mounted."""
    return _limited(lambda: _look_at(path) or (_unmounted_problem(path) if mounted else ""))


def _limited(look: Callable[[], str], *, must_answer: bool = True) -> str:
    """Return what ``look`` returns. Takes little time, even if the server of a volume does not answer."""
    try:
        return deadline.call_with_deadline(look, deadline.ANSWER_SECONDS)
    except deadline.DeadlineError:
        if not must_answer:
            return ""
        return f"does not answer within {deadline.ANSWER_SECONDS:g} s: check the server of its volume, or set another directory"
    except OSError as error:
        return f"cannot be used: {error.strerror}: mount its volume again, or set another directory"


def _look_at(path: str) -> str:
    if not os.path.isdir(path):
        return "is not a directory on this host: create it, or mount its volume, first"
    return "" if _writable(path) else "is not writable: its filesystem is mounted read-only, or owned by another system"


def _unmounted_problem(path: str) -> str:
    """Return which volume of a directory is not mounted; empty if there is none. Call after ``_look_at``, which mounts an automount."""
    # The job's unit requires its mounts, which mounts volumes with noauto.
    problem = unmounted_problem(path, without_noauto=True)
    return f"has no volume: {problem}" if problem else ""


def bucket_problems(bucket: Bucket | None, *, installed: bool, contact: bool = True, files: bool = True) -> list[str]:
    """Return why the bucket for copies cannot be used.

    files: its CA certificate and its credentials must be on this host. contact: list the bucket too. With ``installed`` boto3 must then be present;
    without it, the bucket is listed only if boto3 is there.
    """
    if bucket is None:
        return []
    try:
        backup_bucket.check_bucket(bucket, files=files)
        if contact and (installed or backup_bucket.is_boto3_installed()):
            backup_bucket.connect(bucket).entries()
    except BucketSettingError as error:
        return [f"etcd_maintenance_backup_bucket_{error}"]
    except BucketError as error:
        return [f"etcd_maintenance_backup_bucket: {error}"]
    return []


def _writable(path: str) -> bool:
    """Return whether a directory is writable; root ignores permissions, but not a filesystem mounted read-only."""
    return os.access(path, os.W_OK | os.X_OK) and not os.statvfs(path).f_flag & os.ST_RDONLY
