# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recognize documents of Ansible that say little about etcd themselves: playbooks that start its service, roles' variables, and examples of inventories."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader import install, member
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.command_line import (
    SERVER_FLAG,
    Command,
    find_etcd,
    split_words,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.environment import SERVER_VARIABLE
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.recognize import Text, has_server_keys
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.source import Line

_MODULES = {
    f"{collection}{name}"
    for collection in ("", "ansible.builtin.")
    for name in ("systemd", "systemd_service", "service", "sysvinit")
}
_FILES = {f"{collection}{name}" for collection in ("", "ansible.builtin.") for name in ("copy", "file")}
_GROUP_VARS = re.compile(r"(^|/)(group_vars|host_vars)/.*(\.(ya?ml|json)|/[^.]*)$")
# A key that is not indented. Puppet's have colons.
_KEY = re.compile(r"[\"']?([\w.:-]+?)[\"']?:(?=\s|$)")
# Keys of a map that describes etcd to a client.
_OF_CLIENTS = {"endpoint", "endpoints", "external", "host", "hosts", "servers", "url", "urls"}
_UNITS = ("etcd", "etcd.service")
_CONTAINERS = (
    *("docker_container", "community.docker.docker_container", "community.general.docker_container"),
    *("podman_container", "containers.podman.podman_container"),
)


def starts_etcd(documents: list[Any]) -> bool:
    """Tell whether a playbook, or the tasks of a role, start etcd as a service, or install its program."""
    tasks = [task for document in documents if isinstance(document, list) for task in _tasks(document)]
    return any(_starts(task) or _installs(task) for task in tasks) or install.of_tasks(documents)


def is_inventory(documents: list[Any]) -> bool:
    """Tell whether documents have the form of a YAML inventory: groups with hosts or further groups."""
    groups = [group for document in documents if isinstance(document, dict) for group in document.values()]
    return any(isinstance(group, dict) and group.keys() & {"hosts", "children"} for group in groups)


def role_members(release: tuple[str, Line] | None, documents: list[Any], file: Text) -> list[dict[str, Any]]:
    """Return the member that a role's variables describe, if no other file is linted: by a map of flags or variables, or by a release.

    The policies read the variables of groups and hosts.
    """
    names = {name for document in documents if isinstance(document, dict) for name in document}
    if _GROUP_VARS.search(file.path) or names & {"apiVersion", "kind", "services"} or is_inventory(documents):
        return []
    found = _settings(documents)
    sections = (document.get("etcd") for document in documents if isinstance(document, dict))
    of_client = any(isinstance(section, dict) and section.keys() & _OF_CLIENTS for section in sections)
    if found is None and not of_client and _is_variable(release, names, file.lines):
        found = member.elsewhere("variables")
    return [found] if found else []


def _is_variable(release: tuple[str, Line] | None, names: set[Any], lines: Iterable[Line]) -> bool:
    """Tell whether a release is the value of one of the variables, or of a map called etcd."""
    if release is None:
        return False
    own = _KEY.match(release[1].text)
    outer = [found[1] for line in lines if line.number <= release[1].number and (found := _KEY.match(line.text))]
    return own[1] in names if own else [name.lower() for name in outer[-1:]] == ["etcd"]


def _settings(documents: list[Any]) -> dict[str, Any] | None:
    """Return the member whose flags or variables a role has in a map, a list or a text; None without one."""
    values = [value for document in documents if isinstance(document, dict) for value in document.values()]
    maps = [
        {name: item for name, item in value.items() if _is_set(item)} for value in values if isinstance(value, dict)
    ]
    flags = next((value for value in maps if has_server_keys(value)), {})
    variables = next((value for value in maps if sum(1 for name in value if SERVER_VARIABLE.match(str(name))) > 1), {})
    lines = (split_words(" ".join(_listed(value))) for value in values if isinstance(value, (str, list)))
    command = next(
        (words for words in lines if words[:1] and words[0].startswith("-") and _has_server_flags(words)), []
    )
    if not (flags or variables or command):
        return None
    words = [*(f"--{name}={_text(value)}" for name, value in flags.items()), *command]
    environment = tuple((name, _text(value)) for name, value in variables.items() if name.startswith("ETCD_"))
    # The role may add flags.
    return {
        **member.build("variables", Command(("etcd", *words), environment=environment), None, []),
        "silent": ["extra_config"],
    }


def _has_server_flags(words: list[str]) -> bool:
    return any(SERVER_FLAG.match(word) for word in words)


def _is_set(value: Any) -> bool:
    return isinstance(value, (str, int)) and value != ""


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _tasks(value: Any) -> Iterator[dict[str, Any]]:
    """Return all maps below a value: plays, blocks and tasks among them."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            yield item
        pending += item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()


def containers(documents: list[Any]) -> Iterator[dict[str, Any]]:
    """Return the members in containers that the tasks of playbooks and roles start."""
    for document in documents:
        for task in _tasks(document) if isinstance(document, list) else ():
            options = next((task[name] for name in _CONTAINERS if isinstance(task.get(name), dict)), None)
            command = find_etcd(_words(options)) if options and options.get("state") != "absent" else None
            if command is not None and command.image:
                files = command.environment_files
                unknown = {f"env_file: {path}": member.NOT_AMONG_THE_FILES for path in files}
                yield member.build("playbook", command, None, [], unknown=unknown)


def _words(options: dict[str, Any]) -> list[str]:
    """Return the command of docker or podman that a task stands for."""
    environment = options.get("env") if isinstance(options.get("env"), dict) else {}
    single = [("--memory", "memory"), ("--entrypoint", "entrypoint"), ("--env-file", "env_file")]
    command = options.get("command") or ""
    return [
        *("docker", "run"),
        *(word for name, value in (environment or {}).items() for word in ("-e", f"{name}={value}")),
        *(word for volume in _listed(options.get("volumes")) for word in ("-v", volume)),
        *(word for option, name in single if options.get(name) for word in (option, " ".join(_listed(options[name])))),
        str(options.get("image", "")),
        *(_listed(command) if isinstance(command, list) else split_words(str(command))),
    ]


def _listed(value: Any) -> list[str]:
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


def _options(task: dict[str, Any], modules: Iterable[str]) -> dict[str, Any]:
    """Return the options of the first of these modules, also if they are written as one text."""
    found: Any = next((task[name] for name in modules if isinstance(task.get(name), (dict, str))), {})
    if isinstance(found, dict):
        return found
    pairs = (word.partition("=") for word in split_words(found))
    return {name: value for name, equals, value in pairs if equals}


def _items(task: dict[str, Any]) -> list[str]:
    return [item for name in ("loop", "with_items") for item in _listed(task.get(name))]


def _installs(task: dict[str, Any]) -> bool:
    """Tell whether a task copies or links the program, perhaps beside etcdctl."""
    source = str(_options(task, _FILES).get("src", ""))
    return source.endswith("/etcd") or (
        "etcd" in _items(task) and re.search(r"\{\{\s*item\s*\}\}$", source) is not None
    )
