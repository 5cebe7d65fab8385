# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filters of the playbook audit, over the hosts that it inspected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

# Ansible loads every filter of a collection in each process that uses one of them, so each imports what it needs when it is called.


def etcd_unread_hosts(inspected: Mapping[str, Mapping[str, Any] | None]) -> dict[str, str]:
    """Return why hosts have no process; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.plugin_utils._report import inspected_hosts

    return inspected_hosts.unread_hosts(inspected)


def etcd_endpoint_problem(processes: Sequence[Mapping[str, Any]]) -> str:
    """Return why processes advertise no endpoints; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.plugin_utils._report import inspected_hosts

    return inspected_hosts.endpoint_problem(processes)


def etcd_other_processes(processes: Sequence[Mapping[str, Any]], members: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the processes of other clusters; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.plugin_utils._report import inspected_hosts

    return inspected_hosts.other_processes(processes, members)


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters by name."""
        return {
            "etcd_unread_hosts": etcd_unread_hosts,
            "etcd_endpoint_problem": etcd_endpoint_problem,
            "etcd_other_processes": etcd_other_processes,
        }
