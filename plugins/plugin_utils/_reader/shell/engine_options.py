# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the options of docker, podman and nerdctl."""

from __future__ import annotations

import re

# The options of `docker run` without a value; each other one takes the next word.
_SWITCH = re.compile(
    r"^--(rm|detach|interactive|tty|init|privileged|read-only|replace|publish-all|quiet|no-healthcheck|oom-kill-disable)(=.*)?$"
)
_SHORT_SWITCHES = "ditPq"
_SHORT_WITH_VALUE = "acehlmpuvw"
# Docker 1.0 took its long options with one dash, too.
_LONG = re.compile(
    r"^-(entrypoint|env|expose|hostname|label|link|memory|name|net|publish|rm|user|volume|volumes-from|workdir)(=|$)"
)
# The short options of docker itself that take the next word.
_DOCKER_OPTIONS = ("-H", "-c", "-l")


def options_of(words: list[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the options before the first other word, each with its value, and the words from there on."""
    options: list[tuple[str, str]] = []
    rest = list(words)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if _SWITCH.match(option):
            continue
        name, equals, value = _short(option) or option.partition("=")
        if name:
            options.append((name, value if equals else rest.pop(0) if rest else ""))
    return options, rest


def _short(option: str) -> tuple[str, str, str] | None:
    """Return a short option like str.partition, without the switches before it, as in -itp2379:2379; its name is empty after switches alone.

    None for a long option and for an unknown one.
    """
    if option.startswith("--") or _LONG.match(option):
        return None
    for position, letter in enumerate(option[1:], 1):
        rest = option[position + 1 :]
        if letter in _SHORT_WITH_VALUE:
            return f"-{letter}", rest[:1], rest.removeprefix("=")
        if letter not in _SHORT_SWITCHES:
            return None
        if rest.startswith("="):
            break
    return "", "", ""


def makes_another(words: list[str], position: int) -> bool:
    """Return whether a word before `create` names another object than a container or a service, such as a network."""
    before = words[position - 1] if position else ""
    is_value = (before.startswith("--") and "=" not in before) or before in _DOCKER_OPTIONS
    return not (words[position].startswith("-") or words[position] in ("container", "service") or is_value)


def mounted(value: str) -> tuple[str, str]:
    """Return the path in the container of a volume or a mount, and what is mounted there."""
    named = re.search(r"(?:^|,)(?:target|dst|destination)=([^,]*)", value)
    source = re.search(r"(?:^|,)(?:source|src)=([^,]*)", value)
    parts = value.split(":")
    if named:
        return named[1], source[1] if source else ""
    return (parts[1], parts[0]) if len(parts) > 1 else (parts[0], "")
