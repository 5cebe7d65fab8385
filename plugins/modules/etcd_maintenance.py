#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Install the program that maintains etcd from timers, with its configuration and units."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_maintenance
short_description: Install the program that maintains etcd from timers
version_added: 0.2.0
description:
  - First validates the configuration on this host - thresholds, numbers, calendars (with C(systemd-analyze)), and directories, which must exist and
    be writable. All problems are reported as one error, before anything is changed.
  - Then writes the program (a copy of modules of this collection), its configuration and its systemd units, where they differ, and removes modules of
    earlier versions.
  - Does not start, stop or enable units; RV(timers) returns their state. The role P(etcdops.headroom.etcd_maintenance#role) does the rest.
options:
  config:
    description:
      - The configuration of the program, as the role P(etcdops.headroom.etcd_maintenance#role) builds it.
    type: dict
    required: true
  units:
    description: Content of each systemd unit, by name.
    type: dict
    default: {}
  bucket_keys:
    description:
      - Credentials of the bucket for copies. They are stored in O(credentials_file), readable by its owner only.
    type: dict
    suboptions:
      access_key:
        description: The access key. If empty, no credentials are stored, and a file with earlier ones is removed.
        type: str
        default: ""
      secret_key:
        description: The secret key.
        type: str
        default: ""
  lib_dir:
    description: Directory for the program's modules.
    type: path
    default: /usr/local/lib/headroom
  program:
    description: Path of the program's launcher.
    type: path
    default: /usr/local/sbin/headroom
  config_file:
    description: Path of the configuration.
    type: path
    default: /etc/etcd/maintenance.json
  credentials_file:
    description: Path of the file that stores O(bucket_keys).
    type: path
    default: /etc/etcd/backup-bucket.credentials
  unit_dir:
    description: Directory for the units.
    type: path
    default: /etc/systemd/system
attributes:
  check_mode:
    description: Validates the configuration on the host, and returns what would be written.
    support: full
  diff_mode:
    description: Shows configuration and units before and after; of the program, only which files differ.
    support: full
  platform:
    description: Linux with systemd.
    support: full
    platforms: linux
seealso:
  - module: etcdops.headroom.etcd_defrag
  - module: etcdops.headroom.etcd_snapshot
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Validate the configuration before anything is changed
  etcdops.headroom.etcd_maintenance:
    config: "{{ _etcd_maintenance_config }}"
  check_mode: true
"""

RETURN = r"""
differs:
  description: Whether anything was written or would be. Equal to RV(ignore:changed), unless the task overrides that.
  type: bool
  returned: success
files:
  description: Paths that were written or would be.
  type: list
  elements: str
  returned: success
removed:
  description: Paths of modules of earlier versions, and of credentials that are no longer needed, that were removed or would be.
  type: list
  elements: str
  returned: success
reload:
  description: Whether a unit changed, so that systemd must reload its units.
  type: bool
  returned: success
timers:
  description: Whether each timer among O(units) is enabled and active, whether it changed, and when it elapses next.
  type: dict
  returned: success
  sample: {headroom-defrag.timer: {enabled: true, active: true, changed: false, next: Sun 2026-11-22 03:00:00 UTC}}
records:
  description: The last record of each operation that has run, by name.
  type: dict
  returned: success
"""

import json
import os
import sys
from dataclasses import replace
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.common.text.converters import to_text
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.bucket import Bucket
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import program as maintenance_program
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.configuration import (
    Config,
    bucket_problems,
    host_problems,
    parse_config,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.interpreter import choose_interpreter
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.records import read_records
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.timers import timer_state

# The timers' Python where the module's own is in a virtual environment that somebody else may write to.
INTERPRETERS = ("/usr/bin/python3", "/usr/libexec/platform-python")
PACKAGE = maintenance_program.__name__.rsplit(".", 2)[0]
LAUNCHER = """#!{python} -I
# Managed by etcdops.headroom: changes here are overwritten.
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, {lib_dir!r})

from {package}._maintenance.program import main

raise SystemExit(main(sys.argv[1:]))
"""


# Text and mode of each file, by path.
Files = dict[str, tuple[str, int]]

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
}


def program_files(lib_dir: str, launcher: str, python: str) -> Files:
    """Return the program's files: its launcher, and the modules of this collection that are loaded in this process.

    Each directory above the modules is a package of its own, so that no other ansible_collections on the host is found.
    """
    found = {}
    for name, module in sorted(sys.modules.items()):
        loader = getattr(module, "__loader__", None)
        if not name.startswith(f"{PACKAGE}._") or loader is None or hasattr(module, "__path__"):
            continue
        if name == choose_interpreter.__module__:  # only this module needs it
            continue
        found[os.path.join(lib_dir, *name.split(".")) + ".py"] = (to_text(loader.get_source(name)), 0o644)
        directory = lib_dir
        for part in name.split(".")[:-1]:
            directory = os.path.join(directory, part)
            found[os.path.join(directory, "__init__.py")] = ("", 0o644)
    text = LAUNCHER.format(python=python, lib_dir=lib_dir, package=PACKAGE)
    return {**found, launcher: (text, 0o755)}


def shown_files(params: dict[str, Any]) -> Files:
    """Return the configuration and the units, whose content a diff shows."""
    config = json.dumps(params["config"], indent=2, sort_keys=True) + "\n"
    units = {os.path.join(params["unit_dir"], name): (text, 0o644) for name, text in params["units"].items()}
    return {params["config_file"]: (config, 0o640), **units}


def credentials_file(params: dict[str, Any]) -> Files:
    """Return the file with the bucket's keys, in the format of Amazon's tools; empty without keys."""
    keys = params["bucket_keys"] or {}
    if not keys.get("access_key"):
        return {}
    lines = ("[default]", f"aws_access_key_id = {keys['access_key']}", f"aws_secret_access_key = {keys['secret_key']}")
    return {params["credentials_file"]: ("".join(f"{line}\n" for line in lines), 0o600)}


def obsolete_files(params: dict[str, Any], wanted: Files) -> list[str]:
    """Return modules of earlier versions, wherever those kept them, and credentials that are no longer needed."""
    top = os.path.join(params["lib_dir"], *PACKAGE.split("."))
    paths = sorted(os.path.join(directory, name) for directory, dummy, names in os.walk(top) for name in names)
    found = [path for path in paths if path.endswith(".py") and path not in wanted]
    if params["credentials_file"] not in wanted and os.path.lexists(params["credentials_file"]):
        found.append(params["credentials_file"])
    return found


def missing_directories(config: Config) -> list[tuple[str, int]]:
    """Return path and mode of the directories to create."""
    directories = [(config.state_dir, 0o755)]
    if config.drill.enabled:
        directories.append((config.drill.scratch_dir, 0o700))
    return [directory for directory in directories if not os.path.isdir(directory[0])]


def read_file(path: str) -> tuple[str, int] | None:
    """Return text and mode of a file, None if it does not exist."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read(), os.stat(path).st_mode & 0o7777
    except FileNotFoundError:
        return None


def write_file(module: AnsibleModule, path: str, text: str, mode: int) -> None:
    """Write a file atomically, and create its directories."""
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
    temporary = os.path.join(module.tmpdir, "file")
    with open(temporary, "w", encoding="utf-8") as stream:
        stream.write(text)
    os.chmod(temporary, mode)
    module.atomic_move(temporary, path)
    os.chmod(path, mode)


def bucket_with_keys(bucket: Bucket | None, params: dict[str, Any]) -> Bucket | None:
    """Return the bucket with the given keys, whose file may not be written yet."""
    keys = params["bucket_keys"] or {}
    if bucket is None or not any(keys.values()):
        return bucket
    return replace(bucket, credentials_file="", **keys)


def validated_config(module: AnsibleModule) -> Config:
    """Return the configuration; fail with every problem of it on this host."""
    params = module.params
    try:
        config = parse_config(params["config"])
    except ValueError as error:
        module.fail_json(msg=f"{error}. Nothing was changed.")
    found = host_problems(config)
    if config.snapshot.enabled and not found:
        bucket = bucket_with_keys(config.snapshot.bucket, params)
        found = bucket_problems(bucket, installed=not module.check_mode)
    if found:
        module.fail_json(msg=f"{'; '.join(found)}. Nothing was changed.")
    return config


def main() -> None:
    """Run the module."""
    module = AnsibleModule(argument_spec=ARGUMENTS, supports_check_mode=True)
    params = module.params
    config = validated_config(module)
    shown = shown_files(params)
    try:
        python = choose_interpreter([sys.executable, *INTERPRETERS])
    except ValueError as error:
        module.fail_json(msg=f"{error}. Nothing was changed.")
    wanted = {**program_files(params["lib_dir"], params["program"], python), **shown, **credentials_file(params)}
    try:
        before = {path: read_file(path) for path in wanted}
        changed = [path for path, content in wanted.items() if before[path] != content]
        removed = obsolete_files(params, wanted)
        directories = missing_directories(config)
        if not module.check_mode:
            for path in changed:
                write_file(module, path, *wanted[path])
            for path in removed:
                os.unlink(path)
            for path, mode in directories:
                os.makedirs(path, mode=mode)
    except OSError as error:
        module.fail_json(msg=f"{error.filename}: {error.strerror}")
    units = [path for path in changed if os.path.dirname(path) == params["unit_dir"]]
    module.exit_json(
        changed=bool(changed or removed or directories),
        differs=bool(changed or removed or directories),
        files=changed,
        removed=removed,
        reload=bool(units),
        timers={
            name: {**timer_state(name), "changed": os.path.join(params["unit_dir"], name) in units}
            for name in params["units"]
            if name.endswith(".timer")
        },
        records=read_records(config.state_dir),
        diff=[
            {
                "before_header": path,
                "after_header": path,
                "before": (before[path] or ("", 0))[0] if path in shown else "",
                "after": wanted[path][0] if path in shown else "differs\n",
            }
            for path in changed
        ],
    )


if __name__ == "__main__":
    main()
