# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Substitute the variables of the file .env in the Compose file beside it, as Compose does.

The environment in which Compose runs wins over the file, but nobody here knows it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.environment import ASSIGNMENT, unquote

NAME = ".env"
_COMPOSE = re.compile(r"^[\"']?services[\"']?\s*:", re.MULTILINE)
_ENV_FILE = re.compile(r"^\s*[\"']?env_file\b", re.MULTILINE)
# $NAME, ${NAME}, and ${NAME} with a default or with the message of an error. $$ is a dollar sign.
_REFERENCE = re.compile(r"\$\$|\$(?:\{([A-Za-z_]\w*)(?::?[-?][^{}$]*)?\}|([A-Za-z_]\w*))")
# A variable of a container without a value.
_PASSED = re.compile(r"^\s*(?:-\s+)?[\"']?([A-Za-z_]\w*)[\"']?:?\s*$", re.MULTILINE)
_COMMENT = re.compile(r"(?:^|\s)#")
# Findings show values.
_PASSWORD = re.compile(r"://[^/\s]*@")
# Marks a service in which a value was substituted, for the policies.
FILLED = "x-headroom-filled"
# A default may contain another variable, perhaps with a default.
_DEEPEST = 3


def is_compose(path: str, text: str) -> bool:
    """Return whether a file may be a Compose file."""
    return path.endswith((".yml", ".yaml")) and _COMPOSE.search(text) is not None


def beside(path: str) -> str:
    """Return the path of the .env in the folder of a file."""
    return posixpath.join(posixpath.dirname(path), NAME)


def variables_of(text: str) -> dict[str, str]:
    """Return the variables of a .env. Values that are empty, or have a variable or a password, are left out: they stay unknown, or have their default."""
    pairs = [(found[1], _value(found[2].strip())) for line in text.splitlines() if (found := ASSIGNMENT.match(line))]
    return {
        name: value for name, value in dict(pairs).items() if value and "$" not in value and not _PASSWORD.search(value)
    }


def _value(written: str) -> str:
    if written[:1] in ('"', "'"):
        return unquote(written)
    comment = _COMMENT.search(written)
    return written[: comment.start()].rstrip() if comment else written


def is_used(path: str, texts: Mapping[str, str]) -> bool:
    """Return whether a file is a .env whose variables a Compose file beside it substitutes, and does not pass to a container as a whole."""
    if posixpath.basename(path) != NAME:
        return False
    names = variables_of(texts[path]).keys()
    users = [
        text for other, text in texts.items() if beside(other) == path and is_compose(other, text) and "etcd" in text
    ]
    return any(names & _references(text) for text in users) and not any(_ENV_FILE.search(text) for text in users)


def substitute(document: Any, variables: Mapping[str, str]) -> Any:
    """Return the document of a Compose file with the values of variables; any other document as it is."""
    if not variables or not isinstance(document, dict) or not isinstance(document.get("services"), dict):
        return document
    return {
        **document,
        "services": {name: _substituted(service, variables) for name, service in document["services"].items()},
    }


def _substituted(service: Any, variables: Mapping[str, str]) -> Any:
    found = _passed(_filled(service, variables), variables)
    return {**found, FILLED: True} if found != service else service


def _passed(service: Any, variables: Mapping[str, str]) -> Any:
    """Return a service in which variables of its environment without a value have that of the file."""
    environment = service.get("environment") if isinstance(service, dict) else None
    if isinstance(environment, list):
        return {
            **service,
            "environment": [
                f"{item}={variables[item]}" if isinstance(item, str) and item in variables else item
                for item in environment
            ],
        }
    if isinstance(environment, dict):
        known = {name: variables[name] for name, value in environment.items() if value is None and name in variables}
        return {**service, "environment": {**environment, **known}}
    return service


def _filled(value: Any, variables: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(inner, variables) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, variables) for inner in value]
    if not isinstance(value, str):
        return value
    for _level in range(_DEEPEST):
        value = _REFERENCE.sub(lambda found: variables.get(found[1] or found[2] or "", found[0]), value)
    return value


def _references(text: str) -> set[str]:
    return {name for found in _REFERENCE.findall(text) for name in found if name} | set(_PASSED.findall(text))
