# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the configuration of the program against the host: calendars, directories and the bucket for copies."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import bucket as backup_bucket
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.bucket import (
    Bucket,
    BucketError,
    BucketSettingError,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._base import deadline
from ansible_collections.etcdops.headroom.plugins.module_utils._host.fstab import unmounted_problem
from ansible_collections.etcdops.headroom.plugins.module_utils._host.systemd import HOME_FOLDERS
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.configuration import (
    Config,
    Defrag,
    Drill,
    Integrity,
    Snapshot,
    role_variable,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.records import OPERATIONS
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.timers import validate_calendars

# systemd splits lists of paths at whitespace, and interprets the other characters.
_SPECIAL_IN_UNITS = re.compile(r"[\s\"'%\\]")
_BACKUP_DIR = "etcd_maintenance_backup_dir"
_COPY_DIR = "etcd_maintenance_backup_copy_dir"


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
            continue
        if name == _COPY_DIR:
            problem = _copy_dir_problem(path, known=path == known_copy_dir, joining=joining)
        elif (name, path) in created:
            problem = _limited(partial(_link_problem, path))
        else:
            problem = _directory_problem(path, mounted=mounted and name == _BACKUP_DIR)
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
    return _limited(lambda: _look_at(path) or _link_problem(path) or (_unmounted_problem(path) if mounted else ""))


def _link_problem(path: str) -> str:
    """Return why a unit would not find a directory: it hides home directories, unless a path of its list begins with one."""
    real, given = f"{os.path.realpath(path)}/", re.sub("/+", "/", f"{path}/")
    hidden = any(real.startswith(f"{home}/") and not given.startswith(f"{home}/") for home in HOME_FOLDERS)
    return f"leads to {real.rstrip('/')}: set that path" if hidden else ""


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
