# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the restore drill from the timer of each host, with the newest backup on that host.

The cluster is only read, so no lock is needed. A host without backups of the cluster skips the drill. Of hosts that share a
directory the first one runs it for all, because the result is stored beside the backup.

``backup_bad`` in a record says whether the backup is damaged, cannot be restored, or contradicts its records or the cluster. A
drill that could not be carried out has no such entry.
"""

from __future__ import annotations

import os
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._backup import drill as backup_drill
from ansible_collections.etcdops.headroom.plugins.module_utils._backup import scratch_folder, store
from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.configuration import Config, role_variable


def run(config: Config, check: bool) -> dict[str, Any]:
    """Run the drill with the newest backup. Returns the record. Raises ValueError if the drill cannot be carried out."""
    try:
        record = _run(config, check)
    except backup_drill.BadBackupError as error:
        return {"result": "failed", "reason": str(error), "settled": False, "backup_bad": True}
    except backup_drill.MissingKeyError as error:
        return _skipped(f"{error}; run etcd_restore_drill with it on a host that has the key")
    return {**record, "backup_bad": False} if record["settled"] else record


def _run(config: Config, check: bool) -> dict[str, Any]:
    request, tools = _request(config), _tools(config)
    if os.path.isdir(request.directory) and not store.scan_directory(request.directory, request.prefix):
        return {**_skipped(f"there is no backup in {request.directory} on this host"), "backup_bad": False}
    try:
        planned = backup_drill.plan_drill(request, tools, config.endpoints)
    except backup_drill.NoBackupError as error:
        # After a restore the cluster has another id. Another host takes its backups.
        return {**_skipped(str(error)), "backup_bad": False}
    if planned.abandoned and not check:
        # Before the check below: if another host always drills first, this one never runs a drill again.
        scratch_folder.remove_abandoned(request.scratch_dir)
    if os.path.exists(planned.path + store.DRILL):
        return {
            "result": "skipped",
            "reason": f"{planned.path} already passed its drill",
            "settled": True,
            "path": planned.path,
        }
    if check:
        comparison = f" and compared with {planned.member.name}" if planned.member else ""
        removal = (
            f"; {', '.join(planned.abandoned)}, left by a killed drill, would be removed" if planned.abandoned else ""
        )
        would = _skipped(
            f"{planned.path} would be restored in {request.scratch_dir}, using "
            f"{format_size(planned.needed)}{comparison}{removal}"
        )
        return {**would, "would": True, "path": planned.path}
    report = backup_drill.run_drill(request, tools, config.endpoints)
    finding = report.finding.as_dict()
    finding.pop("sentence")
    return {
        "result": "done",
        "reason": report.reason,
        "settled": True,
        "path": report.plan.path,
        "restored_seconds": round(report.seconds, 3),
        **finding,
    }


def _skipped(reason: str) -> dict[str, Any]:
    return {"result": "skipped", "reason": reason, "settled": False}


def _request(config: Config) -> backup_drill.Request:
    return backup_drill.Request(
        directory=config.snapshot.directory,
        prefix=config.snapshot.prefix,
        path="",
        scratch_dir=config.drill.scratch_dir,
        memory_max=config.drill.memory_max,
        reserve=config.snapshot.reserve,
        timeout=config.drill.timeout,
        timeout_option=role_variable("drill", "timeout"),
        live=True,
    )


def _tools(config: Config) -> backup_drill.Tools:
    return backup_drill.Tools(config.connection, backup_drill.etcd_next_to(config.etcdutl_path), config.etcdutl_path)
