# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A member of etcd in the form that policies/lib/formats/read_member.rego describes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.command_line import Command
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.environment import Variable, flags_in
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.sources import is_file
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Logical

_FLAG = re.compile(r"^--?([A-Za-z][^=\s$(){}]*)")
_PLACEHOLDER = re.compile(r"\$(\w+|[@*]|\{[@*][^}]*\}|\{\w+(\[[@*]\])?\}|\{\w+:?\+.*|\(command\))|\{\{.*\}\}|\{%.*%\}")
_PART = re.compile(r"\{\{.{,500}?\}\}")
# Scripts around etcd read those that are left out here.
_ETCD_VARIABLE = re.compile(
    r"^(ETCD_(?!(VER|VERSION|RELEASE|TAG|IMAGE(_\w+)?|OPTS|OPTIONS|ARGS|EXTRA_ARGS|FLAGS|USER|GROUP|HOME|BIN|SSL_DIR)$)|GOGC$|GOMEMLIMIT$)"
)

# Why the settings of a file that is named are unknown.
NOT_AMONG_THE_FILES = "it is not among the files"
_NOT_READ = "settings may come from there, and it is not read"
_FILLED_IN = "it is filled in when etcd starts"


def build(
    kind: str,
    command: Command,
    *,
    source: Logical | None = None,
    variables: Iterable[Variable] = (),
    unknown: dict[str, str] | None = None,
    limit: dict[str, str] | None = None,
    memlock: dict[str, str] | None = None,
    where: dict[str, tuple[str, int]] | None = None,
    facts: dict[str, dict[str, str]] | None = None,
    passes_on: bool = False,
) -> dict[str, Any]:
    """Return the member.

    source: the line of the command, for the positions of its flags. variables: those of the environment; of two assignments the last counts.
    where: the path and line of other settings. passes_on: whether etcd gets the variables that its flags repeat.
    """
    kept = {variable.name: variable for variable in variables if _ETCD_VARIABLE.match(variable.name)}
    environment = {
        **{name: variable.value for name, variable in kept.items()},
        **{name: value for name, value in command.environment if _ETCD_VARIABLE.match(name)},
    }
    positions = {**{name: (variable.path, variable.line) for name, variable in kept.items()}, **(where or {})}
    if source:
        positions.update({name: source.position(name) for name, _value in command.environment})
        if command.image:
            positions.setdefault("etcd_version", source.position(command.image.split(":")[0]))
        positions.update({f"--{flag}": source.position(f"-{flag}") for flag in _flags(command.words)})
    words = [_plain(word) for word in command.words]
    environment = {name: _plain(value) for name, value in environment.items()}
    return {
        "name": _name(command.words) or _written(environment.get("ETCD_NAME", "")) or "etcd",
        "format": kind,
        "image": command.image,
        "mounts": [path for path, _source in command.mounts],
        "in_memory": list(command.in_memory),
        "folders": {path: source if source.startswith("/") else "" for path, source in command.mounts},
        "release": None,
        "command": words,
        "environment": environment,
        "limit": {"name": "--memory", "size": command.memory} if command.memory else limit,
        "memlock": memlock,
        "facts": facts or {},
        "unknown": {**(unknown or {}), **unread_sources(command.sources), **_unexpanded(command.words)},
        "silent": [],
        "commented": [name for name, variable in kept.items() if variable.commented],
        "twice": repeated(command.words) if passes_on or command.passes_on else {},
        "where": {about: list(position) for about, position in positions.items()},
    }


def unread_sources(sources: Iterable[str]) -> dict[str, str]:
    """Return commands that may set any variable, with the reason why these are unknown."""
    return {source: _NOT_READ if is_file(source) else _FILLED_IN for source in sources}


def elsewhere(kind: str) -> dict[str, Any]:
    """Return a member without settings: a file of this kind starts etcd as a service whose unit is another file."""
    return {**build(kind, Command(("etcd",))), "silent": ["extra_config"]}


def from_environment(variables: list[Variable]) -> dict[str, Any]:
    """Return the member of an environment file, with the flags that one of its variables may hold for the unit."""
    flags = {variable: flags_in(variable) for variable in variables}
    words = [word for found in flags.values() for word in found]
    where = {f"--{flag}": (variable.path, variable.line) for variable, found in flags.items() for flag in _flags(found)}
    found = build("environment file", Command(("etcd", *words)), variables=variables, where=where)
    # The unit's flags are elsewhere.
    return {**found, "silent": ["extra_config"]}


def _plain(value: str) -> str:
    """Return a value without the commas and slashes in its placeholders, which separate URLs elsewhere."""
    return _PART.sub(lambda found: re.sub(r"[,/%]", "_", found[0]), value) if "{{" in value else value


def _flags(words: Iterable[str]) -> list[str]:
    return [found[1] for found in map(_FLAG.match, words) if found]


def repeated(words: tuple[str, ...]) -> dict[str, str]:
    """Return flag → variable for flags such as --name=${ETCD_NAME}: etcd reads that variable, too."""
    pairs = [word.partition("=")[::2] if "=" in word else (word, after) for word, after in zip(words, (*words[1:], ""))]
    flags = [(found[1], value) for flag, value in pairs if (found := _FLAG.fullmatch(flag))]
    own = {flag: "ETCD_" + flag.upper().replace("-", "_") for flag, _value in flags}
    return {flag: own[flag] for flag, value in flags if value in (f"${own[flag]}", f"${{{own[flag]}}}")}


def config_file(found: dict[str, Any]) -> str:
    """Return the path in a member's --config-file, empty without one."""
    return _value("config-file", found["command"])


def _name(words: tuple[str, ...]) -> str:
    """Return the value of the last --name, if it is written out."""
    return _written(_value("name", words))


def _value(flag: str, words: Sequence[str]) -> str:
    """Return the value of the last flag of this name, empty without one."""
    value = ""
    for word, after in zip(words, (*words[1:], "")):
        found = re.match(rf"^--?{flag}(?:=(.*))?$", word)
        if found:
            value = found[1] if found[1] is not None else after
    return value


def _written(value: str) -> str:
    """Return a value that is written out, empty for a placeholder."""
    return "" if re.search(r"[$%{]", value) else value


def _unexpanded(words: tuple[str, ...]) -> dict[str, str]:
    """Return the placeholders that may become any flags, with the reason."""
    alone = [(before, word) for before, word in zip(words, words[1:]) if _PLACEHOLDER.fullmatch(word)]
    # After a flag without a value it is the flag's value, unless it stands for several words.
    return {word: _FILLED_IN for before, word in alone if not _FLAG.fullmatch(before) or re.search(r"[@*]", word)}
