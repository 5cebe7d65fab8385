#!/usr/bin/python
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask a running member of etcd how fast its disk is."""

from __future__ import annotations

DOCUMENTATION = r"""
module: etcd_disk_live_info
short_description: Ask a running etcd member how fast its disk is
version_added: 0.2.0
description:
  - Reads a member's metrics twice and returns how long its WAL fsyncs and backend commits took in between, how many applies were slow and how
    often the leader changed. Nothing is written.
  - Compares the 99th percentiles with limits. etcd's documentation asks for less than 10 ms of WAL fsyncs and less than 25 ms of backend commits.
  - A disk that is slow is a result, not a failure.
options:
  endpoint:
    description: The member's client URL, or one of its C(listen-metrics-urls).
    type: str
    default: https://127.0.0.1:2379
  interval:
    description:
      - Seconds between the two readings, 0 to 600. A member with few writes needs longer, since 100 fsyncs are the least that have a 99th
        percentile.
      - With 0 the metrics are read once and tell of all the time since the member started.
    type: int
    default: 30
  fsync_p99_max_ms:
    description: The limit of the 99th percentile of WAL fsyncs, in milliseconds.
    type: float
    default: 10
  fsync_p99_warn_ms:
    description:
      - Above this many milliseconds RV(verdict) is V(ignore:warn). Not above O(fsync_p99_max_ms).
      - The default is half of O(fsync_p99_max_ms).
    type: float
  commit_p99_max_ms:
    description: The limit of the 99th percentile of backend commits, in milliseconds.
    type: float
    default: 25
  commit_p99_warn_ms:
    description:
      - Above this many milliseconds RV(verdict) is V(ignore:warn). Not above O(commit_p99_max_ms).
      - The default is O(commit_p99_max_ms), which means never, because commits of many keys are slow on any disk.
    type: float
  request_timeout:
    description: Seconds that one reading may take.
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
    description: Any that can reach the member.
    support: full
    platforms: posix
notes:
  - etcd counts latencies in buckets that end at 1 ms, 2 ms, 4 ms and so on. A percentile is interpolated in its bucket, as Prometheus does it.
seealso:
  - module: etcdops.headroom.etcd_disk_check
  - name: Hardware recommendations of etcd
    description: What etcd asks of disks, and why.
    link: https://etcd.io/docs/latest/op-guide/hardware/
author:
  - Headroom contributors (@etcdops)
"""

EXAMPLES = r"""
- name: How fast is the disk under today's load?
  etcdops.headroom.etcd_disk_live_info:
    interval: 60
  register: disk

- name: Stop if it is too slow
  ansible.builtin.assert:
    that: disk.verdict != 'fail'
    fail_msg: "{{ disk.msg }}"

- name: Since the member started, from metrics that are served without TLS
  etcdops.headroom.etcd_disk_live_info:
    endpoint: http://127.0.0.1:2381
    interval: 0
"""

RETURN = r"""
verdict:
  description:
    - V(ignore:ok), V(ignore:warn), V(ignore:fail), or V(ignore:unknown) if there were fewer than 100 WAL fsyncs.
    - It warns above the limits made for that, and of slow applies and leader changes in the interval.
  type: str
  returned: always
  sample: ok
msg:
  description: The verdict in words, with the figures it rests on.
  type: str
  returned: always
  sample: >-
    https://127.0.0.1:2379 in 30 s: 99 % of 5231 WAL fsyncs took at most about 3.10 ms (in the bucket up to 4.00 ms), the limit is 10 ms;
    99 % of 287 backend commits took at most about 7.40 ms (in the bucket up to 8.00 ms), the limit is 25 ms; slow applies: 0, leader changes: 0.
    Fast enough.
endpoint:
  description: The URL that was asked.
  type: str
  returned: always
  sample: https://127.0.0.1:2379
seconds:
  description: The time between the readings, or, with O(interval=0), since the member started; 0 if it does not say when.
  type: float
  returned: always
  sample: 30.01
wal_fsync:
  description: How long fsyncs of the write-ahead log took.
  type: dict
  returned: always
  contains:
    samples:
      description: How many there were.
      type: int
      sample: 5231
    p50_us:
      description: Their median in microseconds, null if there were none.
      type: int
      sample: 640
    p99_us:
      description: Their 99th percentile in microseconds, null if there were none.
      type: int
      sample: 3100
    p99_from_us:
      description: Where the bucket of the 99th percentile begins, in microseconds.
      type: int
      sample: 2000
    p99_to_us:
      description: Where it ends, null for the one without an end.
      type: int
      sample: 4000
    limit_us:
      description: The limit of the 99th percentile in microseconds.
      type: int
      sample: 10000
    warn_us:
      description: Above this many microseconds it warns.
      type: int
      sample: 5000
