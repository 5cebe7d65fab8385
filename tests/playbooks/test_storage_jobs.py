# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The disks that role etcd_storage benchmarks, what it reports of them, and its time limit, which repeats figures of the module that runs it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._storage.disk_check import (
    GRACE_SECONDS,
    MAX_TIMEOUTS,
    wait_seconds,
)

from tests.playbooks.variables import evaluate


def test_a_benchmark_ends_by_itself_before_the_role_gives_up(tmp_path: Path) -> None:
    """It may first wait for another one on the host."""
    cases = {str(seconds): {"etcd_storage_check_seconds": seconds} for seconds in (1, 10, 300)}
    found = evaluate(tmp_path, "etcd_storage", "_etcd_storage_job_seconds | int", cases)
    for seconds, limit in found.items():
        longest = wait_seconds(int(seconds)) + MAX_TIMEOUTS * (int(seconds) + GRACE_SECONDS)
        assert longest < limit <= longest + 120, seconds


VOLUMES = [{"name": "data", "mount": "/var/lib/etcd"}, {"name": "wal", "mount": "/var/lib/etcd-wal"}]


def host(present: bool, *, verdict: str = "ok", **variables: Any) -> dict[str, Any]:
    """The variables of a host whose data volume was benchmarked yesterday, and whose other volume was not."""
    record = {"verdict": verdict, "measured_at": time.time() - 86400, "p99_us": 4000, "limit_us": 10000}
    return {
        "_etcd_storage_wanted": VOLUMES,
        "etcd_host_facts": {"member": {"present": present}, "disk_checks": {"/var/lib/etcd": record}},
        "etcd_storage_plan": {"unused_volume": ""},
        **variables,
    }


def test_benchmarked_volumes_and_their_latencies(tmp_path: Path) -> None:
    recorded, slow = {"p99_us": 4000, "limit_us": 10000}, {"p99_us": 12000, "limit_us": 10000}
    of_this_run = {"results": [{"item": {"item": VOLUMES[1]}, **slow}, {"item": {"item": VOLUMES[0]}}]}
    cases = {
        "new": (host(False), ["wal"], {"data": recorded}),
        "slow": (host(False, verdict="fail"), ["data", "wal"], {"data": recorded}),
        "accepted": (host(False, verdict="fail", etcd_storage_accept_slow_disk="yes"), ["wal"], {"data": recorded}),
        "member": (host(True, verdict="fail"), [], {"data": recorded}),
        "new_volume": (host(True, etcd_storage_plan={"unused_volume": "wal"}), ["wal"], {"data": recorded}),
        "judged": (host(False, _etcd_storage_judged=of_this_run), ["wal"], {"data": recorded, "wal": slow}),
        "check_mode": (host(False, _etcd_storage_judged={"skipped": True}), ["wal"], {"data": recorded}),
    }
    expression = "[_etcd_storage_unmeasured | map(attribute='name') | list, _etcd_storage_latencies]"
    found = evaluate(
        tmp_path, "etcd_storage", expression, {case: given for case, (given, _names, _us) in cases.items()}
    )
    assert found == {case: [names, latencies] for case, (_given, names, latencies) in cases.items()}


def test_volumes_that_systemd_knows_from_fstab(tmp_path: Path) -> None:
    """Their units are loaded again after their entry was corrected, before they are mounted."""
    mounts = {"/var/lib/etcd": {"fstab": {"source": "UUID=0d7e"}}, "/var/lib/etcd-wal": {"fstab": None}}
    cases = {
        name: {
            "etcd_host_facts": {"mounts": mounts},
            "etcd_storage_plan": {"volumes": [{**volume, "mounted": mounted} for volume in VOLUMES]},
        }
        for name, mounted in {"not_mounted": False, "mounted": True}.items()
    }
    expression = (
        "[_etcd_storage_known_to_systemd, _etcd_storage_unmounted] | map('map', attribute='name') | map('list') | list"
    )
    found = evaluate(tmp_path, "etcd_storage", expression, cases)
    assert found == {"not_mounted": [["data"], ["data", "wal"]], "mounted": [[], []]}
