#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Show which keys fill an etcd database."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_keyspace_info
short_description: Show which keys fill an etcd database
version_added: 0.3.0
description:
  - Adds up the keys and bytes of each prefix, or of each resource and namespace of Kubernetes. Also returns the sizes of values, the largest keys, the
    most written keys, and the space that a compaction and a defragmentation would free.
  - Reads all keys at one revision, from a follower if there is one, with serializable reads, at a limited rate, and in pages of at most 42 keys (64 MiB with
    etcd's default of C(max-request-bytes)) while more than 64 MiB are left to read. It stops at O(max_keys) or O(max_size), and lists what it did not read.
  - Uses values only to determine their size. They are never returned or logged.
  - Writes nothing to the cluster. With O(snapshot), it needs no cluster. It restores the file into a temporary folder, starts an etcd on it that listens
    on a socket in that folder, and removes both, in check mode too.
extends_documentation_fragment:
  - etcdops.headroom.etcdctl
  - etcdops.headroom.etcdctl.tls
  - etcdops.headroom.etcdctl.audit
options:
  snapshot:
    description:
      - A snapshot file to read instead of a cluster. O(endpoints) and certificates are then not used.
      - Decrypt an encrypted one first.
    type: path
  scratch_dir:
    description: Directory for the temporary folder of O(snapshot). Requires twice the snapshot's size and 160 MB.
    type: path
    default: /var/tmp
  memory_max:
    description: Memory limit of the temporary member, without reclaimable pages of its database.
    type: str
    default: 1GB
  etcd_path:
    description: Path of the etcd to start for O(snapshot). Defaults to the etcd in the same folder as O(etcdutl_path), with links resolved.
    type: path
  etcdutl_path:
    description: Path of etcdutl, of the minor version of the cluster from which O(snapshot) was taken.
    type: path
    default: /usr/local/bin/etcdutl
  timeout:
    description: Time limit for reading O(snapshot), in seconds.
    type: int
    default: 1800
  prefixes:
    description: Prefixes of the keys to read, for a user without permission to read all keys. An empty prefix means all keys.
    type: list
    elements: str
    default: [""]
  separator:
    description: The separator of the parts of a key's name. Defaults to the most frequent one of V(/), V(:), V(.) and V(|).
    type: str
    default: ""
  depth:
    description:
      - The number of parts that form a group's name. The last part of a key's name never belongs to it.
      - V(0) groups the keys of Kubernetes by resource and namespace, and others by their first part.
    type: int
    default: 0
  top:
    description: The length of the lists of groups and keys.
    type: int
    default: 20
  max_keys:
    description: Number of keys after which no further page is read.
    type: int
    default: 1000000
  max_size:
    description: Bytes of keys and values after which no further page is read, or a size with a unit.
    type: str
    default: 512MB
  read_rate:
    description: Maximum bytes of keys and values to read per second, or a size with a unit.
    type: str
    default: 16MB
attributes:
  check_mode:
    description: Can run in check mode, with the same result.
    support: full
seealso:
  - module: etcdops.headroom.etcd_space_info
  - module: etcdops.headroom.etcd_workload_info
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Find out what fills the database of Kubernetes
  etcdops.headroom.etcd_keyspace_info:
    endpoints: ["https://10.0.0.11:2379"]
    ca_cert: /etc/kubernetes/pki/etcd/ca.crt
    client_cert: /etc/kubernetes/pki/etcd/healthcheck-client.crt
    client_key: /etc/kubernetes/pki/etcd/healthcheck-client.key
  register: keyspace

- name: Show the largest groups and the advice
  ansible.builtin.debug:
    msg: "{{ keyspace.groups[:5] + keyspace.advice }}"

- name: Find out what filled the database when this snapshot was taken
  etcdops.headroom.etcd_keyspace_info:
    snapshot: /var/backups/etcd/etcd-20261121T101500Z.db
"""

RETURN = r"""
database:
  description:
    - The parts of the member's database in bytes. Figures that need all keys are null unless all keys were read.
    - C(live) is the size of keys and values alone. C(after_defragmentation) is the predicted size of the file after a compaction at the newest revision
      and a defragmentation, C(reclaimable) the space that both would free, and C(history) the compaction's part of it.
  returned: success
  type: dict
  sample: {size: 104857600, in_use: 83886080, free: 20971520, live: 30408704, history: 49807360, after_defragmentation: 34078720, reclaimable: 70778880}
grouping:
  description: How keys are grouped.
  returned: success
  type: str
  sample: Kubernetes resource and namespace
groups:
  description:
    - The largest groups by bytes, largest first. C(share) is their percentage of all bytes, null unless all keys were read.
    - C(writes) is how often the keys were written since they were created.
  returned: success
  type: list
  elements: dict
  sample: [{group: /registry/pods/default/, keys: 812, bytes: 9125021, largest_value: 40311, writes: 20171, with_lease: 0, share: 30.0}]
groups_total:
  description: The number of groups.
  returned: success
  type: int
value_sizes:
  description: The number of keys by the size of their value. C(up_to) is the upper limit of a row in bytes, null for no limit; C(bytes) sums the values up.
  returned: success
  type: list
  elements: dict
  sample: [{up_to: 1024, keys: 9200, bytes: 5103301}, {up_to: 4096, keys: 3120, bytes: 8201441}]
largest_keys:
  description: The largest keys by bytes, value included. Unprintable bytes are written as C(\\xNN).
  returned: success
  type: list
  elements: dict
  sample: [{key: /registry/configmaps/ci/bundle, bytes: 912031, writes: 3, with_lease: false}]
most_written_keys:
  description: The keys that were written most often since they were created.
  returned: success
  type: list
  elements: dict
  sample: [{key: /registry/leases/kube-system/kube-scheduler, bytes: 461, writes: 731023, with_lease: false}]
leases:
  description:
    - The number of leases (C(total)), of leases with keys (C(with_keys)), and of keys with a lease (C(keys)). Null if unknown.
    - C(problem) is the reason if the leases could not be counted.
  returned: success
  type: dict
  sample: {total: 12, with_keys: 11, keys: 240, problem: ""}
read:
  description: The member and the revision, the numbers of keys and bytes that were read, the total number of keys, and the upper limit of bytes.
  returned: success
  type: dict
  sample: {member: etcd-2, revision: 80211, keys: 20113, keys_total: 20113, complete: true, pages: 36, bytes: 30408704, bytes_limit: 620756992}
unread:
  description: What was not read, with the reason.
  returned: success
  type: list
  elements: str
advice:
  description: Recommendations for reducing the database; empty if nothing stands out.
  returned: success
  type: list
  elements: str
  sample: ["68.0 MiB of 100.0 MiB are old revisions, 45 % or more: compact more often (etcd_auto_compaction_retention), then defragment"]
"""

import random
import time
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.access import Timing
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.census import Request, survey_keys
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.snapshot_keys import Snapshot, survey_snapshot
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.drill import etcd_next_to
from ansible_collections.etcdops.headroom.plugins.module_utils._base.signals import exit_on_signals
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import parse_size
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import (
    AUDIT_ARGUMENTS,
    connection_from_params,
)


def survey(params: dict[str, Any]) -> dict[str, Any]:
    """Read the keys of a cluster or of a snapshot. Raises ValueError."""
    names = ("endpoints", "metrics_urls", "prefixes", "separator", "depth", "top", "max_keys")
    sizes = {name: parse_size(params[name], name) for name in ("max_size", "read_rate")}
    request = Request(**{name: params[name] for name in names}, **sizes)
    timing = Timing(time.monotonic, time.sleep, random.random)
    if not params["snapshot"]:
        return survey_keys(connection_from_params(params), request, timing)
    tools = {name: params[name] for name in ("etcdutl_path", "etcdctl_path", "scratch_dir", "timeout")}
    etcd_path = params["etcd_path"] or etcd_next_to(params["etcdutl_path"])
    memory_max = parse_size(params["memory_max"], "memory_max")
    snapshot = Snapshot(params["snapshot"], memory_max=memory_max, etcd_path=etcd_path, **tools)
    return survey_snapshot(snapshot, request, timing)


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            **AUDIT_ARGUMENTS,
            "snapshot": {"type": "path"},
            "scratch_dir": {"type": "path", "default": "/var/tmp"},
            "memory_max": {"type": "str", "default": "1GB"},
            "etcd_path": {"type": "path"},
            "etcdutl_path": {"type": "path", "default": "/usr/local/bin/etcdutl"},
            "timeout": {"type": "int", "default": 1800},
            "prefixes": {"type": "list", "elements": "str", "default": [""]},
            "separator": {"type": "str", "default": ""},
            "depth": {"type": "int", "default": 0},
            "top": {"type": "int", "default": 20},
            "max_keys": {"type": "int", "default": 1_000_000, "no_log": False},
            "max_size": {"type": "str", "default": "512MB"},
            "read_rate": {"type": "str", "default": "16MB"},
        },
        supports_check_mode=True,
    )
    exit_on_signals()
    try:
        result = survey(module.params)
    except ValueError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()
