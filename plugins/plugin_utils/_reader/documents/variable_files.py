# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the member that a file of variables describes: those of a role, a group, a host or a Salt pillar."""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader import member
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents import role_variables
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents.playbook import is_inventory, listed
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.recognize import Text, has_server_keys
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.command_line import (
    SERVER_FLAG,
    Command,
    is_etcd,
    split_words,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.environment import SERVER_VARIABLE
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line

_GROUP_VARS = re.compile(r"(^|/)(group_vars|host_vars)/(.*\.(ya?ml|json)|(.*/)?[^.]*)$")
# A key that is not indented. Puppet's have colons.
_KEY = re.compile(r"[\"']?([\w.:-]+?)[\"']?\s*:(?=\s|$)")
# Sections of etcd's config file.
_SECTIONS = ("client-transport-security", "peer-transport-security")
# Variables that only a role with a reader in the policies has.
OF_KNOWN_ROLES = re.compile(
    r"etcd_(seq|settings|deployment_type|kubeadm_enabled|secure_client|peer_client_auth|memory_limit|extra_vars|storage_|maintenance_|extra_config"
    r"|workload|memory_|lint_)|kube_network_plugin$|patroni_cluster_name$"
)
# What the policies know of inventories, too; tests/policies/test_reader_tables.py compares both. The members' group (settings.detect) …
MEMBER_GROUP = r"etcds?([_-]?(cluster|node|server|member|host|group|master|all)s?)?([_-]?[0-9]+)?"
# … and the variables with the release, or with an image of it (settings.other_roles).
RELEASE_NAMES = (
    *("etcd_version", "etcd_ver", "etcd_release", "etcd_server_version", "etcd_release_version", "etcd_binary_version"),
    *("etcd_image_tag", "etcd_image", "etcd_docker_image"),
)
_NUMBERS = "|".join(name for name in RELEASE_NAMES if "image" not in name)
_IMAGES = "|".join(name for name in RELEASE_NAMES if "image" in name)
# The groups whose variables the policies judge without an inventory.
_READ_GROUP = re.compile(rf"(?i)(^|/)group_vars/(all|{MEMBER_GROUP})([./]|$)")
# The variables in which the policies find a release.
_READ_RELEASE = re.compile(
    rf"(?i)(\s+\w+|[\"']?({_NUMBERS}))[\"']?\s*:\s*[\"']?v?\d+\.[\d.]+[\"']?\s*(#.*)?$|[\"']?({_IMAGES})[\"']?\s*:"
)
# Keys of manifests, Compose files, k3s, cloud-configs and Ignition.
_OTHER_DOCUMENTS = {
    "apiVersion",
    "kind",
    "services",
    "etcd-arg",
    "coreos",
    "ignition",
    "systemd",
    "write_files",
    "runcmd",
}
# Keys of a map that describes etcd to a client.
_OF_CLIENTS = {"endpoint", "endpoints", "external", "host", "hosts", "servers", "url", "urls"}


def members_of(release: tuple[str, Line] | None, documents: list[Any], file: Text) -> list[dict[str, Any]]:
    """Return the member that a role's variables describe, if no other file is linted: by settings, or by a release.

    The policies read the variables of a known role, and those of the members' own group.
    """
    names = {str(name) for document in documents if isinstance(document, dict) for name in document}
    if file.path != file.target or names & _OTHER_DOCUMENTS or has_server_keys(names) or is_inventory(documents):
        return []
    settings = role_variables.settings_of(role_variables.variables_of(documents))
    if _GROUP_VARS.search(file.path) and not _is_unread_by_policies(file.path, names, settings, release):
        return []
    found = None if _GROUP_VARS.search(file.path) else _settings(documents)
    sections = [document.get("etcd") for document in documents if isinstance(document, dict)]
    of_client = any(isinstance(section, dict) and _is_of_client(section) for section in sections)
    if found is None and (settings or (not of_client and _is_variable(release, names, file.lines))):
        found = member.elsewhere("variables")
    if found:
        found["given"] = [setting.entry() for setting in settings]
        found["where"].update(role_variables.places_of(settings, file.lines))
        found["silent"] += ["initial_cluster"] if any(setting.is_partial for setting in settings) else []
    return [found] if found else []


def is_of_group(path: str) -> bool:
    """Return whether a file has the variables of a group or a host."""
    return _GROUP_VARS.search(path) is not None


def _is_unread_by_policies(
    path: str, names: set[str], settings: list[role_variables.Setting], release: tuple[str, Line] | None
) -> bool:
    """Return whether the policies do not read the settings in a file of group_vars: URLs, a release in another variable, or variables of another group."""
    if any(map(OF_KNOWN_ROLES.match, names)):
        return False
    is_read = release is None or _READ_RELEASE.match(release[1].text) is not None
    return any("://" in setting.value for setting in settings) or not (is_read and _READ_GROUP.search(path))


def _is_of_client(section: dict[str, Any]) -> bool:
    """Return whether a map describes etcd to a client, rather than where to download it."""
    return any(
        name in section and not re.search(r"github|googleapis|download", str(section[name])) for name in _OF_CLIENTS
    )


def _is_variable(release: tuple[str, Line] | None, names: set[str], lines: list[Line]) -> bool:
    """Return whether a release is the value of one of the variables, of a map called etcd, or of an image in a list."""
    if release is None:
        return False
    own = _KEY.match(release[1].text)
    outer = [found[1] for line in lines if line.number <= release[1].number and (found := _KEY.match(line.text))]
    if own:
        return own[1] in names
    is_downloaded = any(re.search(r"etcd/releases/download/|etcd-v?\{\{", line.text) for line in lines)
    if is_downloaded and re.match(r"\s+(version|ver|release|tag)\s*:", release[1].text):
        return True
    return any(name.lower() == "etcd" or re.search(r"(?i)etcd_?(\w+_)?images?$", name) for name in outer[-1:])


def _settings(documents: list[Any]) -> dict[str, Any] | None:
    """Return the member whose config file, flags or variables a role has in a map, a list or a text; None without one."""
    values = [value for document in documents if isinstance(document, dict) for value in document.values()]
    of_file = next((value for value in values if isinstance(value, dict) and _is_of_config_file(value)), None)
    if of_file:
        return {**member.elsewhere("variables"), "config": of_file}
    maps = [
        {name: item for name, item in value.items() if _is_set(item)} for value in values if isinstance(value, dict)
    ]
    flags = next((value for value in maps if has_server_keys(value)), {})
    variables = next((value for value in maps if sum(1 for name in value if SERVER_VARIABLE.match(str(name))) > 1), {})
    lines = (
        _without_program(split_words(" ".join(listed(value)))) for value in values if isinstance(value, (str, list))
    )
    command = next(
        (words for words in lines if words[:1] and words[0].startswith("-") and _has_server_flags(words)), []
    )
    if not (flags or variables or command):
        return None
    words = [*(f"--{name}={_text(value)}" for name, value in flags.items()), *command]
    environment = tuple((name, _text(value)) for name, value in variables.items() if name.startswith("ETCD_"))
    # The role may add flags.
    return {
        **member.build("variables", Command(("etcd", *words), environment=environment)),
        "silent": ["extra_config"],
    }


def _is_of_config_file(value: dict[str, Any]) -> bool:
    """Return whether a map has the sections of etcd's config file, which no flag has."""
    return has_server_keys(value) and any(isinstance(value.get(name), dict) for name in _SECTIONS)


def _without_program(words: list[str]) -> list[str]:
    """Return the flags of a whole command line of etcd; other words as they are."""
    return words[1:] if words and is_etcd(words[0]) else words


def _has_server_flags(words: list[str]) -> bool:
    return any(SERVER_FLAG.match(word) for word in words)


def _is_set(value: Any) -> bool:
    return isinstance(value, (str, int)) and value != ""


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
