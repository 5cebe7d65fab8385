# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recognize documents of Ansible that say little about etcd themselves: playbooks that start its service or its containers, and examples of inventories."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader import member
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents.ansible_yaml import maps_below
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell import install
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.command_line import find_etcd, split_words

_MODULES = {
    f"{collection}{name}"
    for collection in ("", "ansible.builtin.")
    for name in ("systemd", "systemd_service", "service", "sysvinit")
}
_FILES = {f"{collection}{name}" for collection in ("", "ansible.builtin.") for name in ("copy", "file")}
_ROLES = {f"{collection}{name}" for collection in ("", "ansible.builtin.") for name in ("include_role", "import_role")}
# A role that installs etcd; others back it up or only install etcdctl.
_ROLE = re.compile(r"(?:^|[/._-])etcd\d?(?:[-_](?:cluster|install|member|node|server|setup))?$")
_UNITS = ("etcd", "etcd.service")
_CONTAINERS = (
    *("docker_container", "community.docker.docker_container", "community.general.docker_container"),
    *("podman_container", "containers.podman.podman_container"),
)


def starts_etcd(documents: list[Any]) -> bool:
    """Return whether a playbook, or the tasks of a role, start etcd as a service, install its program, or apply a role that does."""
    tasks = [task for document in documents if isinstance(document, list) for task in maps_below(document)]
    return any(_starts(task) or _installs(task) or _applies(task) for task in tasks) or install.of_tasks(documents)


def is_inventory(documents: list[Any]) -> bool:
    """Return whether documents have the form of a YAML inventory: groups with hosts or further groups."""
    groups = [group for document in documents if isinstance(document, dict) for group in document.values()]
    return any(isinstance(group, dict) and group.keys() & {"hosts", "children"} for group in groups)


def containers(documents: list[Any]) -> Iterator[dict[str, Any]]:
    """Return the members in containers that the tasks of playbooks and roles start."""
    for document in documents:
        for task in maps_below(document) if isinstance(document, list) else ():
            options = next((task[name] for name in _CONTAINERS if isinstance(task.get(name), dict)), None)
            command = find_etcd(_words(options)) if options and options.get("state") != "absent" else None
            if command is not None and command.image:
                files = command.environment_files
                unknown = {f"env_file: {path}": member.NOT_AMONG_THE_FILES for path in files}
                yield member.build("playbook", command, unknown=unknown)


def _words(options: dict[str, Any]) -> list[str]:
    """Return the command of docker or podman that a task stands for."""
    environment = options.get("env") if isinstance(options.get("env"), dict) else {}
    single = [("--memory", "memory"), ("--entrypoint", "entrypoint"), ("--env-file", "env_file")]
    command = options.get("command") or ""
    return [
        *("docker", "run"),
        *(word for name, value in (environment or {}).items() for word in ("-e", f"{name}={value}")),
        *(word for volume in listed(options.get("volumes")) for word in ("-v", volume)),
        *(word for option, name in single if options.get(name) for word in (option, " ".join(listed(options[name])))),
        str(options.get("image", "")),
        *(listed(command) if isinstance(command, list) else split_words(str(command))),
    ]


def listed(value: Any) -> list[str]:
    """Return a list's items, or a single value, as texts."""
    return [str(item) for item in value] if isinstance(value, list) else [str(value)] if value else []


def _starts(task: dict[str, Any]) -> bool:
    options = _options(task, _MODULES)
    wanted = options.get("state") in ("started", "restarted", "reloaded") or options.get("enabled") in (
        True,
        "yes",
        "true",
    )
    named = options.get("name", options.get("service"))
    names = _items(task) if re.fullmatch(r"\{\{\s*item\s*\}\}", str(named)) else [named]
    return wanted and any(name in _UNITS for name in names)


def _applies(play: dict[str, Any]) -> bool:
    """Return whether a play, or a task, applies a role for etcd."""
    listed_roles = play.get("roles")
    roles = listed_roles if isinstance(listed_roles, list) else []
    names = [role.get("role", role.get("name")) if isinstance(role, dict) else role for role in roles]
    names.append(_options(play, _ROLES).get("name"))
    return any(isinstance(name, str) and _ROLE.search(name) for name in names)


def _options(task: dict[str, Any], modules: Iterable[str]) -> dict[str, Any]:
    """Return the options of the first of these modules, also if they are written as one text."""
    found: Any = next((task[name] for name in modules if isinstance(task.get(name), (dict, str))), {})
    if isinstance(found, dict):
        return found
    pairs = (word.partition("=") for word in split_words(found))
    return {name: value for name, equals, value in pairs if equals}


def _items(task: dict[str, Any]) -> list[str]:
    return [item for name in ("loop", "with_items") for item in listed(task.get(name))]


def _installs(task: dict[str, Any]) -> bool:
    """Return whether a task copies or links the program, perhaps beside etcdctl."""
    source = str(_options(task, _FILES).get("src", ""))
    return source.endswith("/etcd") or (
        "etcd" in _items(task) and re.search(r"\{\{\s*item\s*\}\}$", source) is not None
    )
