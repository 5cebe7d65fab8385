# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filters of role etcd_maintenance."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

# Ansible loads every filter of a collection in each process that uses one of them, so each imports what it needs when it is called.


def etcd_maintenance_messages(settings: Mapping[str, Any], host: Mapping[str, Any], backups: bool) -> dict[str, Any]:
    """Return what the report shows of the maintenance; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.plugin_utils._report import maintenance

    return {
        "warnings": maintenance.warnings(settings, backups=backups),
        "notes": maintenance.notes(settings),
        "records": maintenance.records(settings, host),
    }


def etcd_differing_timers(timers: Mapping[str, Mapping[str, Any]], wanted: Mapping[str, bool]) -> list[str]:
    """Return the timers that must change; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import timer_changes

    try:
        return timer_changes.differing_timers(wanted, timers)
    except ValueError as error:
        raise AnsibleFilterError(f"etcd_differing_timers: {error}") from error


def etcd_maintains_removed_member(config: str, removed: Collection[str], clusters: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether a host's maintenance is that of a removed member; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import retirement

    return retirement.maintains_removed_member(config, removed, clusters)


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters by name."""
        return {
            "etcd_maintenance_messages": etcd_maintenance_messages,
            "etcd_differing_timers": etcd_differing_timers,
            "etcd_maintains_removed_member": etcd_maintains_removed_member,
        }
