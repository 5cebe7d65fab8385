# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Survey the keys in a snapshot file, through a temporary member that no client can reach."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._audit.access import MeasureError, Timing, count_leases
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.census import (
    Request,
    check_request,
    new_budget,
    read_prefixes,
    result_of,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._audit.pages import Reader
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import drill
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import scratch_member as scratch
from ansible_collections.etcdops.headroom.plugins.module_utils._backup.scratch_folder import OVERHEAD, scratch_folder
from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import program_problem
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import parse_status, run_etcdctl

# Requests to the temporary member may take this long: it has the lowest priority of all.
_SECONDS = 60.0


@dataclass(frozen=True)
class Snapshot:
    """A snapshot file, and the tools and limits for reading it. ``memory_max`` in bytes, ``timeout`` in seconds for all of it."""

    path: str
    scratch_dir: str
    memory_max: int
    timeout: int
    etcd_path: str
    etcdutl_path: str
    etcdctl_path: str


def survey_snapshot(snapshot: Snapshot, request: Request, timing: Timing) -> dict[str, Any]:
    """Return the result of etcd_keyspace_info for a snapshot. Raises MeasureError and EtcdctlError."""
    check_request(request)
    _check(snapshot)
    limits = scratch.Limits(snapshot.memory_max, snapshot.timeout)
    needed = 2 * os.path.getsize(snapshot.path) + OVERHEAD
    try:
        with scratch_folder(snapshot.scratch_dir, needed) as folder:
            data = drill.restore_copy(snapshot.path, folder, snapshot.etcdutl_path, limits)
            with scratch.run_member(snapshot.etcd_path, snapshot.etcdctl_path, folder, data, limits) as url:
                return _survey(snapshot, url, request, timing)
    except scratch.ScratchMemberError as error:
        raise MeasureError(f"{snapshot.path}: {error}") from error


def _survey(snapshot: Snapshot, url: str, request: Request, timing: Timing) -> dict[str, Any]:
    link = scratch.connection(snapshot.etcdctl_path, _SECONDS)
    answer = run_etcdctl(link, [url], "endpoint", "status")
    status = next(iter(parse_status(answer.stdout or "null").values()), None)
    sizes = (status.db_size, status.db_size_in_use) if status else (None, None)
    budget = new_budget(request, sizes[1] or 0, 0, timing)
    reading = read_prefixes(Reader(link, url), request, budget)
    return result_of(reading, budget, request, sizes, count_leases(link, url, ""), "the snapshot")


def _check(snapshot: Snapshot) -> None:
    if not os.path.isfile(snapshot.path):
        raise MeasureError(f"snapshot {snapshot.path} is not a file on this host; correct the path")
    if not os.access(snapshot.path, os.R_OK):
        raise MeasureError(
            f"snapshot {snapshot.path} is not readable for user {os.geteuid()}; run as its owner, or as root"
        )
    problem = scratch.memory_problem(snapshot.memory_max)
    if problem:
        raise MeasureError(problem)
    if snapshot.timeout < 1:
        raise MeasureError(f"timeout is {snapshot.timeout} s, but must be at least 1 s; 1800 is the default")
    problem = program_problem(snapshot.etcd_path, "etcd") or program_problem(snapshot.etcdutl_path, "etcdutl")
    if problem:
        raise MeasureError(problem)