backend_commit:
  description: How long commits of the database took, with the same keys as RV(wal_fsync).
  type: dict
  returned: always
  sample: {samples: 287, p50_us: 3100, p99_us: 7400, p99_from_us: 4000, p99_to_us: 8000, limit_us: 25000, warn_us: 25000}
slow_applies:
  description: Applies that took longer than etcd expects, 100 ms unless told otherwise.
  type: int
  returned: always
  sample: 0
leader_changes:
  description: Leader changes that the member saw. The first election after a start is one.
  type: int
  returned: always
  sample: 0
"""

import time
from dataclasses import asdict
from typing import Any
from urllib.parse import urlsplit

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import http_api
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.connection import CONNECTION_ARGUMENTS
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection
from ansible_collections.etcdops.headroom.plugins.module_utils._storage import fio, live_latency

MAX_INTERVAL = 600
TLS_FILES = ("ca_cert", "client_cert", "client_key")


def check_readable(name: str, path: str) -> None:
    """Raise ValueError with the option's name if its file cannot be read; TLS libraries do not say which it was."""
    try:
        with open(path, "rb"):
            return
    except OSError as problem:
        raise ValueError(
            f"{name} is {path}, which cannot be read ({problem.strerror}): become root (become: true), or name the "
            "right file."
        ) from problem


def connection(asked: dict[str, Any]) -> Connection:
    """How to reach the member. Raises ValueError if the options cannot be right or a file cannot be read."""
    endpoint = asked["endpoint"]
    try:
        parts = urlsplit(endpoint)
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        right = False
    if not right:
        raise ValueError(f"endpoint is {endpoint!r}; write it like https://127.0.0.1:2379")
    if not 0 <= asked["interval"] <= MAX_INTERVAL:
        raise ValueError(f"interval is {asked['interval']}, but must be 0 to {MAX_INTERVAL} seconds, for example 30.")
    if not 0 < asked["request_timeout"] <= MAX_INTERVAL:
        raise ValueError(
            f"request_timeout is {asked['request_timeout']}, but must be above 0 and at most {MAX_INTERVAL} seconds."
        )
    files = {name: asked[name] or None for name in TLS_FILES}
    for name, path in files.items():
        if path and parts.scheme == "https":
            check_readable(name, path)
    return Connection(etcdctl_path="", timeout=asked["request_timeout"], **files)


def read(link: Connection, endpoint: str) -> live_latency.Page:
    """One reading of the member's metrics. Raises ValueError if it gives none that are etcd's."""
    try:
        return live_latency.parse(http_api.fetch_metrics(link, endpoint))
    except live_latency.MetricsError as problem:
        raise ValueError(f"{endpoint}/metrics: {problem}") from problem


def observe(asked: dict[str, Any]) -> dict[str, Any]:
    """The module's result. Raises ValueError with one message if no verdict can be given."""
    endpoint, interval = asked["endpoint"].rstrip("/"), asked["interval"]
    fsync = fio.limits(asked["fsync_p99_max_ms"], asked["fsync_p99_warn_ms"])
    commit_max, commit_warn = asked["commit_p99_max_ms"], asked["commit_p99_warn_ms"]
    commit = fio.limits(commit_max, commit_max if commit_warn is None else commit_warn, "commit")
    link = connection(asked)
    first = read(link, endpoint)
    began = time.monotonic()
    if interval:
        time.sleep(interval)
        between = time.monotonic() - began
        try:
            live = live_latency.since(first, read(link, endpoint), between)
        except live_latency.MetricsError as problem:
            raise ValueError(f"{endpoint}: {problem}") from problem
    else:
        live = live_latency.since_start(first, time.time())
    verdict, sentence = live_latency.judge(live, fsync, commit, endpoint)
    return {
        "verdict": verdict,
        "msg": sentence,
        "endpoint": endpoint,
        "seconds": round(live.seconds, 2),
        "wal_fsync": {**asdict(live.wal_fsync), "limit_us": fsync.fail_us, "warn_us": fsync.warn_us},
        "backend_commit": {**asdict(live.backend_commit), "limit_us": commit.fail_us, "warn_us": commit.warn_us},
        "slow_applies": live.slow_applies,
        "leader_changes": live.leader_changes,
    }


def main() -> None:
    """Read, wait, read again, and say whether it is good enough."""
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
