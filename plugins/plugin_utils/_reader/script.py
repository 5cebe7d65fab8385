# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read shell scripts: the files that they write with here-documents, and the etcd that they start."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, NamedTuple

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader import install, member
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.command_line import (
    SERVER_FLAG,
    Command,
    expand,
    find_etcd,
    split_words,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.environment import Variable, is_server, unquote
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.source import Line, logical_lines

_HEREDOC = re.compile(r"<<(-?)\s*(\\?)(['\"]?)(\w+)\3")
# echo "… over several lines
_PRINTS = re.compile(r"^\s*(?:sudo\s+)?(?:echo|printf)\s+(?:-e\s+)?([\"'])((?:(?!\1).)*)$")
_LONGEST_TEXT = 500
_NAME = r"(ETCD_[A-Z_]+)"
_WRITES = re.compile(rf"^\s*(?:sudo\s+)?(sed|echo|printf)\s.*{_NAME}=")
_SUBSTITUTES = re.compile(r"['\"\s;]s([^\w\s\\])")
_LAST_PATH = re.compile(r"\s['\"]?(/[^\s'\"]+)['\"]?\s*$")
_TARGET = re.compile(r"(?:>>?|\btee(?:\s+-a)?)\s*['\"]?([^\s'\"|&;<>]+)")
_ASSIGNMENT = re.compile(
    r"^\s*(export\s+|readonly\s+|local\s+|(?:declare|typeset)\s+(?:-\w+\s+)*)?([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|[^\s;&|]*)\s*(?:$|;|&&|#)"
)
# : ${NAME:=value}
_DEFAULT = re.compile(r"^\s*:\s+\"?\$\{(\w+):?=([^{}]*)\}\"?\s*$")
# NAME+=…, for NAME in … and read NAME
_CHANGES = re.compile(r"^\s*(?:(\w+)\+=|for\s+(\w+)\s+in\b|(?:while\s+)?(?:IFS=\S*\s+)?read\s+(?:-\w+\s+)*(\w+))")
# export NAME NAME
_EXPORTS = re.compile(r"^\s*export((?:\s+[A-Za-z_]\w*)+)\s*$")
_VARIABLE = re.compile(r"(?<!\\)\$(?:\{(\w+)(?::?[-=]([^{}$`]*))?\}|(\w+))")
# NAME="…", NAME="$NAME …" and NAME+=" …"
_COLLECTS = re.compile(r"^(\s*)(?:export\s+|local\s+)?([A-Za-z_]\w*)(\+?)=(\"[^\"]*\"|'[^']*')\s*$")
_ARRAY = re.compile(r"^\s*(?:local\s+|declare\s+-a\s+)?([A-Za-z_]\w*)=\(([^()]*)\)", re.MULTILINE)
# NAME["flag"]=…
_ELEMENT = re.compile(r"^\s*([A-Za-z_]\w*)\[[\"']?([a-z][a-z-]+)[\"']?\]=(.+?)\s*$")
# NAME="etcd --flag …"
_KEPT = re.compile(r"^\s*(?:export\s+|local\s+)?([A-Za-z_]\w*)=([\"'])((?:[\w./-]*/)?etcd\s+-.*)\2\s*$")
# etcd without a flag, as a command rather than a word.
_IN_BACKGROUND = re.compile(r"(?:^|[\s;&|\"'])(?:nohup|exec|setsid)\s+(?:[\w./-]*/)?etcd\s*(?:[&>\"']|$)")


# The first word of a command that is etcd, with variables from the environment.
_ALONE = re.compile(r"([\w./-]*/)?etcd$")
_STARTS_SERVICE = re.compile(
    r"^\s*(?:sudo\s+)?(?:systemctl\s+(?:-\S+\s+)*(?:enable|start|restart|reenable)\s+(?:\S+\s+)*etcd(?:\.service)?"
    r"|service\s+etcd\s+(?:re)?start|/etc/(?:rc\.d/)?init\.d/etcd\s+(?:re)?start|update-rc\.d\s+etcd)(?=\s|;|&|$)"
)


class _Step(NamedTuple):
    """One assignment of a variable that collects arguments."""

    indent: str
    extends: bool
    text: str


class Written(NamedTuple):
    """A file that a script writes: its path on the host, and its lines with their numbers in the script."""

    target: str
    lines: list[Line]


def split_script(lines: list[Line]) -> tuple[list[Written], list[Line]]:
    """Return the files that here-documents contain, and the script's own lines."""
    written: list[Written] = []
    own: list[Line] = []
    constants = _constants(lines)
    position = 0
    while position < len(lines):
        line = lines[position]
        position += 1
        own.append(line)
        opening = None if line.text.lstrip().startswith("#") else _HEREDOC.search(line.text)
        printed = None if opening else _printed(lines, position - 1)
        if printed:
            position += len(printed.lines) - 1
            constants_of = constants if '"' in line.text else {}
            written.append(printed._replace(lines=[_expand(item, constants_of) for item in printed.lines]))
            own.pop()
        if not opening:
            continue
        body = []
        while position < len(lines) and lines[position].text.strip() != opening[4]:
            text = lines[position].text
            # After <<- the shell removes tabs.
            body.append(lines[position]._replace(text=text.lstrip("\t") if opening[1] else text))
            position += 1
        position += 1
        target = _TARGET.search(line.text.replace(opening[0], " "))
        expanded = body if opening[2] or opening[3] else [_expand(item, constants) for item in body]
        written.append(Written(unquote(target[1]) if target else "", expanded))
    return [*written, *_edited(own, constants)], own


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
    for logical in logical_lines(own, comments="#"):
        command = _WRITES.match(logical.text)
        if not command:
            continue
        target = _TARGET.search(logical.text) or _LAST_PATH.search(logical.text)
        for name, value in _assignments(logical.text, command[1]):
            path, number = logical.place(name)
            line = _expand(Line(path, number, f"{name}={value}"), constants)
            files.setdefault(target[1] if target else "", []).append(line)
    return [Written(target, lines) for target, lines in files.items()]


def _assignments(text: str, command: str) -> list[tuple[str, str]]:
    """Return the variables and values in a command that writes them; without those in the pattern that sed replaces."""
    separator = _SUBSTITUTES.search(text) if command == "sed" else None
    ends = r"\s\"';" + (re.escape(separator[1]) if separator else "")
    # Quoted, perhaps behind a backslash; or up to an end that has no backslash before it.
    value = rf"\\?\"(.*?)\\?\"|((?:\\[^n]|[^{ends}\\])*)"
    found = re.findall(rf"(?:(?<![\w$])|(?<=\\n)){_NAME}=(?:{value})", text)
    pairs = [(name, re.sub(r"\\(.)", r"\1", quoted or bare)) for name, quoted, bare in found]
    # Skip patterns, such as ETCD_NAME=.* in a substitution and /ETCD_NAME=/d. What printf fills in is unknown.
    kept = [(name, value) for name, value in pairs if value and not re.search(r"[.\]][*+]|^/\w?$", value)]
    return [(name, value.replace("%s", "${value}")) for name, value in kept]


def _constants(lines: list[Line]) -> dict[str, str]:
    """Return the variables that the script sets once, to a text without substitutions, or to a default."""
    assignments = [pair for line in lines if (pair := _assigned(line.text))]
    times = Counter(name for name, _value in assignments)
    times.update(name for line in lines if (name := _changed(line.text)))
    constants: dict[str, str] = {}
    # In the order of the script, so that a constant may consist of earlier ones.
    for name, written in assignments:
        value = _filled(unquote(written), constants)
        if times[name] == 1 and value and not _is_open(name, value):
            constants[name] = value
    return {**constants, **_arguments(lines, constants)}


def _assigned(text: str) -> tuple[str, str] | None:
    """Return the variable that a line sets, and its value as it is written."""
    found = _ASSIGNMENT.match(text)
    default = None if found else _DEFAULT.match(text)
    return (found[2], found[3]) if found else (default[1], default[2]) if default else None


def _is_open(name: str, value: str) -> bool:
    """Tell whether a value has parts that are not known. A URL may have other variables, such as one for its host."""
    if "://" not in value:
        return re.search(r"[$`]", value) is not None
    return re.search(rf"`|\$[^{{A-Za-z_]|\$\{{?{name}\b", value) is not None


def _changed(text: str) -> str:
    """Return the variable that a line extends, reads or sets in turn; empty for other lines."""
    found = _CHANGES.match(text)
    return next(filter(None, found.groups())) if found else ""


def _filled(text: str, constants: dict[str, str]) -> str:
    """Replace the variables in a text that are constants, and others by the default beside their name."""
    return _VARIABLE.sub(lambda found: constants.get(found[1] or found[3], found[2] or found[0]), text)


def _arguments(lines: list[Line], constants: dict[str, str]) -> dict[str, str]:
    """Return the arguments that a script collects, by the name of the variable or the array."""
    collected = {name: _filled(text, constants) for name, text in {**_appended(lines), **_arrays(lines)}.items()}
    return {name: text for name, text in collected.items() if re.search(r"(^|\s)--?[a-z]", text)}


def _appended(lines: list[Line]) -> dict[str, str]:
    """Return the variables that are set once and then extended, all at one indentation: what a condition adds is not certain."""
    steps: dict[str, list[_Step]] = {}
    for line in lines:
        found = _COLLECTS.match(line.text)
        if found:
            indent, name, plus, quoted = found.groups()
            value = unquote(quoted)
            added = re.sub(rf"^\$\{{?{name}\b\}}?", "", value)
            steps.setdefault(name, []).append(_Step(indent, bool(plus) or added != value, added))
    return {
        name: " ".join(step.text for step in [first, *more])
        for name, (first, *more) in steps.items()
        if more and [step.extends for step in (first, *more)] == [False] + [True] * len(more)
        if all(step.indent == first.indent for step in more)
    }


def _arrays(lines: list[Line]) -> dict[str, str]:
    """Return the elements of arrays, without comments."""
    arrays = _ARRAY.findall("\n".join(line.text for line in lines))
    return {
        name: " ".join(re.sub(r"(^|\s)#.*", "", part).strip() for part in body.splitlines()) for name, body in arrays
    }


def _expand(line: Line, constants: dict[str, str]) -> Line:
    """Expand a line of a here-document whose delimiter is not quoted."""
    text = _filled(line.text, constants)
    return line._replace(text=re.sub(r"\\\\$", r"\\", text).replace("\\$", "$"))


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
            None,
            [],
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

    A constant is left to the line that runs it.
    """
    found = _KEPT.match(text)
    words = split_words(found[3]) if found and found[1] not in constants else []
    return words if any(SERVER_FLAG.match(word) for word in words) else []


def exported_variables(own: list[Line]) -> list[Variable]:
    """Return the variables that a script exports, at once or later by their names, with its constants filled in."""
    constants = _constants(own)
    later = {name for line in own if (found := _EXPORTS.match(line.text)) for name in found[1].split()}
    return [
        Variable(pair[0], " ".join(expand([unquote(pair[1])], constants)), line.path, line.number)
        for line in own
        if (pair := _assigned(line.text)) and (line.text.lstrip().startswith("export") or pair[0] in later)
    ]


def members_of(own: list[Line]) -> list[dict[str, Any]]:
    """Return the members that a script starts itself."""
    constants = _constants(own)
    exported = exported_variables(own)
    members = []
    for logical in logical_lines(own, comments="#"):
        words = _kept_command(logical.text, constants) or split_words(logical.text)
        command = find_etcd(words, constants)
        # A bare `etcd` is also a word of a loop or of a message.
        before = [word.partition("=") for word in words if re.match(r"^ETCD_\w+=", word)]
        if command is None or not (
            command.image
            or any(word.startswith("-") for word in command.words[1:])
            or _IN_BACKGROUND.search(logical.text)
            or before
            or (_ALONE.match(words[0]) and is_server(exported))
        ):
            continue
        given = [Variable(name, value, *logical.place(name)) for name, _equals, value in before]
        unread = {f"--env-file {path}": member.NOT_AMONG_THE_FILES for path in command.environment_files}
        members.append(member.build("script", command, logical, [*exported, *given], unknown=unread))
    members += _members_of_arrays(own, constants) if not members else []
    # A command of a recovery is not how the script usually starts etcd.
    return [found for found in members if "--force-new-cluster" not in found["command"]] or members
