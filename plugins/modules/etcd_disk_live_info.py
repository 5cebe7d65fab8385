#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the disk latency of a running etcd member."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_disk_live_info
short_description: Measure the disk latency of a running etcd member
version_added: 0.3.0
description:
  - Reads a member's metrics twice and returns the latencies of its WAL fsyncs and backend commits in between, the number of slow applies
    and the number of leader changes. Writes nothing.
  - Compares the 99th percentiles with limits. etcd's documentation asks for less than 10 ms of WAL fsyncs and less than 25 ms of backend commits.
  - Does not fail if the disk is slow; check RV(verdict).
options:
  endpoint:
    description: The member's client URL, or one of its C(listen-metrics-urls).
    type: str
    default: https://127.0.0.1:2379
  interval:
    description:
      - Seconds between the two readings, 0 to 600. A member with few writes needs a longer interval, because a 99th
        percentile needs at least 100 fsyncs.
      - With 0, reads the metrics once and returns the latencies since the member started.
    type: int
    default: 30
  fsync_p99_max_ms:
    description: Limit for the 99th percentile of WAL fsyncs, in milliseconds.
    type: float
    default: 10
  fsync_p99_warn_ms:
    description:
      - Above this many milliseconds RV(verdict) is V(ignore:warn). At most O(fsync_p99_max_ms).
      - Defaults to half of O(fsync_p99_max_ms).
    type: float
  commit_p99_max_ms:
    description: Limit for the 99th percentile of backend commits, in milliseconds.
    type: float
    default: 25
  commit_p99_warn_ms:
    description:
      - Above this many milliseconds RV(verdict) is V(ignore:warn). At most O(commit_p99_max_ms).
      - Defaults to O(commit_p99_max_ms), which means never, because commits of many keys are slow on any disk.
    type: float
  request_timeout:
    description: Time limit of one reading, in seconds.
    type: float
    default: 3.0
extends_documentation_fragment:
  - etcdops.headroom.etcdctl.tls
attributes:
  check_mode:
    description: Can run in check mode, with the same result.
    support: full
  diff_mode:
    description: Changes nothing.
    support: none
  platform:
    description: Any host that can reach the member.
    support: full
    platforms: posix
notes:
  - etcd counts latencies in buckets that end at 1 ms, 2 ms, 4 ms and so on. A percentile is interpolated within its bucket, as in Prometheus.
seealso:
  - module: etcdops.headroom.etcd_disk_check
  - name: Hardware recommendations of etcd
    description: What etcd requires of disks, and why.
    link: https://etcd.io/docs/latest/op-guide/hardware/
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: Measure the disk latency under the current load
  etcdops.headroom.etcd_disk_live_info:
    interval: 60
  register: disk

- name: Assert that the disk is fast enough
  ansible.builtin.assert:
    that: disk.verdict != 'fail'
    fail_msg: "{{ disk.msg }}"

- name: Measure the latency since the member started, through metrics without TLS
  etcdops.headroom.etcd_disk_live_info:
    endpoint: http://127.0.0.1:2381
    interval: 0
"""

RETURN = r"""
verdict:
  description:
    - V(ignore:ok), V(ignore:warn), V(ignore:fail), or V(ignore:unknown) with fewer than 100 WAL fsyncs.
    - Warns above the warning limits, and if applies were slow or the leader changed during the interval.
  type: str
  returned: always
  sample: ok
msg:
  description: The verdict with the measured latencies and their limits.
  type: str
  returned: always
  sample: >-
    https://127.0.0.1:2379 in 30 s: 99 % of 5231 WAL fsyncs took at most about 3.10 ms (in the bucket up to 4.00 ms), the limit is 10 ms;
    99 % of 287 backend commits took at most about 7.40 ms (in the bucket up to 8.00 ms), the limit is 25 ms; slow applies: 0, leader changes: 0.
    Fast enough.
endpoint:
  description: URL of the member.
  type: str
  returned: always
  sample: https://127.0.0.1:2379
seconds:
  description: Seconds between the readings, or, with O(interval=0), since the member started; 0 if that is unknown.
  type: float
  returned: always
  sample: 30.01
wal_fsync:
  description: Latencies of the write-ahead log's fsyncs.
  type: dict
  returned: always
  contains:
    samples:
      description: Number of fsyncs.
      type: int
      sample: 5231
    p50_us:
      description: Median in microseconds, null without fsyncs.
      type: int
      sample: 640
    p99_us:
      description: 99th percentile in microseconds, null without fsyncs.
      type: int
      sample: 3100
    p99_from_us:
      description: Lower bound of the 99th percentile's bucket, in microseconds.
      type: int
      sample: 2000
    p99_to_us:
      description: Upper bound of that bucket in microseconds, null for the infinite bucket.
      type: int
      sample: 4000
    limit_us:
      description: Limit for the 99th percentile in microseconds.
      type: int
      sample: 10000
    warn_us:
      description: Warns above this many microseconds.
      type: int
      sample: 5000
