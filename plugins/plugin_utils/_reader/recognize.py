# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recognize what a text is by its content: an environment file, etcd's config file, a resource of Kubernetes, or a mention of etcd's settings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import NamedTuple

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.command_line import SERVER_FLAG
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.environment import (
    SERVER_VARIABLE,
    Variable,
    is_server,
    read_environment,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line

# Names that always mean YAML or JSON (of Salt, too), such as all.yml.sample or all.yml.vagrant. Of a template with conditions, the text is read.
DOCUMENT = re.compile(
    r"\.(ya?ml|json|bu|sls)(\.(?!(j2|jinja2?|erb|ejs|gz|xz|zst|enc|gpg|asc|age)$)[a-z]\w*)?$", re.IGNORECASE
)
# A template of a document, which may have conditions.
TEMPLATE = re.compile(r"\.(ya?ml|json|manifest|compose)\.(j2|jinja2?|erb|ejs|tmpl|tpl|gotmpl)$", re.IGNORECASE)
# Documents that may concern etcd without any of its settings: resources of Kubernetes, Compose files, k3s and RKE2.
_RESOURCE = re.compile(r"^(apiVersion:|services:|etcd-arg\+?:|cluster-init:)", re.MULTILINE)
# A resource of Kubernetes without a file's name, as in a here-document.
MANIFEST = re.compile(r"\s*(---\s+)?apiVersion:")
_OF_MEMBER = re.compile(r"ETCD_(LISTEN|INITIAL|ADVERTISE)_")
# A key of YAML at the beginning of a line.
_KEY = re.compile(r"^([\"']?)([a-z][a-z-]+)\1\s*:")
_BEFORE_MANIFEST = re.compile(r"\s*(#.*|---\s*|\{\{.*\}\}|\{[%#].*[%#]\}|<%.*%>)?\s*$")
# A setting of etcd in any syntax.
_MENTION = re.compile(r"(?<![\w-])(--?[a-z][a-z-]+(?=[=\s\"'<]|$)|ETCD_[A-Z_]+)", re.MULTILINE)
# A variable or a map about etcd, but not one of its environment.
_ABOUT_ETCD = re.compile(r"^[\"']?\w*etcd\w*[\"']?:(\s|$)", re.MULTILINE)
_PLAYBOOK = re.compile(
    r"\A(?:[ \t]*(?:#.*)?\n)*(?:---[ \t]*\n(?:[ \t]*(?:#.*)?\n)*)?- +(?:hosts:|name:.*etcd)", re.IGNORECASE
)

# A message, rather than a line that is written to a file.
_MESSAGE = re.compile(r"^\s*(?:echo|printf)\s[^>|]*$")
_CLIENT = re.compile(r"\betcd(ctl|utl)\b.*\s(snapshot|member|restore)\b")


class Text(NamedTuple):
    """A file, or a file inside another one: its path here, its path on the host, and its lines."""

    path: str
    target: str
    lines: list[Line]

    @property
    def text(self) -> str:
        return "\n".join(line.text for line in self.lines)


def is_environment(file: Text) -> bool:
    """Return whether assignments in a file configure a server. systemd ignores its other lines, and they may be notes."""
    variables = read_environment(file.lines)
    names = {variable.name for variable in variables}
    # A client may name the data directory, too.
    if "ETCD_ENDPOINTS" in names and not any(_OF_MEMBER.match(name) for name in names):
        return False
    return is_server(variables) and not re.search(r"^\s*(if|for|while|function)\s|\(\)\s*\{", file.text, re.MULTILINE)


def configures_member(variables: list[Variable]) -> bool:
    """Return whether variables configure a member, rather than describe one to a client."""
    names = {variable.name for variable in variables if variable.name.startswith("ETCD_")}
    return "ETCD_LISTEN_CLIENT_URLS" in names and len(names) > 1


def is_configuration(file: Text) -> bool:
    """Return whether a text looks like etcd's config file: two of its keys stand at the beginnings of lines, or it is JSON with two of them."""
    found = (_KEY.match(line.text) for line in file.lines)
    return has_server_keys(key[2] for key in found if key) or has_server_keys(_keys_of_json(file.text))


def _keys_of_json(text: str) -> list[str]:
    """Return the keys of a JSON object, none for other texts."""
    if not text.lstrip().startswith("{"):
        return []
    try:
        return list(json.loads(text))
    except (ValueError, RecursionError):
        return []


def has_server_keys(keys: Iterable[str]) -> bool:
    """Return whether a document with these keys is etcd's config file: it has two that no other program has, or one and the data directory."""
    found = {str(key) for key in keys}
    return sum(1 for key in found if SERVER_FLAG.match(f"--{key}")) + ("data-dir" in found) > 1


def is_resource(inner: Text) -> bool:
    """Return whether a text is a document of Kubernetes, Compose or k3s that mentions etcd. Those that mention it by accident have no members."""
    is_document = DOCUMENT.search(inner.target) is not None or MANIFEST.match(inner.text) is not None
    return (
        is_document
        and _RESOURCE.search(inner.text) is not None
        and re.search(r"etcd|cluster-init", inner.text) is not None
    )


def is_manifest(text: str) -> bool:
    """Return whether a text looks like a resource of Kubernetes or a Compose file, perhaps as a template."""
    return re.search(r"^\s*(apiVersion:\s|services:\s*$)", text, re.MULTILINE) is not None


def begins_as_manifest(text: str) -> bool:
    """Return whether a file of any name is a resource of Kubernetes, or a configuration of Ignition in JSON.

    Comments and statements of a template may stand before a resource in YAML.
    """
    first = next((line for line in text.splitlines() if not _BEFORE_MANIFEST.match(line)), "")
    return first.startswith("apiVersion:") or (
        first.startswith("{") and re.search(r'"(apiVersion|ignition)"\s*:', text) is not None
    )


def begins_as_playbook(text: str) -> bool:
    """Return whether a file of any name is a playbook, or the tasks of a role that installs etcd."""
    return _PLAYBOOK.match(text) is not None


def is_about_etcd(text: str) -> bool:
    """Return whether a file of any name has variables of etcd in YAML."""
    return _ABOUT_ETCD.search(text) is not None


def first_server_setting(text: str) -> str:
    """Return the first setting of a server in a text, with its line; empty if there is none. etcdctl has some of them, for a restoration."""
    is_client = goes_on = False
    for number, line in enumerate(text.splitlines(), 1):
        continues = goes_on and is_client
        is_client = continues or bool(_CLIENT.search(line))
        goes_on = line.rstrip().endswith("\\")
        for found in _MENTION.finditer(
            "" if is_client or line.lstrip().startswith("#") or _MESSAGE.match(line) else line
        ):
            if SERVER_FLAG.match(found[0]) or SERVER_VARIABLE.match(found[0]):
                return f"{found[0]} in line {number}"
    return ""
