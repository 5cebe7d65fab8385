# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters with which role etcd decides on a change of the release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

# Ansible loads every filter of a collection in each process that uses one of them, so each imports what it needs when it is called.


def etcd_newest_version(versions: Iterable[str]) -> str:
    """Return the newest version; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._base.versions import newest

    return newest(str(version) for version in versions)


def etcd_higher_members(started: Mapping[str, str], release: str) -> list[str]:
    """Return the members whose units start a higher minor version; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._release import blockers

    return blockers.higher_members(started, release)


def etcd_release_blockers(hosts: Iterable[tuple[str, list[str], list[str]]]) -> list[str]:
    """Join the obstacles that hosts found; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._release import blockers

    return blockers.cluster_blockers([blockers.HostBlockers(*found) for found in hosts])


def etcd_release_room(releases: Iterable[str], log_dir: str, install_dir: str) -> list[dict[str, Any]]:
    """Return the space that a change of the release needs; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._release import free_space

    return [vars(room) for room in free_space.release_rooms(releases, log_dir, install_dir)]


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters by name."""
        return {
            "etcd_newest_version": etcd_newest_version,
            "etcd_higher_members": etcd_higher_members,
            "etcd_release_blockers": etcd_release_blockers,
            "etcd_release_room": etcd_release_room,
        }
