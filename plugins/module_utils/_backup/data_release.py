# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare the release of etcd's program with that of a member's data. Private to the collection.

etcd does not start on the data of a cluster with a newer minor release: ``mustDetectDowngrade`` in server/etcdserver/api/membership. The cluster's
version is in the database: ``mustSaveClusterVersionToBackend`` there, 3.5 to 3.7.
"""

from __future__ import annotations

import re

from ansible_collections.etcdops.headroom.plugins.module_utils._base.processes import run_process
from ansible_collections.etcdops.headroom.plugins.module_utils._base.versions import minor, minor_key
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import bbolt

_BUCKET, _KEY = b"cluster", b"clusterVersion"
_PROGRAM = re.compile(r"^etcd Version: (\S+)$", re.MULTILINE)
# A program on a slow disk has to be read first.
_TIMEOUT = 60.0


def read_cluster_version(database: str) -> str:
    """Return the version of the cluster that wrote a database; empty if it is unknown, as in a database that cannot be read."""
    try:
        with open(database, "rb", buffering=0) as stream:
            found = [item.value for item in bbolt.items(stream, bbolt.newest_meta(stream), _BUCKET) if item.key == _KEY]
    except (OSError, ValueError):  # the rescue reports it
        return ""
    return found[0].decode("utf-8", "replace") if found else ""


def read_program_version(etcd_path: str) -> str:
    """Return the version of etcd's program; empty if it is unknown."""
    try:
        answer = run_process([etcd_path, "--version"], _TIMEOUT)
    except OSError:
        return ""
    found = _PROGRAM.search(answer.stdout)
    return found.group(1) if found else ""


def release_problem(database: str, etcd_path: str) -> str:
    """Return why etcd would not start on the data; empty if it would, or if a version is unknown."""
    needed = read_cluster_version(database)
    found = read_program_version(etcd_path) if needed else ""
    if not (minor_key(needed) and minor_key(found) and minor_key(found) < minor_key(needed)):
        return ""
    return (
        f"{etcd_path} is etcd {found}, but {database} is of a cluster of version {needed}, and etcd does not start on the data of a newer minor "
        f"release: put etcd, etcdctl and etcdutl of release {minor(needed)} there"
    )
