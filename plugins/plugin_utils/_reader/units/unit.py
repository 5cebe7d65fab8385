# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read systemd units and their drop-ins: ExecStart=, Environment=, EnvironmentFile= and limits."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader import member
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.command_line import (
    Command,
    find_etcd,
    is_etcd,
    is_image,
    split_words,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.environment import (
    Variable,
    flags_in,
    ignored_in,
    is_server,
    read_environment,
    read_environment_of_unit,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line, Logical, logical_lines

_SECTION = re.compile(r"^\[([A-Za-z-]+)\]\s*$")
_DIRECTIVE = re.compile(r"^([A-Za-z]+)\s*=\s*(.*)$")
# Directive → the fact about the host that it states.
_FACTS = {"IOSchedulingClass": "io_class", "Nice": "nice"}
# Programs that start etcd with the variables of their unit. Other units, such as that of a backup, read them too.
_WRAPPER = re.compile(r"^[@:+!-]*([\w./-]*/)?etcd[_-]?(wrapper|start|run|server|member)(\.sh)?(\s|$)")
_OF_ETCD = re.compile(r"ETCD_|GO(GC|MEMLIMIT)$")
_TWO_BACKSLASHES = re.compile(r"\\\\\s*$")
_CUT = "systemd ends it at two backslashes, and continues it after one"
# A size that systemd accepts, also as a share of the memory; an empty value resets a limit (parse_size in src/basic/parse-util.c).
_SIZE = re.compile(r"^(\d+(\.\d+)?\s*[BKMGTPE]?|\d+(\.\d+)?[%‰‱]|infinity|)$")
# A size of another program. A placeholder is not a size, but may become a valid one.
_OTHER_SIZE = re.compile(r"^(\d+(?:\.\d+)?)\s*([KMGTPE])?[A-Za-z]*$", re.IGNORECASE)
_ONE_ARGUMENT = re.compile(r"\$\{(\w+)\}")
_FLAG = re.compile(r"--?[A-Za-z][\w-]*")
_EMPTY = "systemd passes an empty argument, on which etcd exits; write it without the braces"
# An empty value discards what was set before.
_LISTS = {"ExecStart", "ExecStartPre", "Environment", "EnvironmentFile", "PassEnvironment", "UnsetEnvironment"}


class Directive(NamedTuple):
    """One directive of a unit."""

    name: str
    value: str
    source: Logical


# Path of an environment file as the unit has it, and the unit's own path → the file's lines, None if it is not at hand.
FindFile = Callable[[str, str], "list[Line] | None"]
# The reader of an environment file.
ReadVariables = Callable[[Iterable[Line]], list[Variable]]


def is_unit(text: str) -> bool:
    """Return whether a text has the sections of a systemd service."""
    return re.search(r"^[ \t]*\[Service\]\s*$", text, re.MULTILINE) is not None


def starts_etcd(text: str) -> bool:
    """Return whether a text is a unit that starts etcd, whatever sets its flags."""
    return (
        is_unit(text) and re.search(r"^[ \t]*ExecStart=(.*[\s/\"'])?etcd(\s|[\"']|$)", text, re.MULTILINE) is not None
    )


def read_directives(lines: Iterable[Line]) -> list[Directive]:
    """Return the directives of the sections [Service] and [Container], in their order."""
    found: list[Directive] = []
    section = ""
    for logical in logical_lines(lines):
        header = _SECTION.match(logical.text)
        directive = _DIRECTIVE.match(logical.text)
        if header:
            section = header[1]
        elif directive and section in ("Service", "Container"):
            value = directive[2].strip()
            found.append(Directive(directive[1], value.replace("\\ -", " -") if _is_cut(logical) else value, logical))
    return found


def _is_cut(source: Logical) -> bool:
    """Return whether two backslashes stand before a line with flags, as in a here-document that was copied.

    systemd takes them for one character and does not continue the line (config_parse in src/shared/conf-parser.c).
    """
    pairs = zip(source.lines, source.lines[1:])
    return any(_TWO_BACKSLASHES.search(line.text) and after.text.lstrip().startswith("-") for line, after in pairs)


def merge(parts: Iterable[list[Directive]]) -> list[Directive]:
    """Return the directives of a unit and its drop-ins as systemd reads them."""
    merged: list[Directive] = []
    for directive in (directive for part in parts for directive in part):
        if directive.name in _LISTS and not directive.value:
            merged = [kept for kept in merged if kept.name != directive.name]
        else:
            merged.append(directive)
    return merged


def member_of(directives: list[Directive], find_file: FindFile) -> dict[str, Any] | None:
    """Return the member that a unit runs; None if it runs something else. A drop-in alone counts if it sets etcd's variables."""
    more, unknown = variables_of_files(directives, find_file)
    # Those of files win in systemd.
    variables = _without_unset(directives, [*own_variables(directives), *more])
    values = {variable.name: variable.value for variable in variables}
    starts = [directive for directive in directives if directive.name == "ExecStart"]
    # A unit may start a container before it follows the container's log.
    earlier = [directive for directive in directives if directive.name == "ExecStartPre"]
    for start in [*starts, *earlier]:
        words, empty = _with_whole_arguments(split_words(start.value.replace("$$", "$")), values)
        command = find_etcd(words, values)
        if command is not None and (start in starts or command.image):
            more, missing = _files(command.environment_files, start.source, find_file, read_environment)
            if _is_cut(start.source):
                missing[f"the command behind {start.name}="] = _CUT
            missing |= dict.fromkeys(empty, _EMPTY)
            return _build(command, start.source, [*variables, *more], {**unknown, **missing}, directives)
    wraps = all(_WRAPPER.match(start.value) for start in starts)
    if not wraps or not (is_server(variables) or _is_of_etcd(directives, variables)):
        return None
    reason = {f"ExecStart={start.value}": "it is a program around etcd" for start in starts[-1:]}
    unknown = {**unknown, **(reason or {"the unit of this drop-in": member.NOT_AMONG_THE_FILES})}
    # A variable such as ETCD_OPTS has flags for the unit.
    command = Command(("etcd", *(word for variable in variables for word in flags_in(variable))))
    source = next((one.source for one in directives if one.name == "Environment" and "--" in one.value), None)
    return _build(command, source, variables, unknown, directives)


def _with_whole_arguments(words: list[str], variables: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Return the words of a command in which ${NAME} behind etcd or its image is one argument, as in systemd; and the empty ones.

    Without braces, the value becomes as many arguments as it has words. An empty argument behind a flag becomes the flag's value, as in --cert-file=.
    A container engine has options of its own in front of the image.
    """
    is_program = _is_reference if {"run", "create"} & set(words) else is_etcd
    start = next((number + 1 for number, word in enumerate(words) if is_program(word)), len(words))
    whole, empty = words[:start], []
    for word in words[start:]:
        found = _ONE_ARGUMENT.fullmatch(word)
        value = variables.get(found[1], word) if found else word
        if value:
            whole.append(value)
        elif _FLAG.fullmatch(whole[-1]):
            whole[-1] += "="
        elif word:
            empty.append(word)
    return whole, empty


def _is_reference(word: str) -> bool:
    """Return whether a word can only be an image of etcd, and not the name of a container."""
    return re.search("[/:]", word) is not None and is_image(word.removeprefix("docker://"))


def _is_of_etcd(directives: list[Directive], variables: list[Variable]) -> bool:
    """Return whether drop-ins without their unit are those of etcd.service, and set any variable of etcd."""
    folders = {posixpath.basename(posixpath.dirname(one.source.lines[0].path)) for one in directives}
    return folders == {"etcd.service.d"} and any(_OF_ETCD.match(one.name) for one in variables)


def _build(
    command: Command,
    source: Logical | None,
    variables: list[Variable],
    unknown: dict[str, str],
    directives: list[Directive],
) -> dict[str, Any]:
    ignored = _ignored_sizes(directives)
    last = {directive.name: directive for directive in directives if directive not in ignored}
    limit = next((last[name] for name in ("MemoryMax", "MemoryLimit") if name in last), None)
    memlock = last.get("LimitMEMLOCK")
    facts = {fact: last[name] for name, fact in _FACTS.items() if name in last}
    found = member.build(
        "systemd unit",
        command,
        source=source,
        variables=variables,
        unknown=unknown,
        limit={"name": limit.name, "size": limit.value} if limit else None,
        memlock={"name": memlock.name, "size": memlock.value.split(":")[0]} if memlock else None,
        where={one.name: one.source.position(one.name) for one in [limit, *facts.values()] if one},
        facts={fact: {"name": one.name, "value": one.value} for fact, one in facts.items()},
        # systemd passes the variables of a file to etcd, but docker does not.
        passes_on=command.image is None and any(name.startswith("EnvironmentFile=") for name in unknown),
    )
    if ignored:
        found["ignored"] = {f"{one.name}={one.value}": why for one, why in ignored.items()}
    # There etcd creates the data directory if none is set.
    return {**found, "silent": ["data_dir"]} if "WorkingDirectory" in last else found


def _ignored_sizes(directives: list[Directive]) -> dict[Directive, str]:
    """Return the limits whose value systemd refuses, so that the one before them stays in force, with the reason."""
    ignored = {}
    for one in directives:
        # LimitMEMLOCK= may have a soft and a hard limit.
        sizes = one.value.split(":") if one.name == "LimitMEMLOCK" else [one.value]
        if one.name in ("MemoryMax", "MemoryLimit", "LimitMEMLOCK") and not all(map(_SIZE.match, sizes)):
            others = [found for size in sizes if not _SIZE.match(size) and (found := _OTHER_SIZE.match(size))]
            if others:
                meant = ":".join(_OTHER_SIZE.sub(_as_systemd_has_it, size) for size in sizes)
                ignored[one] = f"systemd ignores this size; write {meant} instead"
    return ignored


def _as_systemd_has_it(size: re.Match[str]) -> str:
    return f"{size[1]}{(size[2] or '').upper()}"


def own_variables(directives: list[Directive]) -> list[Variable]:
    """Return the variables of PassEnvironment=, as placeholders, and those of Environment=, which win in systemd."""
    passed = [
        Variable(name, f"${{{name}}}", *directive.source.position(name))
        for directive in directives
        if directive.name == "PassEnvironment"
        for name in directive.value.split()
    ]
    return passed + [
        Variable(name, value, *directive.source.position(name))
        for directive in directives
        if directive.name == "Environment"
        for name, equals, value in (word.partition("=") for word in split_words(directive.value))
        if equals
    ]


def _without_unset(directives: list[Directive], variables: list[Variable]) -> list[Variable]:
    """Leave out the variables that UnsetEnvironment= removes in the end: by name, or with the value that they then have."""
    words = {
        word
        for directive in directives
        if directive.name == "UnsetEnvironment"
        for word in split_words(directive.value)
    }
    last = {variable.name: variable.value for variable in variables}
    return [one for one in variables if not words & {one.name, f"{one.name}={last[one.name]}"}]


def variables_of_files(
    directives: list[Directive], find_file: FindFile, read_variables: ReadVariables = read_environment_of_unit
) -> tuple[list[Variable], dict[str, str]]:
    """Return the variables of EnvironmentFile=; and the files that are not at hand, with the reason."""
    variables: list[Variable] = []
    unknown: dict[str, str] = {}
    for directive in directives:
        if directive.name == "EnvironmentFile":
            named = directive.value.lstrip("-").strip("\"'")
            more, missing = _files([named], directive.source, find_file, read_variables, "EnvironmentFile=")
            variables += more
            unknown |= missing
    return variables, unknown


def _files(
    named: Iterable[str],
    source: Logical,
    find_file: FindFile,
    read_variables: ReadVariables,
    option: str = "--env-file ",
) -> tuple[list[Variable], dict[str, str]]:
    """Return the variables of environment files; and those that are not at hand, with the reason."""
    variables: list[Variable] = []
    unknown = {}
    for path in named:
        lines = find_file(path, source.lines[0].path)
        if lines is None:
            unknown[f"{option}{path}"] = member.NOT_AMONG_THE_FILES
        else:
            ignored = ignored_in(lines)
            unknown |= {written: _ignored_line(line, written) for line, written in ignored.items()}
            places = {(line.path, line.number) for line in ignored}
            found = [one for one in read_variables(lines) if (one.path, one.line) not in places]
            unknown |= {f"{one.name}=": _hidden(one) for one in found if one.hidden and _OF_ETCD.match(one.name)}
            variables += [one for one in found if not one.hidden]
    return variables, unknown


def _ignored_line(line: Line, written: str) -> str:
    form = "export" if written.startswith("export") else "a colon"
    return f"only a shell or Compose reads a line with {form}; write NAME=VALUE in {posixpath.basename(line.path)}"


def _hidden(variable: Variable) -> str:
    reason = "systemd before release 254 takes this line as part of the comment above it, which ends in a backslash"
    return f"{reason}; remove the backslash in {posixpath.basename(variable.path)}"


def unit_of(path: str) -> str:
    """Return the unit's path for a drop-in's (etcd.service.d/limits.conf); the path itself for a unit."""
    folder = posixpath.dirname(path)
    return folder[: -len(".d")] if folder.endswith(".service.d") else path
