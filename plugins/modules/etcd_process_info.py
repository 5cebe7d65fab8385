#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Describe the etcd processes of a host."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_process_info
short_description: Describe the etcd processes of a host
version_added: 0.3.0
description:
  - Finds processes named etcd with any supervisor, and returns their flags and environment, their memory and its limit, their supervisor, the space on
    their disks, and the expiry of the certificates that their flags name.
  - Reads C(/proc), control groups, the config file and certificates, also those of containers. Never opens private keys, and replaces passwords with C(***).
  - Needs root to read processes of other users.
options:
  backup_dirs:
    description:
      - Directories with backups of etcd by any program. The newest file of each, and of the directories directly below it, is returned.
      - The age of a snapshot with a record of M(etcdops.headroom.etcd_snapshot) is that in the record.
    type: list
    elements: path
    default: []
attributes:
  check_mode:
    description: Can run in check mode, with the same result.
    support: full
seealso:
  - module: etcdops.headroom.etcd_audit
  - module: etcdops.headroom.etcd_host_info
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Find out how etcd runs on the control plane
  etcdops.headroom.etcd_process_info:
  become: true
  register: found

- name: Find out how old the backups are too
  etcdops.headroom.etcd_process_info:
    backup_dirs: [/var/backups/etcd]
  become: true
"""

RETURN = r"""
processes:
  description:
    - One entry for each process, in the order of their PIDs. Sizes are in bytes.
    - A size is null if there is no limit, or if the kernel does not report it.
    - RV(ignore:problem) names what could not be read; empty if there is nothing.
    - The kind of a supervisor is C(service) (a systemd unit), C(container), C(pod) or C(process) (started by hand or by a script).
      C(pod) is C(static) for a pod of a manifest on the host, C(api) for one of a chart or an operator, else empty.
  returned: success
  type: list
  elements: dict
  sample:
    - pid: 1201
      hostname: master-1
      name: etcd-1
      client_urls: ["https://10.0.0.11:2379"]
      command: [/usr/local/bin/etcd, --config-file=/etc/etcd/etcd.yml]
      environment: {GOMEMLIMIT: 1500MiB}
      config_file: /etc/etcd/etcd.yml
      config: "name: etcd-1"
      problem: ""
      supervisor: {kind: service, unit: etcd.service, container: "", engine: "", pod: ""}
      memory: {rss: 190840832, rss_anon: 120840832, rss_peak: 230840832, swap: 0, locked: 0, memory_limit: 2147483648, memory_high: null,
               memory_current: 260840832, memory_peak: 290840832, oom_kills: 0}
      disks: {data: {path: /var/lib/etcd, size: 21474836480, free: 16106127360, fstype: ext4}}
      certificates: [{flag: cert-file, path: /etc/etcd/pki/server.crt, days_left: 201, not_after: "2027-06-11", valid_from: null, problem: ""}]
backups:
  description:
    - The newest file of each directory in O(backup_dirs), by the time of its last change, and its age in seconds; both null if there is none.
    - Files in directories directly below count too. Of more than 1000 such directories, those that changed last are searched.
    - Hidden and empty files, records and digests do not count. C(problem) says why a directory could not be read.
  returned: success
  type: list
  elements: dict
  sample: [{hostname: master-1, directory: /var/backups/etcd, path: /var/backups/etcd/etcd-20261123T020000Z.db, age: 15422, problem: ""}]
"""

import time

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.backups import newest_backups
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.processes import describe_processes


def main() -> None:
    """Run the module."""
    arguments = {"backup_dirs": {"type": "list", "elements": "path", "default": []}}
    module = AnsibleModule(argument_spec=arguments, supports_check_mode=True)
    try:
        processes = describe_processes()
    except OSError as error:
        module.fail_json(msg=f"the processes of this host cannot be listed: {error}")
    backups = newest_backups(module.params["backup_dirs"], time.time())
    module.exit_json(changed=False, processes=processes, backups=backups)


if __name__ == "__main__":
    main()
