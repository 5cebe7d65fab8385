# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A filter over what etcd_cluster_info returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

# Ansible loads every filter of a collection in each process that uses one of them, so each imports what it needs when it is called.


def etcd_quota_problem(info: Mapping[str, Any], quota: int) -> str:
    """Return why a cluster must not get a lower quota; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._etcd import quota as etcd_quota
    from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.settings import QUOTA

    members = (info.get("cluster") or {}).get("members") or []
    own = ((info.get("process") or {}).get("settings") or {}).get(QUOTA)
    # Of this host's member only: members may have different quotas, and each host is checked.
    status = next((member.get("db_quota") for member in members if member["name"] == info.get("member")), None)
    running = status if own is None else own
    sizes = {member["name"]: member["db_size"] for member in members if member.get("db_size")}
    return etcd_quota.lowered_quota_problem(quota, running, sizes)


class FilterModule:
    """The filter of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filter by its name."""
        return {"etcd_quota_problem": etcd_quota_problem}
