# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recognize documents of Ansible that say little about etcd themselves: playbooks that start its service, and examples of inventories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_MODULES = {
    f"{collection}{name}"
    for collection in ("", "ansible.builtin.")
    for name in ("systemd", "systemd_service", "service", "sysvinit")
}
_UNITS = ("etcd", "etcd.service")


def starts_etcd(documents: list[Any]) -> bool:
    """Tell whether a playbook, or the tasks of a role, start etcd as a service."""
    return any(_starts(task) for document in documents if isinstance(document, list) for task in _tasks(document))


def is_inventory(documents: list[Any]) -> bool:
    """Tell whether documents have the form of a YAML inventory: groups with hosts or further groups."""
    groups = [group for document in documents if isinstance(document, dict) for group in document.values()]
    return any(isinstance(group, dict) and group.keys() & {"hosts", "children"} for group in groups)


def _tasks(value: Any) -> Iterator[dict[str, Any]]:
    """Return all maps below a value: plays, blocks and tasks among them."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            yield item
        pending += item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()


def _starts(task: dict[str, Any]) -> bool:
    options: dict[str, Any] = next((task[name] for name in _MODULES if isinstance(task.get(name), dict)), {})
    wanted = options.get("state") in ("started", "restarted", "reloaded") or options.get("enabled") in (True, "yes")
    return wanted and options.get("name") in _UNITS
