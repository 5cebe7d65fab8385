# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read shell scripts: the files that they write with here-documents, and the etcd that they start."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader import member
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.scripts import appended, start_without_flags
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell import install
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.command_line import (
    SERVER_FLAG,
    Command,
    expand,
    find_etcd,
    split_words,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.commands import commands_of
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.environment import Variable, unquote
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.sources import exports_sourced, sources_in
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.variables import (
    arrays_in,
    assignments_in,
    constants_of,
    expand_line,
    exported_variables,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line, logical_shell_lines

_HEREDOC = re.compile(r"<<([-~]?)\s*(\\?)(['\"]?)(\w+)\3")
# A here-document that is printed or kept in a variable, such as a help text.
_SHOWS = re.compile(r"^\s*(?:cat\s*<<-?\s*\\?['\"]?\w+['\"]?\s*(?:\d?>&2)?\s*$|read\s|\w+=[\"']?\$\(\s*cat\s*<<)")
PRINTED = "printed text"
# One that a shell runs, perhaps on another host, as in Vagrant and Terraform.
_RUNS = re.compile(
    r"\b(?:(?:ba|da|z|k)?sh|ssh|su|inline|shell|script|user_data|metadata_startup_script|custom_data|command)\b",
    re.IGNORECASE,
)
SCRIPT = "script"
# echo "… over several lines
_PRINTS = re.compile(r"^\s*(?:sudo\s+)?(?:echo|printf)\s+(?:-e\s+)?([\"'])((?:(?!\1).)*)$")
_LONGEST_TEXT = 500
_NAME = r"(ETCD_[A-Z_]+)"
_WRITES = re.compile(rf"^\s*(?:sudo\s+)?(sed|echo|printf)\s.*{_NAME}=")
_SUBSTITUTES = re.compile(r"['\"\s;]s([^\w\s\\])")
_LAST_PATH = re.compile(r"\s['\"]?(/[^\s'\"]+)['\"]?\s*$")
_COLLECTS = re.compile(r"^\s*(?:[)}]|done\b).*(?:>|\btee\b)|^\s*[\w-]+(?:\s[^>|]*)?>>?\s*[\"']?\S*etcd")
_TARGET = re.compile(r"(?:>>?|\btee(?:\s+-a)?)\s*['\"]?([^\s'\"|&;<>]+)")
# NAME["flag"]=…
_ELEMENT = re.compile(r"^\s*([A-Za-z_]\w*)\[[\"']?([a-z][a-z-]+)[\"']?\]=(.+?)\s*$")
# NAME="etcd --flag …"
_KEPT = re.compile(r"^\s*(?:export\s+|local\s+)?([A-Za-z_]\w*)=([\"'])((?:[\w./-]*/)?etcd\s+-.*)\2\s*$")
# NAME=(--flag …) and NAME+=(--flag …), perhaps under a condition
_ARRAY = re.compile(
    r"(?:^|[;&|]|\b(?:then|else|do)\s|\b(?:local|readonly|declare|typeset)\s(?:-\w+\s+)*)\s*([A-Za-z_]\w*)(\+?)=\("
)
_REFERENCE = re.compile(r"\$\{?(\w+)")
_OWN_VARIABLE = re.compile(r"(ETCD_\w+|GOGC|GOMEMLIMIT)=")
_STARTS_SERVICE = re.compile(
    r"^\s*(?:sudo\s+)?(?:systemctl\s+(?:-\S+\s+)*(?:enable|start|restart|reenable)\s+(?:\S+\s+)*etcd(?:\.service)?"
    r"|service\s+etcd\s+(?:re)?start|/etc/(?:rc\.d/)?init\.d/etcd\s+(?:re)?start|update-rc\.d\s+etcd)(?=\s|;|&|$)"
)


class Written(NamedTuple):
    """A file that a script writes: its path on the host, and its lines with their numbers in the script."""

    target: str
    lines: list[Line]


def split_script(lines: list[Line]) -> tuple[list[Written], list[Line]]:
    """Return the files that here-documents contain, and the script's own lines."""
    written: list[Written] = []
    own: list[Line] = []
    constants = constants_of(lines)
    position = 0
    while position < len(lines):
        line = lines[position]
        position += 1
        own.append(line)
        opening = None if line.text.lstrip().startswith("#") else _HEREDOC.search(line.text)
        printed = None if opening else _printed(lines, position - 1)
        if printed:
            position += len(printed.lines) - 1
            known = constants if '"' in line.text else {}
            written.append(printed._replace(lines=[expand_line(item, known) for item in printed.lines]))
            own.pop()
        if not opening:
            continue
        body = []
        while position < len(lines) and lines[position].text.strip() != opening[4]:
            text = lines[position].text
            # After <<- the shell removes tabs.
            body.append(lines[position]._replace(text=text.lstrip("\t") if opening[1] == "-" else text))
            position += 1
        position += 1
        target = _TARGET.search(line.text.replace(opening[0], " "))
        use = PRINTED if _SHOWS.match(line.text) else SCRIPT if _RUNS.search(line.text) else ""
        expanded = body if opening[2] or opening[3] else [expand_line(item, constants) for item in body]
        written.append(Written(unquote(target[1]) if target else use, expanded))
    return [*written, *_edited(own, constants)], own


def without_help(lines: list[Line]) -> str:
    """Return a script's text with empty lines in place of the texts that it prints."""
    written, _own = split_script(lines)
    printed = {line.number for inner in written if inner.target == PRINTED for line in inner.lines}
    return "\n".join("" if line.number in printed else line.text for line in lines)


def _printed(lines: list[Line], first: int) -> Written | None:
    """Return the file that echo or printf writes as one text of several lines, from its first line on."""
    opening = _PRINTS.match(lines[first].text)
    if not opening:
        return None
    quote = opening[1]
    for number in range(first + 1, min(first + _LONGEST_TEXT, len(lines))):
        ending = re.match(rf"((?:[^{quote}\\]|\\.)*){quote}(.*)$", lines[number].text)
        if ending:
            target = _TARGET.search(ending[2])
            body = [lines[first]._replace(text=opening[2]), *lines[first + 1 : number]]
            body.append(lines[number]._replace(text=ending[1]))
            # The first line is the command's own.
            return Written(unquote(target[1]), body) if target else None
    return None


def _edited(own: list[Line], constants: dict[str, str]) -> list[Written]:
    """Return the files into which sed, echo and printf write etcd's variables, with the lines that they write."""
    files: dict[str, list[Line]] = {}
    # The output of a group or a function may go to a file.
    may_collect = any(_COLLECTS.search(line.text) for line in own)
    for logical in logical_shell_lines(own):
        command = _WRITES.match(logical.text)
        if not command:
            continue
        target = _TARGET.search(logical.text) or _LAST_PATH.search(logical.text)
        if not target and command[1] != "sed" and not may_collect:
            continue
        for name, value in _assignments(logical.text, command[1]):
            path, number = logical.position(name)
            line = expand_line(Line(path, number, f"{name}={value}"), constants)
            files.setdefault(target[1] if target else "", []).append(line)
    configurations = appended.files_of(own, constants)
    return [Written(target, lines) for found in (files, configurations) for target, lines in found.items()]


def _assignments(text: str, command: str) -> list[tuple[str, str]]:
    """Return the variables and values in a command that writes them; without those in the pattern that sed replaces."""
    separator = _SUBSTITUTES.search(text) if command == "sed" else None
    ends = r"\s\"';" + (re.escape(separator[1]) if separator else "")
    # Quoted, perhaps after a backslash; or up to an end that has no backslash before it.
    value = rf"\\?\"(.*?)\\?\"|((?:\\[^n]|[^{ends}\\])*)"
    found = re.findall(rf"(?:(?<![\w$])|(?<=\\n)){_NAME}=(?:{value})", text)
    pairs = [(name, re.sub(r"\\(.)", r"\1", quoted or bare)) for name, quoted, bare in found]
    # Skip patterns, such as ETCD_NAME=.* in a substitution and /ETCD_NAME=/d. What printf fills in is unknown.
    kept = [(name, value) for name, value in pairs if value and not re.search(r"[.\]][*+]|^/\w?$", value)]
    return [(name, value.replace("%s", "${value}")) for name, value in kept]


def _members_of_arrays(own: list[Line], constants: dict[str, str]) -> list[dict[str, Any]]:
    """Return the members whose flags are the keys of an associative array of bash."""
    arrays: dict[str, list[tuple[str, Line]]] = {}
    for line in own:
        found = _ELEMENT.match(line.text)
        if found:
            value = " ".join(expand([unquote(re.sub(r"\s+#.*$", "", found[3]))], constants))
            arrays.setdefault(found[1], []).append((f"--{found[2]}={value}", line))
    return [
        member.build(
            "script",
            Command(("etcd", *(flag for flag, _line in flags))),
            where={flag.partition("=")[0]: (line.path, line.number) for flag, line in flags},
        )
        for flags in arrays.values()
        if sum(1 for flag, _line in flags if SERVER_FLAG.match(flag)) > 1
    ]


def served_elsewhere(own: list[Line]) -> dict[str, Any] | None:
    """Return a member without settings for a script that starts etcd as a service whose unit is another file, or installs it; None for other scripts."""
    starts = any(_STARTS_SERVICE.match(line.text) for line in own) and not install.of_client(own)
    return member.elsewhere("script") if starts or install.of_script(own) else None


def _kept_command(text: str, constants: dict[str, str]) -> list[str]:
    """Return the words of a command line of etcd that is kept in a variable; empty for other lines.

    A constant is left to the line that runs it. The script's own arguments count as empty, as if a later line added them.
    """
    found = _KEPT.match(text)
    words = split_words(found[3]) if found and found[1] not in constants else []
    words = [word for word in words if word not in ("$*", "$@")]
    return words if any(SERVER_FLAG.match(word) for word in words) else []


def members_of(own: list[Line]) -> list[dict[str, Any]]:
    """Return the members that a script starts itself."""
    constants = constants_of(own)
    programs = start_without_flags.programs_of(own)
    commands = start_without_flags.lines_outside_quotes(own)
    used = {name for line in own for name in _REFERENCE.findall(line.text)}
    elements = {line for array in arrays_in(own) if array.name in used for line in array.inner}
    sources = sources_in(own)
    members = []
    for logical in logical_shell_lines(own):
        if logical.lines[0] in elements or _fills_array(logical.text, constants, used):
            # The line that runs it counts.
            continue
        text = start_without_flags.name_program(logical.text, programs)
        words = _kept_command(text, constants) or split_words(text)
        command = find_etcd(words, constants)
        if command is None or not _has_settings(command, words):
            if not (logical.lines[0] in commands and start_without_flags.is_start(text)):
                continue
            command = command or Command(("etcd",))
        before = [word.partition("=") for word in words if _OWN_VARIABLE.match(word)]
        given = [Variable(name, value, *logical.position(name)) for name, _equals, value in before]
        unread = {f"--env-file {path}": member.NOT_AMONG_THE_FILES for path in command.environment_files}
        exported = exported_variables(own, logical.lines[0])
        if command.image is None:
            unread |= member.unread_sources(sources)
        else:
            # A container gets the variables that its command passes on.
            values = {variable.name: variable.value for variable in exported}
            environment = tuple((name, _passed(name, value, values)) for name, value in command.environment)
            command, exported = command._replace(environment=environment), []
        built = member.build("script", command, source=logical, variables=[*exported, *given], unknown=unread)
        if command.image is None and exports_sourced(own, logical.lines[0]):
            # The script's own assignments may not be exported.
            own_names = {one.name for one in assignments_in(commands_of(own))}
            repeated = member.repeated(command.words)
            built["twice"] = {flag: variable for flag, variable in repeated.items() if variable not in own_names}
        members.append(built)
    if not any(word.startswith("-") for found in members for word in found["command"]):
        members = _members_of_arrays(own, constants) or members
    # A command of a recovery is not how the script usually starts etcd.
    return [found for found in members if "--force-new-cluster" not in found["command"]] or members


def _passed(name: str, value: str, values: dict[str, str]) -> str:
    """Return the value of a variable for a container, which may be that of the script."""
    return values.get(name, value) if value == f"${{{name}}}" else value


def _fills_array(text: str, constants: dict[str, str], used: set[str]) -> bool:
    """Return whether a line sets or extends an array of arguments that another line uses."""
    found = _ARRAY.search(text)
    return found is not None and (found[1] in constants or bool(found[2])) and found[1] in used


def _has_settings(command: Command, words: list[str]) -> bool:
    """Return whether a command has an image, flags or variables. A bare `etcd` is also a word of a loop or of a message."""
    return (
        command.image is not None
        or any(word.startswith("-") for word in command.words[1:])
        or any(map(_OWN_VARIABLE.match, words))
    )
