# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the commands of a shell script that may set variables whose names the script does not have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.commands import commands_of, exports_all
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line, lines_of

# As in formats.container of the policies (tests/policies/test_reader_tables.py compares both): files with functions, or with facts about the system.
LIBRARY = re.compile(
    r"(^|/)(\.?(bashrc|profile|bash_profile)|(init-|rc-?)?functions?(\.sh)?|(os|lsb)-release|activate|bash_completion|rc\.subr)$"
)
# A line that only sources a file, perhaps if the file exists.
_SOURCES = re.compile(
    r"^\s*(?:(?:\[\[?|test)\s+-[efrs]\s+\S+\s+(?:\]\]?\s*)?&&\s*)?(?:\.|source)\s+[\"']?([^\s\"';&|]+)[\"']?\s*;?\s*(?:#.*)?$"
)
_SETS = re.compile(r"^\s*(?:#.*|set [-+]a|(?:export\s+)?[A-Za-z_]\w*=.*)?$")
# Commands that may keep variables from the command after them.
_LOSES = {"env", "unset", "sudo", "doas", "su", "runuser"}
_OWN_VALUE = re.compile(r"\bETCD_\w+=")
_OUTPUT = re.compile(r"^[\"']?(\$[({@\w]|`)")
# A program that prints the contents of a file.
_READS = re.compile(r"\b(cat|grep|egrep|sed|awk|cut|xargs|envsubst|source|env)\b")


def sources_in(lines: Iterable[Line]) -> list[str]:
    """Return the commands: of a sourced file with its path, of others the first word."""
    found = []
    for command in commands_of(lines):
        first, *words = command.words
        if first in (".", "source"):
            path = words[0].strip("\"'") if words else ""
            found += [f"{first} {path}"] if path and not LIBRARY.search(path) else []
        elif first == "export" and any(map(_OUTPUT.match, words)):
            found.append("export $(command)")
        elif first == "eval" and any(_OUTPUT.match(word) and _READS.search(word) for word in words):
            found.append("eval $(command)")
    return list(dict.fromkeys(found))


def exports_sourced(lines: Iterable[Line], start: Line | None = None) -> bool:
    """Return whether a script exports the variables of a file that it sources, as after set -a, before its line ``start`` has ended."""
    is_exporting = has_exported = is_started = False
    for command in commands_of(lines):
        first, *words = command.words
        if not _LOSES.isdisjoint(command.words):
            return False
        is_line = command.source.lines[0] == start
        if is_started and not is_line:
            break
        is_started = is_line
        if first == "set":
            is_exporting = exports_all(words, is_exporting)
        elif first in (".", "source") and words and not LIBRARY.search(words[0].strip("\"'")):
            has_exported = has_exported or is_exporting
    return has_exported


def exports_sourced_in_text(text: str) -> bool:
    """Tell the same of the text of a script that gives none of etcd's variables a value itself."""
    return "set" in text and not _OWN_VALUE.search(text) and exports_sourced(lines_of("", text))


def with_sourced(lines: Iterable[Line], find: Callable[[str], list[Line]]) -> list[Line]:
    """Put the lines of sourced files in place of the lines that source them. find: path → its lines, empty if it is not at hand."""
    found = []
    for line in lines:
        source = _SOURCES.match(line.text)
        sourced = find(source[1]) if source else []
        # A file with commands is read by itself.
        found += sourced if sourced and all(_SETS.match(inner.text) for inner in sourced) else [line]
    return found


def sources_in_text(text: str) -> list[str]:
    """Return the commands in the text of a script, such as that of sh -c."""
    return sources_in(lines_of("", text))


def is_file(source: str) -> bool:
    """Return whether such a command reads a file that it names."""
    return source.startswith((". ", "source "))
