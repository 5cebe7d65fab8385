# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Name the clusters with failed hosts, and the reasons. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any


def cluster_failures(
    clusters: Mapping[str, Mapping[str, Any]],
    failed: Collection[str],
    variables: Mapping[str, Mapping[str, Any]],
    results: Sequence[str],
) -> list[str]:
    """Return a text for each cluster with failed hosts: its name, those hosts, and what their tasks reported.

    clusters: as the filter etcd_topology returns them. failed: the hosts that failed. variables: of each host. results: the names of the variables that hold
    results of tasks. A host that could not be reached, or whose failed task has no result there, has only the message that Ansible printed.
    """
    found = []
    for cluster in sorted(clusters, key=str.lower):
        hosts = [host for host in clusters[cluster]["members"] if host in failed]
        if hosts:
            reasons = dict.fromkeys(reason for host in hosts for reason in _reasons(variables[host], results))
            found.append(f"cluster {cluster}, on {', '.join(hosts)}: {'; '.join(reasons) or 'see above'}")
    return found


def _reasons(variables: Mapping[str, Any], results: Sequence[str]) -> list[str]:
    """Return what the failed tasks of a host reported: a command on stderr, and a module in its message."""
    given = [variables.get(name) or {} for name in results]
    return [str(one.get("stderr") or one["msg"]).strip().removesuffix(".") for one in given if one.get("failed")]
