# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find members in the values of a chart with a form of its own, at any depth: an image of etcd with flags of a server, or a config file as a map."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader import member
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.recognize import has_server_keys
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.command_line import (
    SERVER_FLAG,
    Command,
    find_etcd,
    is_image,
    split_words,
)

# Other documents: resources of Kubernetes, Compose files, and inventories.
_OTHERS = {"apiVersion", "services", "all", "hosts", "children"}
# The vocabularies have the values at the top and below its keys.
_HIGHEST = 2
_DEEPEST = 12
_COMMANDS = re.compile(r"^(entrypoint|command|cmd|(extra)?arg(ument)?s)$", re.IGNORECASE)
_ENVIRONMENT = re.compile(r"^(extra)?env(s|ironment|vars)?$", re.IGNORECASE)
_CONFIGURATION = re.compile(r"^(etcd[_-]?)?config(uration|[_-]?file)?$", re.IGNORECASE)
# The vocabularies read a config file beside these.
_OF_CHART = {"image", "imageTag", "replicaCount"}
# As Docker, too, understands them.
_SIZE = re.compile(r"^[0-9.]+[KMGT]i$")


def members_of(documents: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """Return the members. The chart's templates may add settings."""
    for document in documents:
        if isinstance(document, dict) and not document.keys() & _OTHERS:
            yield from _members_below(document, (), {})


def _members_below(value: Any, path: tuple[str, ...], around: dict[Any, Any]) -> Iterator[dict[str, Any]]:
    """Yield the members in a value. around: the map that holds it."""
    if isinstance(value, list):
        value = dict(enumerate(value))
    if not isinstance(value, dict) or len(path) > _DEEPEST:
        return
    is_own = len(path) >= _HIGHEST and value.get("enabled") is not False
    command = _command(value) if is_own else None
    if command is not None:
        yield _member(value, command)
        return
    if is_own and around.get("enabled") is not False and _is_config_file(value, path, around):
        yield _configured(value, around)
        return
    for name, inner in value.items():
        yield from _members_below(inner, (*path, str(name)), value)


def _is_config_file(value: dict[Any, Any], path: tuple[str, ...], around: dict[Any, Any]) -> bool:
    """Return whether a map is etcd's config file by its name and its keys, and no vocabulary has it."""
    is_known = path[:-1] == ("etcd",) and not _OF_CHART.isdisjoint(around)
    return _CONFIGURATION.match(path[-1]) is not None and has_server_keys(value) and not is_known


def _configured(config: dict[Any, Any], around: dict[Any, Any]) -> dict[str, Any]:
    """Return the member with a config file. The chart's templates may add settings, also in place of empty ones."""
    found = member.build("values", Command(("etcd",), _image(around.get("image")) or None))
    name = config.get("name")
    stated = {str(key): value for key, value in config.items() if value not in (None, "", 0)}
    return {
        **found,
        "name": name if isinstance(name, str) and name else found["name"],
        "config": stated,
        "silent": ["extra_config"],
    }


def _command(container: dict[Any, Any]) -> Command | None:
    image = _image(container.get("image"))
    words = _words(container) if image else []
    if not any(SERVER_FLAG.match(word) for word in words):
        return None
    return find_etcd(["docker", "run", *_environment(container), image, *words])


def _member(container: dict[Any, Any], command: Command) -> dict[str, Any]:
    size = _at(container, "resources", "limits", "memory")
    limit = {"name": "resources.limits.memory", "size": size} if isinstance(size, str) and _SIZE.match(size) else None
    return {**member.build("values", command, limit=limit), "silent": ["extra_config"]}


def _image(image: Any) -> str:
    """Return the reference of an image of etcd, which may be in parts; empty for others."""
    if isinstance(image, dict):
        parts = [str(image[name]).strip("/") for name in ("registry", "repository", "name") if image.get(name)]
        tag = image.get("tag")
        image = "/".join(parts) + (f":{tag}" if tag else "")
    return image if isinstance(image, str) and is_image(image) else ""


def _words(container: dict[Any, Any]) -> list[str]:
    """Return the command and its arguments, perhaps in a map of their own."""
    words: list[str] = []
    # A command stands before its arguments, whatever the order of the keys is.
    for name in sorted((name for name in container if _COMMANDS.match(str(name))), key=_order):
        value = container[name]
        words += _words(value) if isinstance(value, dict) else _listed(value)
    return words


def _order(name: Any) -> int:
    return re.search(r"arg", str(name), re.IGNORECASE) is not None


def _listed(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else split_words(str(value or ""))


def _environment(container: dict[Any, Any]) -> list[str]:
    """Return the variables whose values are written out, as options of Docker."""
    pairs: list[tuple[Any, Any]] = []
    for value in (container[name] for name in container if _ENVIRONMENT.match(str(name))):
        items = value if isinstance(value, list) else []
        pairs += value.items() if isinstance(value, dict) else []
        pairs += [(item.get("name"), item.get("value")) for item in items if isinstance(item, dict)]
    return [word for name, value in pairs if isinstance(value, (str, int)) for word in ("-e", f"{name}={value}")]


def _at(value: Any, *path: str) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value
