#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Describe an etcd cluster and the member on this host."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_cluster_info
short_description: Describe an etcd cluster and the member on this host
version_added: 0.1.0
description:
  - Returns members, roles, health, versions, database sizes, leader, quorum and alarms of the cluster,
    as C(etcdctl) reports them.
  - Returns memory, control group limit, I/O class of every thread, effective settings and mounts of the member on this host,
    as the kernel, systemd and the journal report them.
  - A cluster without quorum, a member that is down and a host without etcd are results, not failures.
  - Reading another user's process environment needs root.
extends_documentation_fragment:
  - etcdops.headroom.etcdctl
  - etcdops.headroom.etcdctl.tls
  - etcdops.headroom.etcdctl.unit
options:
  data_dir:
    description: The data directory whose mount is returned. Defaults to the directory of the running etcd.
    type: path
  wal_dir:
    description: The WAL directory whose mount is returned. Defaults to the directory of the running etcd.
    type: path
  quorum_timeout:
    description:
      - Seconds to wait for a quorum, because the members may be electing a leader.
      - A cluster without quorum is still a result, not a failure.
    type: float
    default: 0
    version_added: 0.3.0
  compare_hashes:
    description:
      - Whether to compare the voting members' hashes of all keys at one revision. Writes wait while a member computes its hash, so the module
        queries one member after the other.
    type: bool
    default: false
    version_added: 0.3.0
  hash_timeout:
    description: With O(compare_hashes), the time limit for the hash of each member, in seconds.
    type: float
    default: 600
    version_added: 0.3.0
attributes:
  check_mode:
    description: Can run in check mode, with the same result.
    support: full
seealso:
  - module: etcdops.headroom.etcd_member
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Describe the cluster and the member on this host
  etcdops.headroom.etcd_cluster_info:
  register: etcd

- name: Assert that the cluster has quorum
  ansible.builtin.assert:
    that: etcd.cluster.quorum.ok
    fail_msg: "{{ etcd.cluster.quorum.healthy }} healthy members, {{ etcd.cluster.quorum.needed }} needed"

- name: Describe the cluster even while the member on this host is down
  etcdops.headroom.etcd_cluster_info:
    endpoints:
      - https://127.0.0.1:2379
      - https://10.0.0.12:2379
      - https://10.0.0.13:2379
"""

RETURN = r"""
cluster:
  description: The cluster, as reported by the members that answer.
  returned: always
  type: dict
  contains:
    id:
      description: Cluster id in hexadecimal, empty if no member answers.
      type: str
      sample: 75cf3c2d0b2f0a4c
    leader:
      description: Name of the leader, empty if there is none.
      type: str
      sample: etcd2
    error:
      description: Why no member answers; empty if one does.
      type: str
      sample: "https://127.0.0.1:2379: connection refused"
    quorum:
      description:
        - The numbers of voting members, of members needed for the quorum, and of healthy members.
        - C(ok) is true if a linearizable read through any member succeeded.
      type: dict
      sample: {voters: 3, needed: 2, healthy: 3, ok: true}
    alarms:
      description:
        - Alarms that are set, C(NOSPACE) or C(CORRUPT), each with the member that raised it.
        - The member is C(an unknown member) if no status could be read. Then only the health check shows the alarm.
      type: list
      elements: dict
      sample: [{member: etcd1, type: NOSPACE}]
    members:
      description: The members, by name. Figures are null for a member that does not answer.
      type: list
      elements: dict
      contains:
        name:
          description: Name; empty for a member that was added and never started.
          type: str
        id:
          description: Member id in hexadecimal.
          type: str
        role:
          description: C(leader), C(follower) or C(learner); C(unknown) for a member that does not answer.
          type: str
        healthy:
          description: Whether a linearizable read through it succeeded (a learner, whether it knows a leader).
          type: bool
        health_error:
          description: Why it is not healthy; empty if it is.
          type: str
        endpoint:
          description: The client URL that was queried.
          type: str
        peer_urls:
          description: Its peer URLs.
          type: list
          elements: str
        client_urls:
          description: The client URLs that it advertises.
          type: list
          elements: str
        version:
          description: Its etcd version, without the suffix of a custom build. RV(process.version) has it.
          type: str
        db_size:
          description: Size of its database file in bytes.
          type: int
        db_size_in_use:
          description: Bytes of the database that hold data; the rest is free for reuse.
          type: int
        db_quota:
          description: Its quota in bytes. Null for members older than 3.6, which do not report it here.
          type: int
        raft_index:
          description: Index of the last committed raft entry.
          type: int
        raft_applied_index:
          description: Index of the last applied raft entry.
          type: int
        raft_term:
          description: Raft term.
          type: int
        revision:
          description: Revision of its keys.
          type: int
          version_added: 0.3.0
        lag:
          description: Entries that it has not applied yet, compared with the highest index of any member.
          type: int
        downgrade_to:
          description: The minor version that a downgrade is enabled to; empty without one, and for 3.5, which does not tell.
          type: str
          version_added: 0.3.0
        status_error:
          description: Why it returned no status, for example because the user may not read it; empty if it did.
          type: str
          version_added: 0.3.0
        errors:
          description: Errors that it reports, such as C(etcdserver{:} no leader).
          type: list
          elements: str
        alarms:
          description: Types of the alarms that it raised.
          type: list
          elements: str
