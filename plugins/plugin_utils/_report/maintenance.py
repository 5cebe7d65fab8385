# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the messages of the maintenance for the report: what is off, what the timers do, and their last runs. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# In the order of the report.
OPERATIONS = ("snapshot", "drill", "defrag", "integrity")

# As role etcd_maintenance configures the program: with values as in the inventory, such as 100MB.
Settings = Mapping[str, Any]


def warnings(settings: Settings, *, backups: bool) -> list[str]:
    """Return warnings about operations that are off. backups: whether the user wants backups, which need a directory as well."""
    found = []
    if not settings["defrag"]["enabled"]:
        found.append("the databases are not defragmented (etcd_maintenance_defrag_enabled is false).")
    if backups and not settings["snapshot"]["directory"]:
        found.append(
            "no backups are taken: set etcd_maintenance_backup_dir to a directory on each host, preferably on another volume than the data."
        )
    return found


def notes(settings: Settings) -> list[str]:
    """Return what the timers do, and when."""
    defrag, snapshot, drill = settings["defrag"], settings["snapshot"], settings["drill"]
    found = []
    if defrag["enabled"]:
        # A daily expression is also shown in words.
        when = re.sub(r"^\*-\*-\* ([0-9]{2}:[0-9]{2})$", r"daily at \1 (*-*-* \1)", defrag["calendar"])
        found.append(
            f"each database is defragmented, one member at a time, when {defrag['free_share']} % and {defrag['free_size']} of it are free; checked {when}."
        )
    if snapshot["enabled"]:
        bucket = f" and the bucket {snapshot['bucket']['name']}" if snapshot["bucket"]["name"] else ""
        drills = f"; drills: {drill['calendar']}" if drill["enabled"] else ""
        found.append(
            f"backups: {snapshot['calendar']} into {snapshot['directory']}{bucket}; each host keeps {snapshot['keep']}{drills}."
        )
    return found


def records(settings: Settings, host: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the last record of each operation that has a timer, as it was before this run; empty if it has not run.

    host: what etcd_host_info returns. Each record also has the ``failure`` of the service, which may fail without a record, and for backups the
    ``interval``, in seconds between two runs.
    """
    known = (host.get("etcd") or {}).get("maintenance") or {}
    maintenance = host["maintenance"]
    found = {}
    for name in OPERATIONS:
        if settings[name]["enabled"]:
            failure = (maintenance["timers"].get(f"headroom-{name}.timer") or {}).get("failure")
            interval = (maintenance.get("intervals") or {}).get(name)
            added = {"failure": failure, "interval": interval}
            found[name] = {**(known.get(name) or {}), **{key: value for key, value in added.items() if value}}
    return found
