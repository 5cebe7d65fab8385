# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role's time limit for a benchmark of a disk, which repeats figures of the module that runs it."""

from __future__ import annotations

from pathlib import Path

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