member:
  description: Name of the member on this host, empty if unknown.
  returned: always
  type: str
  sample: etcd1
process:
  description: The etcd process on this host. Without a running process only the state of the unit is returned.
  returned: always
  type: dict
  contains:
    running:
      description: Whether the unit has a main process.
      type: bool
    unit:
      description: Name of the unit.
      type: str
    load_state:
      description: C(loaded), or C(not-found) if the unit does not exist. Empty if C(systemctl) did not answer in time.
      type: str
    active_state:
      description: systemd's state of the unit.
      type: str
      sample: active
    sub_state:
      description: systemd's detailed state of the unit.
      type: str
      sample: running
    result:
      description: How its last run ended, such as C(success), C(exit-code) or C(oom-kill).
      type: str
    restarts:
      description: How often systemd restarted the unit automatically since it was last started on request.
      type: int
    since:
      description: When it became active.
      type: str
    pid:
      description: Main process.
      type: int
    rss:
      description: Resident memory in bytes.
      type: int
    rss_anon:
      description: The part of the resident memory that is heap and stacks.
      type: int
    rss_file:
      description: The part of the resident memory that is mapped files, mainly the database.
      type: int
    rss_shmem:
      description: The part of the resident memory that is shared memory.
      type: int
    rss_peak:
      description: The largest resident memory since the process started, in bytes.
      type: int
    swap:
      description: Bytes swapped out.
      type: int
    locked:
      description: Bytes locked into memory.
      type: int
    nice:
      description: Nice value of the main thread.
      type: int
    memory_limit:
      description: Bytes at which the kernel kills the process, the lowest limit of its control group and their parents; null for none.
      type: int
    memory_high:
      description: Bytes above which the kernel throttles and reclaims; null for none, and always with cgroup v1.
      type: int
    memory_current:
      description: Bytes that the control group uses, page cache included.
      type: int
    memory_peak:
      description: The most bytes that the control group used; null where the kernel does not record it.
      type: int
    oom_kills:
      description: Processes of the control group that the kernel killed for lack of memory.
      type: int
    cgroup:
      description: Directory of the control group.
      type: str
    threads:
      description: I/O class and level of each thread.
      type: list
      elements: dict
      sample: [{tid: 812, io_class: best-effort, io_level: 0}]
    io_classes:
      description: Threads by I/O class and level.
      type: dict
      sample: {best-effort/0: 14}
    environment:
      description: Environment variables of Go's runtime that are set.
      type: dict
      sample: {GOGC: "100", GOMEMLIMIT: 1800MiB}
    digest:
      description: C(HEADROOM_DIGEST) of the process, which identifies the configuration that it was started with.
      type: str
    version:
      description: Version of the running etcd, null if the journal lacks it.
      type: str
    go_version:
      description: Version of Go that it was built with.
      type: str
    settings:
      description:
        - The effective settings, as etcd logged them when it started.
          - Named like etcd 3.7's flags, with underscores.
        - Heartbeat interval and election timeout are in milliseconds.
      type: dict
      sample: {snapshot_count: 10000, quota_backend_bytes: 2147483648, auto_compaction_retention: 30m}
    settings_source:
      description: C(journal); C(metrics) if only the quota could be read; C(none).
      type: str
    mounts:
      description: Where the data and the WAL directory are mounted.
      type: dict
      sample:
        data: {path: /var/lib/etcd/data, mountpoint: /var/lib/etcd, device: /dev/vdb, fstype: ext4}
        wal: {path: /var/lib/etcd-wal/wal, mountpoint: /var/lib/etcd-wal, device: /dev/vdc, fstype: ext4}
