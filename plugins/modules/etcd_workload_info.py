#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the workload of a running etcd cluster."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_workload_info
short_description: Measure the workload of a running etcd cluster
version_added: 0.3.0
description:
  - Measures the workload of any cluster, in the form of the input of M(etcdops.headroom.etcd_memory_plan) and the role P(etcdops.headroom.etcd#role).
    Needs only endpoints and certificates. The cluster need not be deployed with this collection.
  - Reads the metrics of each member twice, the status of the members, the list of leases, and a sample of the keys.
  - Reads keys from a follower if there is one, with serializable reads, in small pages at random places, and at a limited rate. The result includes the
    upper limit of bytes, which is valid for members with etcd's default C(max_request_bytes).
  - If a figure cannot be measured, it is missing from the workload and listed in RV(unknown) with the reason. Members that do not answer are listed in
    RV(unreadable).
  - Writes nothing to the cluster, and never returns or logs values.
  - With O(login_user), each request logs in, which costs CPU time on a member. Prefer the O(client_cert) of a user.
extends_documentation_fragment:
  - etcdops.headroom.etcdctl
  - etcdops.headroom.etcdctl.tls
  - etcdops.headroom.etcdctl.audit
options:
  window:
    description: Seconds between the two readings of metrics.
    type: float
    default: 10
  prefix:
    description: Sample only keys with this prefix, for a user without permission to read all keys. The sizes in the result are those of these keys.
    type: str
    default: ""
  sample_size:
    description: Bytes of keys and values after which no further page is read, or a size with a unit.
    type: str
    default: 4MB
  read_rate:
    description: Maximum bytes of keys and values to read per second, or a size with a unit.
    type: str
    default: 4MB
  prometheus_url:
    description:
      - A Prometheus server that scrapes the members, or a server with the same API, such as Thanos. The module then uses the peaks of O(history) if they are
        higher than the figures of the window.
      - The members are found by the metric C(etcd_server_id); its labels select the other metrics.
    type: str
    default: ""
    version_added: 0.3.0
  prometheus_user:
    description: The user for HTTP basic authentication, with O(prometheus_password).
    type: str
    default: ""
    version_added: 0.3.0
  prometheus_password:
    description: The password of O(prometheus_user).
    type: str
    default: ""
    version_added: 0.3.0
  prometheus_token:
    description: A bearer token, instead of a user.
    type: str
    default: ""
    version_added: 0.3.0
  prometheus_ca_cert:
    description: The CA that signed the server's certificate, if the host does not trust it.
    type: path
    version_added: 0.3.0
  history:
    description: How far to look back, a number with C(d), C(h) or C(m), from 1m to 90d. If the server has less history, the module uses what there is.
    type: str
    default: 7d
    version_added: 0.3.0
attributes:
  check_mode:
    description: Can run in check mode, with the same result.
    support: full
seealso:
  - module: etcdops.headroom.etcd_memory_plan
  - module: etcdops.headroom.etcd_space_info
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Measure the workload of the cluster below Kubernetes
  etcdops.headroom.etcd_workload_info:
    endpoints: ["https://10.0.0.11:2379"]
    ca_cert: /etc/kubernetes/pki/etcd/ca.crt
    client_cert: /etc/kubernetes/pki/etcd/healthcheck-client.crt
    client_key: /etc/kubernetes/pki/etcd/healthcheck-client.key
    metrics_urls: ["http://127.0.0.1:2381"]
  register: measured

- name: Plan its memory
  etcdops.headroom.etcd_memory_plan:
    version: "{{ measured.members[0].version }}"
    budget: 2GB
    workload: "{{ measured.etcd_workload }}"
    members: "{{ measured.members | length }}"
"""

RETURN = r"""
etcd_workload:
  description:
    - The measured workload, in bytes and counts, in the form of O(etcdops.headroom.etcd_memory_plan#module:workload). Unknown figures are missing.
    - C(puts_per_second) is the mean of the window. For the peak, set O(prometheus_url), measure at the busiest time, or raise the figure to a known peak.
  returned: success
  type: dict
  sample: {key_size: 41, keys: 20113, leases: 12, puts_per_second: 207, revisions_per_key: 3, tls: true, value_size: 1190, watch_streams: 96, watchers: 412}
basis:
  description: How each figure was measured.
  returned: success
  type: dict
  sample: {value_size: "2,070 puts in the window", keys: metrics}
unknown:
  description: The figures that could not be measured, with the reason.
  returned: success
  type: list
  elements: dict
  sample: [{name: clients, reason: "etcd has no metric of client connections; no member has more than 84, its open files"}]
rates:
  description:
    - Rates per second during the window. Puts and deletions are those of the cluster.
    - Ranges and the bytes sent and received are those of one member, the leader if it answers.
  returned: success
  type: dict
  sample: {puts: 207.1, deletes: 3.2, ranges: 911.5, put_bytes: 254826.0, sent_bytes: 1803220.4, received_bytes: 268113.9}
history:
  description:
    - Figures from Prometheus, null without O(prometheus_url). C(begin) and C(end) are the first and the last of its points, which are C(step) seconds apart.
    - C(puts) is the mean rate per second, C(puts_peak) the highest rate of a step. C(put_size) is the mean size of a put in bytes, key included;
      C(put_size_peak) is the largest mean of 10,000 consecutive puts.
    - C(highest) is the largest value of each gauge; C(revisions) is the number between two compactions, and C(all_revisions) the number before
      the first one. C(revision_writes) is the mean number of puts and deletes in a revision.
  returned: success
  type: dict
  sample:
    begin: "2026-11-16T08:00:00Z"
    end: "2026-11-23T08:00:00Z"
    step: 61
    puts: 207.4
    puts_peak: 812.5
    puts_peak_at: "2026-11-20T14:03:11Z"
    put_size: 1231
    put_size_peak: 9120
    revision_writes: 1.0
    highest: {keys: 20911, watchers: 431, watch_streams: 98, open_files: 91, revisions: 60211}
sizes:
  description: Mean, percentiles and maximum of the sampled keys and values in bytes.
  returned: success
  type: dict
  sample: {key: {mean: 41, p50: 40, p90: 61, p99: 74, max: 80}, value: {mean: 1340, p50: 610, p90: 3020, p99: 9804, max: 48211}}
sample:
  description: The sample of keys.
  returned: success
  type: dict
  contains:
    member:
      description: The member from which keys were read.
      type: str
    keys:
      description: Number of keys that were read.
      type: int
    keys_total:
      description: Number of keys in the sampled range.
      type: int
    complete:
      description: Whether all keys of the range were read.
      type: bool
    kubernetes:
      description: Whether keys of Kubernetes (below C(/registry/)) or OpenShift (below C(/kubernetes.io/) or C(/openshift.io/)) were among them.
      type: bool
    pages:
      description: Number of requests.
      type: int
    bytes:
      description: Bytes of keys and values that were read.
      type: int
    bytes_limit:
      description: The upper limit of bytes that could have been read.
      type: int
    revision:
      description: The revision at which the keys were read.
      type: int
    problem:
      description: Why reading ended early; empty if it did not.
      type: str
cluster_id:
  description: Id of the cluster.
  returned: success
  type: str
  sample: cdf818194e3a8c32
leader:
  description: Name of the leader; empty if there is none.
  returned: success
  type: str
alarms:
  description: The alarms that are set, each with the name of its member; with C(an unknown member) if no member returned its status.
  returned: success
  type: list
  elements: dict
  sample: [{member: etcd-1, type: NOSPACE}]
members:
  description:
    - The members by name, with figures of their status and metrics. A figure is null if the member did not return it.
    - Without permission to read the status, the release and the sizes of the database are those of the metrics.
    - C(wal_fsync) and C(backend_commit) are 99th percentiles of the window. If the window has fewer than 100 samples, they are percentiles since the
      member started (C(since_start)), unless the window has at least 20 samples and the slowest of them is faster.
    - C(compact_revision) is the revision of the last compaction, -1 if the cluster was never compacted.
    - C(leader_changes) is the number in the window. C(leader_changes_since_start) includes the first election.
    - C(certificate) is the certificate of the client port, null without TLS.
  returned: success
  type: list
  elements: dict
  sample:
    - name: etcd-1
      id: 8211f1d0f64f3269
      role: follower
      endpoint: https://10.0.0.11:2379
      client_urls: ["https://10.0.0.11:2379"]
      peer_urls: ["https://10.0.0.11:2380"]
      version: 3.6.16
      healthy: true
      db_size: 104857600
      db_size_in_use: 62914560
      db_quota: 2147483648
      compact_revision: 150211
      lag: 0
      watchers: 412
      watch_streams: 96
      open_files: 84
      resident_memory: 190840832
      problem: ""
      wal_fsync: {p99_us: 3420, samples: 2071, seconds: 10, since_start: false}
      backend_commit: {p99_us: 5110, samples: 100, seconds: 10, since_start: false}
      leader_changes: 0
      leader_changes_since_start: 1
      uptime: 864000
      certificate: {days_left: 201, not_after: "2027-06-11", valid_from: null, names: [etcd-1, 10.0.0.11], problem: ""}
unreadable:
  description: The members whose metrics could not be compared, each with the reason.
  returned: success
  type: list
  elements: str
  sample: ["etcd-3: https://10.0.0.13:2379/metrics: [Errno 111] Connection refused"]
summary:
  description: The result as lines of text.
  returned: success
  type: list
  elements: str
"""

import json
import random
import time
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.urls import open_url
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.access import MeasureError
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.history import PrometheusQuery, parse_length
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.measure import (
    Request,
    Timing,
    measure_workload,
    summary_lines,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import parse_size
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import (
    AUDIT_ARGUMENTS,
    connection_from_params,
)

# 10,000 points take about 300 kB.
MAX_BYTES = 8 << 20


def prometheus(params: dict[str, Any]) -> PrometheusQuery | None:
    """Return the function that asks the Prometheus server, None without one. Raises MeasureError for invalid parameters."""
    url = params["prometheus_url"].rstrip("/")
    if not url:
        return None
    if not url.startswith(("http://", "https://")):
        raise MeasureError(f"prometheus_url is {url!r}; write it like http://10.0.0.5:9090")
    headers = {"Authorization": f"Bearer {params['prometheus_token']}"} if params["prometheus_token"] else {}

    def ask(path: str, arguments: dict[str, str]) -> Any:
        where = f"{url}/api/v1/{path}"
        try:
            answer = open_url(
                where,
                method="POST",
                data=urlencode(arguments),
                headers={"Content-Type": "application/x-www-form-urlencoded", **headers},
                url_username=params["prometheus_user"] or None,
                url_password=params["prometheus_password"] or None,
                force_basic_auth=bool(params["prometheus_user"]),
                ca_path=params["prometheus_ca_cert"],
                timeout=30,
            )
            return json.loads(answer.read(MAX_BYTES))["data"]
        except HTTPError as error:
            said = error.read(500).decode(errors="replace").strip()
            raise MeasureError(f"prometheus_url: {where} answered {error.code}: {said or error.reason}") from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise MeasureError(f"prometheus_url: {where} does not answer as Prometheus does: {error}") from error

    return ask


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec={
            **AUDIT_ARGUMENTS,
            "read_rate": {"type": "str", "default": "4MB"},
            "window": {"type": "float", "default": 10},
            "prefix": {"type": "str", "default": "", "no_log": False},
            "sample_size": {"type": "str", "default": "4MB"},
            "prometheus_url": {"type": "str", "default": ""},
            "prometheus_user": {"type": "str", "default": ""},
            "prometheus_password": {"type": "str", "default": "", "no_log": True},
            "prometheus_token": {"type": "str", "default": "", "no_log": True},
            "prometheus_ca_cert": {"type": "path"},
            "history": {"type": "str", "default": "7d"},
        },
        supports_check_mode=True,
    )
    params = module.params
    try:
        request = Request(
            endpoints=params["endpoints"],
            metrics_urls=params["metrics_urls"],
            window=params["window"],
            sample_size=parse_size(params["sample_size"], "sample_size"),
            read_rate=parse_size(params["read_rate"], "read_rate"),
            prefix=params["prefix"].encode(errors="surrogateescape"),
            ask=prometheus(params),
            history=parse_length(params["history"]),
        )
        timing = Timing(time.monotonic, time.sleep, random.random)
        result = measure_workload(connection_from_params(params), request, timing)
    except ValueError as error:
        module.fail_json(msg=str(error))
    module.exit_json(changed=False, **result, summary=summary_lines(result))


if __name__ == "__main__":
    main()