backend_commit:
  description: Latencies of the database's commits, with the same keys as RV(wal_fsync).
  type: dict
  returned: always
  sample: {samples: 287, p50_us: 3100, p99_us: 7400, p99_from_us: 4000, p99_to_us: 8000, limit_us: 25000, warn_us: 25000}
slow_applies:
  description: Number of applies that took longer than etcd expects, 100 ms by default.
  type: int
  returned: always
  sample: 0
leader_changes:
  description: Number of leader changes that the member saw, including the election after its start.
  type: int
  returned: always
  sample: 0
"""

import time
from typing import Any
from urllib.parse import urlsplit

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import http_api
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import CONNECTION_ARGUMENTS
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import live_latency, verdict

MAX_INTERVAL = 600
TLS_FILES = ("ca_cert", "client_cert", "client_key")


def check_readable(name: str, path: str) -> None:
    """Raise ValueError with the option's name if its file cannot be read; TLS libraries do not name the file."""
    try:
        with open(path, "rb"):
            return
    except OSError as problem:
        raise ValueError(
            f"{name} is {path}, which cannot be read ({problem.strerror}): become root (become: true), or correct "
            "the path."
        ) from problem


def connection(params: dict[str, Any]) -> Connection:
    """Return how to connect to the member. Raises ValueError for an invalid option or an unreadable file."""
    endpoint = params["endpoint"]
    try:
        parts = urlsplit(endpoint)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise ValueError(f"endpoint is {endpoint!r}; write it like https://127.0.0.1:2379")
    if not 0 <= params["interval"] <= MAX_INTERVAL:
        raise ValueError(f"interval is {params['interval']}, but must be 0 to {MAX_INTERVAL} seconds, for example 30.")
    if not 0 < params["request_timeout"] <= MAX_INTERVAL:
        raise ValueError(
            f"request_timeout is {params['request_timeout']}, but must be above 0 and at most {MAX_INTERVAL} seconds."
        )
    files = {name: params[name] or None for name in TLS_FILES}
    for name, path in files.items():
        if path and parts.scheme == "https":
            check_readable(name, path)
    return Connection(etcdctl_path="", timeout=params["request_timeout"], **files)


def read_metrics(link: Connection, endpoint: str) -> live_latency.Metrics:
    """Read the member's metrics once. Raises ValueError if they are not etcd's."""
    try:
        return live_latency.parse_metrics(http_api.fetch_metrics(link, endpoint))
    except live_latency.MetricsError as problem:
        raise ValueError(f"{endpoint}/metrics: {problem}") from problem


def observe(params: dict[str, Any]) -> dict[str, Any]:
    """Return the module's result. Raises ValueError if no verdict can be given."""
    endpoint, interval = params["endpoint"].rstrip("/"), params["interval"]
    fsync = verdict.parse_limits(params["fsync_p99_max_ms"], params["fsync_p99_warn_ms"])
    commit_max, commit_warn = params["commit_p99_max_ms"], params["commit_p99_warn_ms"]
    commit = verdict.parse_limits(commit_max, commit_max if commit_warn is None else commit_warn, "commit")
    link = connection(params)
    first = read_metrics(link, endpoint)
    began = time.monotonic()
    if interval:
        time.sleep(interval)
        between = time.monotonic() - began
        try:
            live = live_latency.latency_between(first, read_metrics(link, endpoint), between)
        except live_latency.MetricsError as problem:
            raise ValueError(f"{endpoint}: {problem}") from problem
    else:
        live = live_latency.latency_since_start(first, time.time())
    return live_latency.as_result(live, fsync, commit, endpoint)


def main() -> None:
    """Read the metrics twice and compare the latencies with their limits."""
    module = AnsibleModule(
        argument_spec={
            "endpoint": {"type": "str", "default": "https://127.0.0.1:2379"},
            "interval": {"type": "int", "default": 30},
            "fsync_p99_max_ms": {"type": "float", "default": 10},
            "fsync_p99_warn_ms": {"type": "float"},
            "commit_p99_max_ms": {"type": "float", "default": 25},
            "commit_p99_warn_ms": {"type": "float"},
            **{name: CONNECTION_ARGUMENTS[name] for name in (*TLS_FILES, "request_timeout")},
        },
        supports_check_mode=True,
    )
    try:
        result = observe(module.params)
    except ValueError as problem:
        module.fail_json(msg=str(problem))
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()
