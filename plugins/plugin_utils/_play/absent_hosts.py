# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the hosts of the inventory that belong to the clusters of a run, but not to the run. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._play.host_variables import value_of

Variables = Mapping[str, Any]
# The default of etcd_group.
DEFAULT_GROUP = "etcd"


def absent_hosts(
    present: Sequence[str], hostvars: Mapping[str, Variables], groups: Mapping[str, Sequence[str]]
) -> list[dict[str, str]]:
    """Return the hosts (``host``, ``cluster``) of the groups of a run that are not among its hosts.

    Each host may have an etcd_group of its own. ``_etcd_member_group`` and ``etcd_member`` are facts of the hosts of the run: their group and cluster
    as the run computed them. For a host outside the run, hostvars may lack the variables that its group and its cluster are computed from, so this
    assumes those of a host of the run with the same values in hostvars, the first of several.
    """
    group_of: dict[str, str] = {}
    cluster_of: dict[tuple[str, str], str] = {}
    for host in present:
        own = hostvars[host]
        group = own["_etcd_member_group"]
        group_of.setdefault(_group(own), group)
        cluster_of.setdefault((group, str(value_of(own, "etcd_cluster_name", group))), own["etcd_member"]["cluster"])
    found = []
    of_run = set(present)
    for group in dict.fromkeys(group_of.values()):
        for host in groups.get(group, []):
            if host not in of_run and group_of.get(_group(hostvars[host]), _group(hostvars[host])) == group:
                name = value_of(hostvars[host], "etcd_cluster_name", group)
                found.append({"host": host, "cluster": cluster_of.get((group, str(name)), name)})
    return found


def _group(variables: Variables) -> str:
    """Return the group as hostvars has it."""
    group: str = value_of(variables, "etcd_group", DEFAULT_GROUP)
    return group
