# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare the files of the maintenance program with those on this host. Reads only."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._backup.bucket import Bucket
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.configuration import Config, parse_config
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.host_checks import (
    bucket_problems,
    host_problems,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.interpreter import (
    choose_interpreter,
    stable_names,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.metrics import (
    obsolete_metrics,
    outdated_metrics,
    timer_intervals,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.sources import (
    PACKAGE,
    Files,
    copied_paths,
    digest,
    module_files,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.timers import timer_states

# The arguments of a module that installs or inspects the program; module etcd_maintenance documents them.
ARGUMENTS: dict[str, dict[str, Any]] = {
    "config": {"type": "dict", "required": True},
    "units": {"type": "dict", "default": {}},
    "bucket_keys": {
        "type": "dict",
        "no_log": False,
        "options": {
            "access_key": {"type": "str", "default": "", "no_log": False},
            "secret_key": {"type": "str", "default": "", "no_log": True},
        },
    },
    "lib_dir": {"type": "path", "default": "/usr/local/lib/headroom"},
    "program": {"type": "path", "default": "/usr/local/sbin/headroom"},
    "config_file": {"type": "path", "default": "/etc/etcd/maintenance.json"},
    "credentials_file": {"type": "path", "default": "/etc/etcd/backup-bucket.credentials"},
    "unit_dir": {"type": "path", "default": "/etc/systemd/system"},
    "joining": {"type": "bool", "default": False},
}

# The timers' Python if the module's own is in a virtual environment that other users can write to.
INTERPRETERS = ("/usr/bin/python3", "/usr/libexec/platform-python")
LAUNCHER = """#!{python} -I
# Managed by etcdops.headroom: changes here are overwritten.
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, {lib_dir!r})

from {package}._maintenance.program import main

raise SystemExit(main(sys.argv[1:]))
"""


@dataclass(frozen=True)
class Comparison:
    """The differences on the host: files to write and to remove, directories (path, mode) to create.

    removed_first: metrics files to remove before anything is written, because only the installed configuration names their directory.
    """

    wanted: Files
    before: Mapping[str, tuple[str, int] | None]
    shown: Files
    removed_first: list[str]
    removed: list[str]
    directories: list[tuple[str, int]]
    unit_dir: str

    @property
    def changed(self) -> list[str]:
        return [path for path, content in self.wanted.items() if self.before[path] != content]

    @property
    def units(self) -> list[str]:
        return [path for path in self.changed if os.path.dirname(path) == self.unit_dir]

    @property
    def differs(self) -> bool:
        return bool(self.changed or self.removed_first or self.removed or self.directories)

    def timers(self) -> dict[str, dict[str, Any]]:
        """Return the state of each timer among the units, and whether its unit changed or systemd has yet to read its file again."""
        names = [os.path.basename(path) for path in self.shown if path.endswith(".timer")]
        changed = {os.path.basename(path) for path in self.units}
        states = timer_states(names)
        return {name: {**state, "changed": name in changed or state["changed"]} for name, state in states.items()}

    def diff(self) -> list[dict[str, str]]:
        """Return the differences in Ansible's format; for the program, only the names of the files."""
        return [
            {
                "before_header": path,
                "after_header": path,
                "before": (self.before[path] or ("", 0))[0] if path in self.shown else "",
                "after": self.wanted[path][0] if path in self.shown else "differs\n",
            }
            for path in self.changed
        ]


def validated_config(params: Mapping[str, Any], *, installed: bool) -> tuple[Config | None, list[str]]:
    """Return the configuration, None if it is invalid, and every problem of it on this host.

    installed: the packages that it needs must be there.
    """
    try:
        config = parse_config(params["config"])
    except ValueError as error:
        return None, [str(error)]
    # A share or a store that is down must not prevent the replacement of a member; the record of the last backup reports it. A host that replaces
    # a lost one has no configuration yet.
    membership = bool(params.get("joining"))
    joining = membership and not _installed_config(params)
    known = _installed_snapshot(params).get("copy_dir", "")
    found = host_problems(config, known_copy_dir=known, joining=joining, mounted=not membership)
    if config.snapshot.enabled and not found:
        bucket, contact = _bucket_with_keys(config.snapshot.bucket, params), not (joining or _has_same_bucket(params))
        found = bucket_problems(bucket, installed=installed, contact=contact, files=not joining)
    return config, found


def compare(params: Mapping[str, Any], config: Config, sources: Mapping[str, str] | None) -> Comparison:
    """Compare the files on this host with those of the configuration. Raises OSError or ValueError.

    sources: of the program's modules, by name. None leaves those out: see modules_digest.
    """
    shown = _shown_files(params)
    # Ansible may have started /usr/bin/python3.11, which the next release of the distribution does not have.
    own = stable_names(sys.executable, INTERPRETERS[0], virtual=sys.prefix != sys.base_prefix)
    python = choose_interpreter([*own, *INTERPRETERS])
    launcher = LAUNCHER.format(python=python, lib_dir=params["lib_dir"], package=PACKAGE)
    wanted = {
        **module_files(sources or {}, params["lib_dir"]),
        params["program"]: (launcher, 0o755),
        **shown,
        **_credentials_file(params),
        **{path: (text, 0o644) for path, text in outdated_metrics(config).items()},
    }
    return Comparison(
        wanted=wanted,
        before={path: _read_file(path) for path in wanted},
        shown=shown,
        removed_first=obsolete_metrics(config, _installed_metrics_dir(params)),
        removed=(obsolete_modules(params, wanted) if sources else []) + obsolete_credentials(params, wanted),
        directories=_missing_directories(config),
        unit_dir=params["unit_dir"],
    )


def inspect(params: Mapping[str, Any]) -> dict[str, Any]:
    """Compare the installed program with the expected one: problems, whether it differs, endpoints and timers, and the interval of backups.

    params: as of compare, and ``modules_digest``.
    """
    config, problems = validated_config(params, installed=False)
    if config is None or problems:
        return {"problems": problems}
    endpoints = installed_endpoints(params)
    connection = {**params["config"]["connection"], "endpoints": endpoints}
    wanted = {**params, "config": {**params["config"], "connection": connection}}
    try:
        found = compare(wanted, config, None)
        differs = found.differs or modules_digest(params["lib_dir"]) != params["modules_digest"]
    except ValueError as problem:
        return {"problems": [str(problem)]}
    return {
        "problems": [],
        "differs": differs,
        "endpoints": endpoints,
        "timers": timer_states([name for name in params["units"] if name.endswith(".timer")]),
        "intervals": timer_intervals(config, ["snapshot"]),
    }


def modules_digest(lib_dir: str) -> str:
    """Return the digest of the program's modules on this host, with those of earlier versions. Raises OSError."""
    found = {path: _read_file(path) for path in copied_paths(lib_dir)}
    return digest({path: content for path, content in found.items() if content}, lib_dir)


def installed_endpoints(params: Mapping[str, Any]) -> list[str]:
    """Return the endpoints in the installed configuration, none without a valid one."""
    try:
        return list(_installed_config(params)["connection"]["endpoints"])
    except (KeyError, TypeError):
        return []


def _installed_metrics_dir(params: Mapping[str, Any]) -> str:
    found = _installed_config(params).get("metrics_dir")
    return found if isinstance(found, str) else ""


def _has_same_bucket(params: Mapping[str, Any]) -> bool:
    """Return whether the installed backups are copied to the same bucket, with the same keys."""
    before, wanted = _installed_snapshot(params), params["config"]["snapshot"]
    if not before or before.get("bucket") != wanted["bucket"]:
        return False
    return all(_read_file(path) == content for path, content in _credentials_file(params).items())


def _installed_snapshot(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the backups in the installed configuration; empty if it takes none."""
    found = _installed_config(params).get("snapshot")
    return found if isinstance(found, dict) and found.get("enabled") is True else {}


def _installed_config(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the installed configuration as it is, empty if there is none or it is invalid."""
    found = _read_file(params["config_file"])
    try:
        data = json.loads(found[0]) if found else {}
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def _shown_files(params: Mapping[str, Any]) -> Files:
    """Return the configuration and the units, whose content a diff shows."""
    config = json.dumps(params["config"], indent=2, sort_keys=True) + "\n"
    units = {os.path.join(params["unit_dir"], name): (text, 0o644) for name, text in params["units"].items()}
    return {params["config_file"]: (config, 0o640), **units}


def _credentials_file(params: Mapping[str, Any]) -> Files:
    """Return the file with the bucket's keys, in the format of Amazon's tools; empty without keys."""
    keys = params["bucket_keys"] or {}
    if not keys.get("access_key"):
        return {}
    lines = ("[default]", f"aws_access_key_id = {keys['access_key']}", f"aws_secret_access_key = {keys['secret_key']}")
    return {params["credentials_file"]: ("".join(f"{line}\n" for line in lines), 0o600)}


def obsolete_modules(params: Mapping[str, Any], wanted: Files) -> list[str]:
    """Return modules of earlier versions, wherever those kept them."""
    return [path for path in copied_paths(params["lib_dir"]) if path not in wanted]


def obsolete_credentials(params: Mapping[str, Any], wanted: Files) -> list[str]:
    """Return the file of credentials that are no longer needed."""
    path = params["credentials_file"]
    return [path] if path not in wanted and os.path.lexists(path) else []


def _missing_directories(config: Config) -> list[tuple[str, int]]:
    """Return path and mode of the directories to create."""
    directories = [(config.state_dir, 0o755)]
    if config.drill.enabled:
        directories.append((config.drill.scratch_dir, 0o700))
    return [directory for directory in directories if not os.path.isdir(directory[0])]


def _read_file(path: str) -> tuple[str, int] | None:
    """Return text and mode of a file, None if it does not exist."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read(), os.stat(path).st_mode & 0o7777
    except FileNotFoundError:
        return None


def _bucket_with_keys(bucket: Bucket | None, params: Mapping[str, Any]) -> Bucket | None:
    """Return the bucket with the given keys, whose file may not be written yet."""
    keys = params["bucket_keys"] or {}
    if bucket is None or not any(keys.values()):
        return bucket
    return replace(bucket, credentials_file="", **keys)
