#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Install the program that maintains etcd from timers, its configuration and its units."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_maintenance
short_description: Install the program that maintains etcd from timers
version_added: 0.2.0
description:
  - Checks a configuration against this host first - thresholds, numbers, calendars (as C(systemd-analyze) reads them), and folders that have to be
    there and writable. Whatever is wrong is one error, and nothing has been changed.
  - Then it writes the program, which consists of this collection's own modules, its configuration and its systemd units, as far as they differ.
  - Does not start, stop or enable a unit; RV(timers) says what systemd knows of them. The role
    P(etcdops.headroom.etcd_maintenance#role) does the rest.
options:
  config:
    description:
      - What the program has to know, as the role P(etcdops.headroom.etcd_maintenance#role) puts it together.
    type: dict
    required: true
  units:
    description: Text of each systemd unit by its name.
    type: dict
    default: {}
  bucket_keys:
    description:
      - Credentials of the bucket for copies. They are kept in the file that the configuration names, readable by its owner alone.
    type: dict
    suboptions:
      access_key:
        description: The access key. Empty - there are none, and a file of earlier ones is removed.
        type: str
        default: ""
      secret_key:
        description: The secret key.
        type: str
        default: ""
  lib_dir:
    description: Folder for the program's modules.
    type: path
    default: /usr/local/lib/headroom
  program:
    description: The program's launcher.
    type: path
    default: /usr/local/sbin/headroom
  config_file:
    description: The configuration of the program.
    type: path
    default: /etc/etcd/maintenance.json
  credentials_file:
    description: Where O(bucket_keys) are kept.
    type: path
    default: /etc/etcd/backup-bucket.credentials
  unit_dir:
    description: Folder for the units.
    type: path
    default: /etc/systemd/system
attributes:
  check_mode:
    description: Checks the configuration against the host, and says what would be written.
    support: full
  diff_mode:
    description: Shows configuration and units before and after; of the program only which files differ.
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
- name: Check the configuration before anything is changed
  etcdops.headroom.etcd_maintenance:
    config: "{{ _etcd_maintenance_config }}"
  check_mode: true
"""

RETURN = r"""
differs:
  description: Whether anything was written, or would be. The same as RV(ignore:changed), also where a task sets that.
  type: bool
  returned: success
files:
  description: Paths that were written, or would be.
  type: list
  elements: str
  returned: success
removed:
  description: Paths of modules of an earlier version of the program, and of credentials no longer wanted, that were removed, or would be.
  type: list
  elements: str
  returned: success
reload:
  description: Whether a unit changed, so that systemd has to read them again.
  type: bool
  returned: success
timers:
  description: For each timer among O(units) whether it is enabled and active, whether it changed, and when it comes next.
  type: dict
  returned: success
  sample: {headroom-defrag.timer: {enabled: true, active: true, changed: false, next: Sun 2026-11-22 03:00:00 UTC}}
records:
  description: The last record of each operation that has run, by its name.
  type: dict
  returned: success
"""

import json
import os
import sys
from dataclasses import replace
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.bucket import Bucket
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import program as maintenance_program
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.configuration import (
    bucket_problems,
    host_problems,
    parse_config,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.records import read_records
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.timers import timer_state

PACKAGE = maintenance_program.__name__.rsplit(".", 2)[0]
LAUNCHER = """#!{python} -I
# Managed by etcdops.headroom: changes here are overwritten.
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, {lib_dir!r})

from {package}._maintenance.program import main

raise SystemExit(main(sys.argv[1:]))
"""


def program(lib_dir: str, launcher: str) -> dict[str, tuple[str, int]]:
    """Return path, text and mode of the program's files: the modules that it consists of as they are loaded here.

    Each folder above them is a package of its own, so that no other ansible_collections on the host comes first.
    """
    found = {}
    for name, module in sorted(sys.modules.items()):
        loader = getattr(module, "__loader__", None)
        if not name.startswith(f"{PACKAGE}._") or loader is None or hasattr(module, "__path__"):
            continue
        found[os.path.join(lib_dir, *name.split(".")) + ".py"] = (loader.get_source(name), 0o644)
        folder = lib_dir
        for part in name.split(".")[:-1]:
            folder = os.path.join(folder, part)
            found[os.path.join(folder, "__init__.py")] = ("", 0o644)
    text = LAUNCHER.format(python=sys.executable, lib_dir=lib_dir, package=PACKAGE)
    return {**found, launcher: (text, 0o755)}


def stale(lib_dir: str, wanted: dict[str, tuple[str, int]]) -> list[str]:
    """Return the modules of an earlier version."""
    top = os.path.join(lib_dir, *PACKAGE.split("."))
    paths = sorted(os.path.join(folder, name) for folder, dummy, names in os.walk(top) for name in names)
    return [path for path in paths if path.endswith(".py") and path not in wanted]


def present(path: str) -> tuple[str, int] | None:
    """Return text and mode of a file, None if there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read(), os.stat(path).st_mode & 0o7777
    except FileNotFoundError:
        return None


def put(module: AnsibleModule, path: str, text: str, mode: int) -> None:
    """Write a file at once, with its folders."""
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
    temporary = os.path.join(module.tmpdir, "file")
    with open(temporary, "w", encoding="utf-8") as stream:
        stream.write(text)
    os.chmod(temporary, mode)
    module.atomic_move(temporary, path)
    os.chmod(path, mode)


def credentials(asked: dict[str, Any]) -> dict[str, tuple[str, int]]:
    """Return path, text and mode of the file with the bucket's keys, if there are any; as Amazon's tools read it."""
    keys = asked["bucket_keys"] or {}
    if not keys.get("access_key"):
        return {}
    lines = ("[default]", f"aws_access_key_id = {keys['access_key']}", f"aws_secret_access_key = {keys['secret_key']}")
    return {asked["credentials_file"]: ("".join(f"{line}\n" for line in lines), 0o600)}


def with_keys(bucket: Bucket | None, asked: dict[str, Any]) -> Bucket | None:
    """Return the bucket with the keys as they are given: their file may be yet to be written."""
    keys = asked["bucket_keys"] or {}
    if bucket is None or not any(keys.values()):
        return bucket
    return replace(bucket, credentials_file="", **keys)


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
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
        },
        supports_check_mode=True,
    )
    asked = module.params
    try:
        config = parse_config(asked["config"])
    except ValueError as error:
        module.fail_json(msg=f"{error}. Nothing was changed.")
    wrong = host_problems(config)
    if config.snapshot.enabled and not wrong:
        bucket = with_keys(config.snapshot.bucket, asked)
        wrong = bucket_problems(bucket, installed=not module.check_mode)
    if wrong:
        module.fail_json(msg=f"{'; '.join(wrong)}. Nothing was changed.")
    wanted = program(asked["lib_dir"], asked["program"])
    shown = {asked["config_file"]: (json.dumps(asked["config"], indent=2, sort_keys=True) + "\n", 0o640)}
    shown.update({os.path.join(asked["unit_dir"], name): (text, 0o644) for name, text in asked["units"].items()})
    wanted.update({**shown, **credentials(asked)})
    try:
        before = {path: present(path) for path in wanted}
        changed = [path for path, content in wanted.items() if before[path] != content]
        removed = stale(asked["lib_dir"], wanted)
        if asked["credentials_file"] not in wanted and os.path.lexists(asked["credentials_file"]):
            removed.append(asked["credentials_file"])
        folders = [(config.state_dir, 0o755), *([(config.drill.scratch_dir, 0o700)] if config.drill.enabled else [])]
        missing = [folder for folder in folders if not os.path.isdir(folder[0])]
        if not module.check_mode:
            for path in changed:
                put(module, path, *wanted[path])
            for path in removed:
                os.unlink(path)
            for folder, mode in missing:
                os.makedirs(folder, mode=mode)
    except OSError as error:
        module.fail_json(msg=f"{error.filename}: {error.strerror}")
    units = [path for path in changed if os.path.dirname(path) == asked["unit_dir"]]
    module.exit_json(
        changed=bool(changed or removed or missing),
        differs=bool(changed or removed or missing),
        files=changed,
        removed=removed,
        reload=bool(units),
        timers={
            name: {**timer_state(name), "changed": os.path.join(asked["unit_dir"], name) in units}
            for name in asked["units"]
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
