#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Install the program that maintains etcd from timers, with its configuration and units."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_maintenance
short_description: Install the program that maintains etcd from timers
version_added: 0.3.0
description:
  - First validates the configuration on this host - thresholds, numbers, calendars (with C(systemd-analyze)), and directories, which must exist and
    be writable. All problems are reported as one error, before anything is changed.
  - Does not contact a bucket or a directory for copies that is installed already, with the same settings and keys, because the store or the share may be
    down. The record of the last backup reports a failed copy.
  - Then writes the program (a copy of modules of this collection), its configuration and its systemd units, where they differ, and removes modules of
    earlier versions, and metrics that no timer updates any more. It writes the file with the metrics if there is none yet, or if that has other
    settings or certificates than the host.
  - With O(timers), last makes systemd read changed units again, and starts, restarts and stops timers.
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
  timers:
    description:
      - Whether each timer among O(units) should be enabled and active, by name. A timer that runs is restarted if its files changed.
      - The module does not touch timers that are left out.
    type: dict
    default: {}
    version_added: 0.3.0
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
  joining:
    description:
      - Whether the host gets a new member of an existing cluster. If it has no O(config_file) yet, its bucket is not contacted, and its directory for
        copies need not answer, because a member must be replaced also while the store or the share is down. The volume of the backups need not be
        mounted on any host then.
    type: bool
    default: false
    version_added: 0.3.0
attributes:
  check_mode:
    description: Validates the configuration on the host, and returns the files that would be written.
    support: full
  diff_mode:
    description: Shows configuration and units before and after. For the program, it shows only which files differ.
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
  description: Whether anything was written, started or stopped, or would be. Equal to RV(ignore:changed), unless the task overrides that.
  type: bool
  returned: success
files:
  description: Paths that were written or would be.
  type: list
  elements: str
  returned: success
removed:
  description:
    - Paths of modules of earlier versions, of credentials that are no longer needed, and of metrics that no timer updates any more, that were removed
      or would be.
  type: list
  elements: str
  returned: success
reload:
  description: Whether a unit changed. Without O(timers), systemd has yet to reload its units.
  type: bool
  returned: success
timers:
  description:
    - The state of the timers at the end.
    - Whether each timer among O(units) is enabled and active, whether its files changed since systemd read them, and when it elapses next.
    - RV(ignore:failure) has the time RV(ignore:at) and the RV(ignore:result) of its service's last run, if that failed or systemd did not start it;
      else it is empty.
  type: dict
  returned: success
  sample: {headroom-defrag.timer: {enabled: true, active: true, changed: false, next: Sun 2026-11-22 03:00:00 UTC, failure: {}}}
records:
  description: The last record of each operation that has run, by name, without the records of another cluster.
  type: dict
  returned: success
"""

import os
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import errors_name
from ansible_collections.etcdops.headroom.plugins.module_utils._host import systemd
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import installation, timer_changes
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.configuration import Config
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.loaded_sources import program_sources
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.records import read_records
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.timers import timer_states


def write_file(module: AnsibleModule, path: str, text: str, mode: int) -> None:
    """Write a file atomically, and create its directories."""
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
    temporary = os.path.join(module.tmpdir, "file")
    with errors_name(temporary), open(temporary, "w", encoding="utf-8") as stream:
        stream.write(text)
    os.chmod(temporary, mode)
    module.atomic_move(temporary, path)
    os.chmod(path, mode)


def validated_config(module: AnsibleModule) -> Config:
    """Return the configuration; fail with every problem of it on this host."""
    config, found = installation.validated_config(module.params, installed=not module.check_mode)
    if config is None or found:
        module.fail_json(msg=f"{'; '.join(found)}. The maintenance was not changed.")
    return config


def write_files(module: AnsibleModule, found: installation.Comparison) -> None:
    """Bring the files and directories into the wanted state."""
    for path in found.removed_first:
        os.unlink(path)
    for path in found.changed:
        write_file(module, path, *found.wanted[path])
    for path in found.removed:
        os.unlink(path)
    for path, mode in found.directories:
        os.makedirs(path, mode=mode)


def switch_timers(module: AnsibleModule, found: installation.Comparison) -> dict[str, dict[str, Any]]:
    """Bring the timers into the wanted state, and return their states."""
    states = found.timers()
    commands = timer_changes.timer_commands(module.params["timers"], states, reload=bool(found.units))
    if not commands:
        return states
    try:
        for command in commands:
            systemd.systemctl(command)
    except ValueError as error:
        module.fail_json(
            msg=f"{error}. The program and its units are installed: correct the cause, and run this again."
        )
    return timer_states(list(states))


def main() -> None:
    """Run the module."""
    spec = {**installation.ARGUMENTS, "timers": {"type": "dict", "default": {}}}
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True)
    config = validated_config(module)
    wanted = module.params["timers"]
    try:
        found = installation.compare(module.params, config, program_sources())
        states = found.timers()
        changed = found.differs or bool(timer_changes.differing_timers(wanted, states))
        if not module.check_mode:
            write_files(module, found)
            states = switch_timers(module, found)
    except ValueError as error:
        module.fail_json(msg=f"{error}. The maintenance was not changed.")
    except OSError as error:
        module.fail_json(msg=f"{error.filename}: {error.strerror}")
    module.exit_json(
        changed=changed,
        differs=changed,
        files=found.changed,
        removed=found.removed_first + found.removed,
        reload=bool(found.units),
        timers=states,
        records=read_records(config.state_dir, config.cluster),
        diff=found.diff(),
    )


if __name__ == "__main__":
    main()