comparison:
  description:
    - The comparison of the voting members' hashes. RV(ignore:verdict) is C(agree) (a majority has the same hash, and there is no other),
      C(differ) (a majority has the same hash, and the members RV(ignore:differing) have others), C(undecided) (no hash has a majority) or C(unknown)
      (too few members could be compared).
    - RV(ignore:hashes) has the hash of each member at RV(ignore:revision), RV(ignore:unknown) the reason for each member that could not be compared, and
      RV(ignore:corrupt) the members with the alarm CORRUPT, or C(the cluster) if etcd does not know which member differs.
    - RV(ignore:cluster_id) is the id of the cluster.
  returned: if O(compare_hashes) is true
  type: dict
  version_added: 0.3.0
  sample:
    verdict: differ
    revision: 4711
    agreeing: [etcd1, etcd2]
    differing: [etcd3]
    hashes: {etcd1: 5cfb9c9d, etcd2: 5cfb9c9d, etcd3: 3ddb5c1}
    unknown: {}
    corrupt: []
    cluster_id: cdf818194e3a8c32
maintenance:
  description:
    - The last run of each maintenance operation on this host (C(defrag), C(snapshot), C(drill), C(integrity)), as recorded by the program of the
      role P(etcdops.headroom.etcd_maintenance#role) for the cluster of its configuration. Empty if it is not installed or has not run.
  returned: always
  type: dict
  version_added: 0.3.0
  sample:
    defrag:
      operation: defrag
      result: done
      reason: "etcd-1: 269.2 MiB became 1008.0 KiB in 0.112 s, 268.2 MiB freed"
      started_at: "2026-11-21T12:40:00Z"
      seconds: 41.315
      settled: true
      last_settled_at: "2026-11-21T12:40:41Z"
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import (
    CONNECTION_ARGUMENTS,
    connection_from_params,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import EtcdctlError
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.hash_requests import compare_members
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_view import (
    describe_member_in_quorum,
    former_endpoints,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.records import (
    STATE_DIR,
    installed_cluster,
    read_records,
)


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            **CONNECTION_ARGUMENTS,
            "data_dir": {"type": "path"},
            "wal_dir": {"type": "path"},
            "quorum_timeout": {"type": "float", "default": 0},
            "compare_hashes": {"type": "bool", "default": False},
            "hash_timeout": {"type": "float", "default": 600},
        },
        supports_check_mode=True,
    )
    try:
        found = describe_member_in_quorum(module.params, module.params["quorum_timeout"])
        if module.params["compare_hashes"]:
            link = connection_from_params(module.params)
            # The client port of the member on this host may be about to change.
            former = former_endpoints(module.params["endpoints"], found["process"].get("settings", {}))
            compared = compare_members(link, [*module.params["endpoints"], *former], module.params["hash_timeout"])
            found["comparison"] = compared.as_dict()
    except EtcdctlError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, **found, maintenance=read_records(STATE_DIR, installed_cluster()))


if __name__ == "__main__":
    main()
