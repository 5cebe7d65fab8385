# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters over releases: which one is newer, what stands in the way of a change, and which steps it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

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


def etcd_upgrade_problem(running: str, target: str) -> str:
    """Return why a member must not go from one version to another; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._model import release_steps

    return release_steps.check_upgrade(running, target)


def etcd_upgrade_steps(running: list[str], target: str) -> list[str]:
    """Return the releases to run one after the other; documented in the YAML file of its name."""
    from ansible_collections.etcdops.headroom.plugins.module_utils._model import release_steps

    try:
        return release_steps.upgrade_steps(running, target)
    except ValueError as error:
        raise AnsibleFilterError(f"etcd_upgrade_steps: {error}") from error


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters by name."""
        return {
            "etcd_newest_version": etcd_newest_version,
            "etcd_higher_members": etcd_higher_members,
            "etcd_release_blockers": etcd_release_blockers,
            "etcd_release_room": etcd_release_room,
            "etcd_upgrade_problem": etcd_upgrade_problem,
            "etcd_upgrade_steps": etcd_upgrade_steps,
        }
