# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the settings that a role, a pillar or a task keeps in variables with names of its own, such as etcd_listen_client_urls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents import jinja
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents.ansible_yaml import maps_below
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line

_PREFIX = r"^(?:\w*_)?etcd[23]?_"


def _urls(names: str) -> re.Pattern[str]:
    """Return the pattern of variables for URLs. In the plural, no other program has them."""
    return re.compile(rf"(?:(?:{_PREFIX}|^)(?:{names})_urls?|^\w+_(?:{names})_urls)$")


# Names of variables → the setting. Those without a prefix are spelled as etcd does.
_URLS = [
    (_urls("listen_client|client_listen"), "ETCD_LISTEN_CLIENT_URLS"),
    (_urls("listen_peer|peer_listen"), "ETCD_LISTEN_PEER_URLS"),
    (_urls("advertise_client|client_advertise"), "ETCD_ADVERTISE_CLIENT_URLS"),
    (_urls("(?:initial_)?advertise_peer|peer_advertise"), "ETCD_INITIAL_ADVERTISE_PEER_URLS"),
    (re.compile(rf"{_PREFIX}listen_metrics_urls?$"), "ETCD_LISTEN_METRICS_URLS"),
]
_METRICS = re.compile(rf"{_PREFIX}metrics_urls?$")
_CLUSTER = re.compile(
    rf"^initial_cluster$|{_PREFIX}(?:initial_cluster(?:_urls?|_members|_peers|_nodes)?|cluster_urls)$"
)
# A member with etcd's port for peers, in a variable of any name.
_PEER = re.compile(r"[\w.{}-]+=https?://[^\s,=]+:2380/?")
_NUMBERS = re.compile(
    rf"{_PREFIX}(snapshot_count|auto_compaction_retention|quota_backend_bytes|heartbeat_interval|election_timeout|max_request_bytes)$"
)
_MODE = re.compile(rf"{_PREFIX}auto_compaction_mode$")
# More than this is a number of revisions, even if another file sets the mode.
_MAX_HOURS = 100
_OPEN = re.compile(r"^https?://(0\.0\.0\.0|\[::\])[:/]")
_URL = re.compile(r"^https?://\S+$")
_MAX_DEPTH = 4
_FACTS = ("set_fact", "ansible.builtin.set_fact", "vars")


class Setting(NamedTuple):
    """A setting with the name of its variable. ``is_partial``: the variable has more values, such as those of other hosts."""

    name: str
    spelling: str
    value: str
    is_partial: bool

    def entry(self) -> dict[str, str]:
        """Return the setting as the policies take it."""
        return {"name": self.name, "form": "env", "spelling": self.spelling, "value": self.value}


def variables_of(documents: Iterable[Any]) -> dict[str, Any]:
    """Return the variables in a file of variables, or those that a playbook or its tasks set."""
    found: dict[str, Any] = {}
    for document in documents:
        if isinstance(document, dict):
            found.update(document)
        elif isinstance(document, list):
            for task in maps_below(document):
                for name in _FACTS:
                    found.update(task[name] if isinstance(task.get(name), dict) else {})
    return found


def settings_of(variables: Mapping[str, Any]) -> list[Setting]:
    """Return the settings whose values are known: URLs with a scheme, and numbers."""
    constants = jinja.constants(variables)
    named = list(_walk(variables, False, ()))
    settings: dict[str, Setting] = {}
    for name, value in named:
        setting = _url(name, value, constants) or _members(name, value, constants) or _number(name, value, named)
        if setting:
            settings.setdefault(setting.spelling, setting)
    return list(settings.values())


def places_of(settings: Iterable[Setting], lines: list[Line]) -> dict[str, list[Any]]:
    """Return name → path and line of each variable."""
    found: dict[str, list[Any]] = {}
    for setting in settings:
        key = re.compile(rf"^[\s-]*[\"']?{re.escape(setting.name)}[\"']?\s*:")
        position = next(([line.path, line.number] for line in lines if key.match(line.text)), None)
        found.update({setting.name: position} if position else {})
    return found


def _walk(variables: Mapping[str, Any], is_etcd: bool, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield names and values; of inner maps only those of one about etcd, without flags and variables of the environment.

    The policies read a map called etcd at the top.
    """
    for key, value in variables.items():
        name = str(key)
        # A variable with a value for each environment is a setting itself.
        is_setting = _spelling(name) or _CLUSTER.match(_normal(name))
        if isinstance(value, dict) and not is_setting and len(path) < _MAX_DEPTH:
            yield from _walk(value, is_etcd or re.match(r"(?i)etcd", name) is not None, (*path, name.lower()))
        elif not path or (is_etcd and path != ("etcd",) and re.fullmatch(r"[a-z_\d]+", name)):
            yield name, value


def _normal(name: str) -> str:
    return re.sub(r"::|-", "_", name).lower()


def _spelling(name: str) -> str | None:
    return next((spelling for pattern, spelling in _URLS if pattern.match(_normal(name))), None)


def _url(name: str, value: Any, constants: Mapping[str, str]) -> Setting | None:
    """Return a setting with URLs, also as a list, or with one for each environment."""
    spelling = _spelling(name)
    is_metrics = spelling is None and _METRICS.match(_normal(name)) is not None
    if spelling is None and not is_metrics:
        return None
    texts = [jinja.certain(text, constants) for text in _texts(value)]
    urls = [url for text in texts if text for url in text.value.split(",")]
    if None in texts or not urls or not all(map(_URL.match, urls)):
        return None
    if is_metrics and not all(map(_OPEN.match, urls)):
        return None
    return Setting(name, spelling or "ETCD_LISTEN_METRICS_URLS", ",".join(urls), isinstance(value, dict))


def _members(name: str, value: Any, constants: Mapping[str, str]) -> Setting | None:
    """Return the members of a cluster. Of a list in a loop or an expression, the number is unknown."""
    is_named = _CLUSTER.match(_normal(name)) is not None
    if not is_named and ":2380" not in str(value):
        return None
    texts = [jinja.certain(text, constants) for text in _texts(value)]
    known = [text for text in texts if text]
    if len(known) < len(texts) or not known:
        return None
    members = [part.strip() for text in known for part in text.value.split(",") if part.strip()]
    if not members or not all("=http" in part if is_named else _PEER.fullmatch(part) for part in members):
        return None
    is_partial = isinstance(value, dict) or any(text.is_repeated for text in known)
    return Setting(name, "ETCD_INITIAL_CLUSTER", ",".join(members), is_partial)


def _number(name: str, value: Any, named: list[tuple[str, Any]]) -> Setting | None:
    found = _NUMBERS.match(_normal(name))
    if not found or isinstance(value, bool) or not re.fullmatch(r"\d+[hms]?", str(value)):
        return None
    number = str(value)
    is_retention = found[1] == "auto_compaction_retention"
    mode = next((str(item) for key, item in named if _MODE.match(_normal(key))), None)
    is_certain = mode == "periodic" or (mode is None and (not number.isdigit() or int(number) < _MAX_HOURS))
    if (is_retention and not is_certain) or (not is_retention and not number.isdigit()):
        return None
    return Setting(name, f"ETCD_{found[1].upper()}", number, False)


def _texts(value: Any) -> list[str]:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
    return [item if isinstance(item, str) else "" for item in items]
