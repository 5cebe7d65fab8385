# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find settings with which systemd does not start etcd as meant, or with which etcd exits at its start. Pure."""

from __future__ import annotations

import os.path
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._host.systemd import HOME_FOLDERS

_ABSOLUTE_PATH = re.compile(r"(/[^/]+)+$")
_SPECIAL_IN_UNIT = re.compile(r"[\s\"'%\\]")
_INTEGER = re.compile(r"-?[0-9]+$")
_MAX_ELECTION_TIMEOUT = 50000
_MIN_HEARTBEATS = 5
_SYSTEM_FOLDERS = re.compile(
    r"^(/|/(bin|boot|dev|etc|home|lib\w*|media|mnt|opt|proc|root|run|sbin|srv|sys|tmp|usr|var)|/usr/[^/]+|"
    r"/var/(backups|cache|lib|local|log|mail|opt|spool|tmp))$"
)


# etcd.service does not see the host's content of these folders: ProtectHome= and PrivateTmp= in its template.
_HIDDEN_FOLDERS = (*HOME_FOLDERS, "/tmp", "/var/tmp")


@dataclass(frozen=True)
class UnitSettings:
    """The settings of role etcd that end up in etcd's unit, and its timings. An unset wal_dir is empty or None; tls_dir is empty without TLS."""

    data_dir: str
    wal_dir: str | None
    install_dir: str
    config_file: str
    tls_dir: str
    io_weight: Any
    cpu_weight: Any
    oom_score_adjust: Any
    heartbeat_interval: Any
    election_timeout: Any

    def paths_in_unit(self) -> list[tuple[str, str]]:
        """Return the paths in the unit's template, by setting. Its mount points are parents of these directories."""
        return [
            ("etcd_data_dir", self.data_dir),
            ("the folder of etcd_wal_dir", os.path.dirname(self.wal_dir or "")),
            ("etcd_install_dir", self.install_dir),
            ("etcd_config_file", self.config_file),
        ]


def path_problems(settings: UnitSettings) -> list[str]:
    """Return paths with which the role or systemd would use other files.

    With a slash at its end, the folder next to the data would be a folder in the data. systemd shows a path without additional slashes.
    """
    paths = [
        ("etcd_data_dir", settings.data_dir),
        ("etcd_wal_dir", settings.wal_dir),
        ("etcd_install_dir", settings.install_dir),
        ("etcd_config_file", settings.config_file),
    ]
    return [
        f"{name} must be an absolute path without double slashes or a slash at its end, and is {path}"
        for name, path in paths
        if path and not _ABSOLUTE_PATH.match(path)
    ] + [
        f"{name} must be a path without whitespace, quotes, % or backslashes, because systemd interprets them in etcd.service, and is {path}"
        for name, path in settings.paths_in_unit()
        if _SPECIAL_IN_UNIT.search(path)
    ]


def hidden_folder_problems(settings: UnitSettings) -> list[str]:
    """Return paths in folders that etcd's unit hides, even from its list of writable paths."""
    return [
        f"{name} is {path}, but etcd.service hides {folder} from etcd; choose a path in another folder, such as /var/lib or /srv"
        for name, path in [*settings.paths_in_unit(), ("etcd_tls_dir", settings.tls_dir)]
        for folder in _HIDDEN_FOLDERS
        if path == folder or path.startswith(f"{folder}/")
    ]


def shared_folder_problems(settings: UnitSettings, own_folders: Collection[str]) -> list[str]:
    """Return folders of other programs, which would lose their files there: etcd's user gets these folders with mode 0700.

    own_folders: the folders that etcd's user owns.
    """
    return [
        f"{name} is {path}, which other programs use, but only etcd may enter it; choose a path with a folder for etcd, such as /srv/etcd-wal/wal"
        for name, path in settings.paths_in_unit()[:2]
        if _SYSTEM_FOLDERS.match(path) and path not in own_folders
    ]


def weight_problems(settings: UnitSettings) -> list[str]:
    """Return weights and an OOM score that systemd ignores with a warning."""
    weights = [("etcd_io_weight", _integer(settings.io_weight)), ("etcd_cpu_weight", _integer(settings.cpu_weight))]
    problems = [f"{name} must be 1 to 10000, and is {weight}" for name, weight in weights if not 1 <= weight <= 10000]
    score = str(settings.oom_score_adjust)
    if not (_INTEGER.match(score) and -1000 <= int(score) <= 1000):
        problems.append(f"etcd_oom_score_adjust must be -1000 to 1000, and is {score}")
    return problems


def timing_problems(settings: UnitSettings) -> list[str]:
    """Return timings with which etcd exits at its start. Source: Config.Validate in server/embed/config.go, 3.5 to 3.7."""
    heartbeat, election = _integer(settings.heartbeat_interval), _integer(settings.election_timeout)
    problems = []
    if heartbeat < 1:
        problems.append(
            f"etcd_heartbeat_interval must be 1 or more (milliseconds), and is {settings.heartbeat_interval}"
        )
    if election > _MAX_ELECTION_TIMEOUT:
        problems.append(
            f"etcd_election_timeout must be at most {_MAX_ELECTION_TIMEOUT} (milliseconds), and is {settings.election_timeout}"
        )
    if election < _MIN_HEARTBEATS * heartbeat:
        problems.append(
            f"etcd_election_timeout must be at least five times etcd_heartbeat_interval ({settings.heartbeat_interval}), better ten times, and is "
            f"{settings.election_timeout}"
        )
    return problems


def _integer(value: Any) -> int:
    """Return a setting as the filter ``int`` of the role's templates reads it: text without a number is 0."""
    try:
        return int(value)
    except (TypeError, ValueError):
        pass
    try:
        return int(float(value))
    except (TypeError, ValueError, OverflowError):
        return 0
