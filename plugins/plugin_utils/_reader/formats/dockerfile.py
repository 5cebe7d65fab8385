# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read Dockerfiles: the etcd that the image starts, with the variables that it sets. Whoever runs the image may set more."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader import member
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell import install
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.command_line import (
    Command,
    find_etcd,
    is_image,
    runs_another_tool,
    split_words,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.environment import (
    SERVER_VARIABLE,
    Variable,
    unquote,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line, Logical, logical_lines

_FILE = re.compile(r"(^|/)((docker|container)file([._-][\w.-]+)?|[\w.-]+\.dockerfile)$", re.IGNORECASE)
_FROM = re.compile(r"^FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?\s*$", re.IGNORECASE)
_COPY = re.compile(r"^COPY\s+(?:--\S+\s+)*--from=(\S+)\s+(?:--\S+\s+)*(.+)$", re.IGNORECASE)
_SERVER = re.compile(r"/etcd\*?(\s|$)")
_ARGUMENT = re.compile(r"^ARG\s+(\w+)=(\S+)\s*$", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\$(?:\{(\w+)(?::-([^}]*))?\}|(\w+))")
# A port of etcd's clients or peers.
_OPENS = re.compile(r"^EXPOSE\s(?:.*\s)?(?:2379|2380|4001|7001)(?:/tcp)?(?:\s|$)", re.IGNORECASE)
_INSTRUCTION = re.compile(r"^(ENV|ENTRYPOINT|CMD)\s+(.+)$", re.IGNORECASE)


class _Stage(NamedTuple):
    """One stage of a build: its name, its image, the instructions that configure what it starts, and the images that it copies etcd from."""

    name: str
    image: str
    source: Logical
    instructions: list[tuple[str, str, Logical]]
    copied: list[tuple[str, Logical]]


def is_dockerfile(path: str, text: str) -> bool:
    """Return whether a file is a Dockerfile, by its name and its first instruction."""
    return _FILE.search(path) is not None and re.search(r"^FROM\s", text, re.MULTILINE | re.IGNORECASE) is not None


def member_of(lines: list[Line]) -> dict[str, Any] | None:
    """Return the member that the image starts; None if it starts something else."""
    stages = _stages(lines)
    if not stages:
        return None
    stage = stages[-1]
    last = {name: (value, source) for name, value, source in stage.instructions if name != "ENV"}
    variables = [
        variable
        for name, value, source in stage.instructions
        if name == "ENV"
        for variable in _variables(value, source)
    ]
    image = _base(stages)
    command = _command(last, image, variables)
    if command is None:
        return None
    if len(command.words) == 1 and last and not _names_etcd(last):
        # A script starts it, and reads variables in its own way.
        variables = []
    variables = [one for one in variables if SERVER_VARIABLE.match(one.name) or not _is_used(one.name, lines)]
    source = next((last[name][1] for name in ("CMD", "ENTRYPOINT") if name in last), None)
    found = member.build("Dockerfile", command, source=source, variables=variables)
    origin = (image, stage.source) if image is not None else stage.copied[-1] if stage.copied else None
    if origin is not None:
        found["image"] = origin[0]
        found["where"]["etcd_version"] = list(origin[1].position(origin[0].split(":")[0]))
    # `docker run` and Compose may add flags and variables.
    return {**found, "silent": ["extra_config"]}


def serves_by_script(lines: list[Line]) -> bool:
    """Return whether the image installs etcd's server, opens one of its ports, and starts a script, which has the settings."""
    stages = _stages(lines)
    last = {name: value for name, value, _source in stages[-1].instructions if name != "ENV"} if stages else {}
    entry = [word for name in ("ENTRYPOINT", "CMD") if name in last for word in _words(last[name])]
    instructions = [logical.text for logical in logical_lines(lines, comments="#")]
    copied = [copy[2] for text in instructions if (copy := _COPY.match(text)) and "etcd" in copy[2]]
    opens = any(map(_OPENS.match, instructions))
    starts = any(word.endswith(".sh") for word in entry) and not runs_another_tool(entry)
    # Another stage may download the archive for etcdctl alone.
    is_server = not copied or any(map(_SERVER.search, copied))
    return opens and starts and is_server and install.of_script(lines)


def _stages(lines: list[Line]) -> list[_Stage]:
    stages: list[_Stage] = []
    arguments: dict[str, str] = {}
    for logical in logical_lines(lines, comments="#"):
        opening = _FROM.match(logical.text)
        instruction = _INSTRUCTION.match(logical.text)
        argument = _ARGUMENT.match(logical.text)
        if opening:
            stages.append(_Stage(opening[2] or "", _filled(opening[1], arguments), logical, [], []))
        elif argument and not stages:
            arguments[argument[1]] = unquote(argument[2])
        elif (copy := _COPY.match(logical.text)) and stages and _SERVER.search(copy[2]):
            origin = next(((one.image, one.source) for one in stages if one.name == copy[1]), (copy[1], logical))
            stages[-1].copied.extend([origin] if is_image(origin[0]) else [])
        elif instruction and stages:
            stages[-1].instructions.append((instruction[1].upper(), instruction[2].strip(), logical))
    return stages


def _filled(image: str, arguments: dict[str, str]) -> str:
    """Fill the defaults of ARG into an image. Who builds it may pass others."""
    return _PLACEHOLDER.sub(lambda found: arguments.get(found[1] or found[3], found[2] or found[0]), image)


def _base(stages: list[_Stage]) -> str | None:
    """Return the image of etcd that the last stage is made of, None for another one. A placeholder in the tag stays unknown."""
    image = stages[-1].image
    return image if is_image(image) else None


def _command(last: dict[str, tuple[str, Logical]], image: str | None, variables: list[Variable]) -> Command | None:
    """Return the command line of ENTRYPOINT and CMD. An image of etcd without either runs etcd."""
    words = [word for name in ("ENTRYPOINT", "CMD") if name in last for word in _words(last[name][0])]
    values = {variable.name: variable.value for variable in variables}
    found = find_etcd(words, values) or _behind_a_script(last, values)
    if found is not None:
        return found
    if image is None or runs_another_tool(words):
        return None
    if words and words[0].startswith("-"):
        return Command(("etcd", *words))
    return Command(("etcd",))


def _behind_a_script(last: dict[str, tuple[str, Logical]], values: dict[str, str]) -> Command | None:
    """Return the command line of CMD that an entrypoint such as docker-entrypoint.sh runs."""
    if not {"ENTRYPOINT", "CMD"} <= set(last):
        return None
    [*before, script] = _words(last["ENTRYPOINT"][0]) or [""]
    command = _words(last["CMD"][0])
    is_script = script.endswith(".sh") and not runs_another_tool([*before, *command])
    return find_etcd(command, values) if is_script and command and command[0].endswith("etcd") else None


def _is_used(name: str, lines: list[Line]) -> bool:
    """Return whether the Dockerfile itself uses a variable, such as the folder of the program: it is not a setting of etcd then."""
    return any(re.search(rf"\$(?:{name}\b|\{{{name}[}}:])", line.text) for line in lines)


def _names_etcd(last: dict[str, tuple[str, Logical]]) -> bool:
    """Return whether ENTRYPOINT or CMD names etcd itself, which reads all variables."""
    return any(re.search(r"(^|/)etcd$", word) for name in last for word in split_words(" ".join(_words(last[name][0]))))


def _words(value: str) -> list[str]:
    """Split an instruction in the form of a list or of a shell's command."""
    if value.startswith("["):
        try:
            return [str(word) for word in json.loads(value)]
        except ValueError:
            return split_words(value.strip("[]").replace(",", " "))
    return split_words(value)


def _variables(value: str, source: Logical) -> list[Variable]:
    """Return the variables of ENV NAME=VALUE … or of the older ENV NAME VALUE."""
    words = split_words(value)
    if words and "=" not in words[0]:
        name, _blank, rest = value.partition(" ")
        return [Variable(name, rest.strip(), *source.position(name))]
    pairs = [word.partition("=") for word in words]
    return [Variable(name, text, *source.position(name)) for name, equals, text in pairs if equals]
