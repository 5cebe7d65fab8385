# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read environment files: etcd.conf with its [Member] sections, /etc/default/etcd, etcd.env. systemd reads them more strictly than shells and containers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.command_line import (
    SERVER_FLAG,
    TEMPLATE,
    split_words,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line, Logical, logical_lines

# As spelling.is_server_variable of the policies: clients set ETCD_ENDPOINTS or ETCD_CERT_FILE too.
SERVER_VARIABLE = re.compile(
    r"^ETCD_(LISTEN|ADVERTISE|INITIAL|SNAPSHOT|AUTO_COMPACTION|QUOTA|HEARTBEAT|ELECTION|MAX_REQUEST|DATA_DIR$|CONFIG_FILE$"
    r"|UNSAFE_NO_FSYNC$|FORCE_NEW_CLUSTER$)"
)
ASSIGNMENT = re.compile(r"^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$", re.DOTALL)
# As docker's env_file and conftest's parser take it. systemd does not.
_WITH_COLON = re.compile(r"^\s*(ETCD_[A-Z0-9_]+)\s*:\s+(.*)$")
# A quote that the line does not close.
_OPENS = re.compile(r"^\s*(?:export\s+)?[A-Za-z_]\w*\s*=\s*([\"'])((?!\1)[^\\]|\\.)*$")
_MOST_LINES = 100
_COMMENTED = re.compile(r"([\"'])((?:(?!\1)[\s\S])*)\1\s+#.*")
# Quotes in the expressions of a template belong to the expression.
_EXPRESSION = f"(?-s:{TEMPLATE.pattern})"
# As parse_env_file_internal in systemd's src/basic/env-file.c: texts in quotes, and then one without. A quote that nobody closes has the rest of the file.
_OF_UNIT = re.compile(
    r"[ \t]*([^\s#;][^=\n]*)="
    rf"((?:[ \t]*(?:'(?:{_EXPRESSION}|[^'])*(?:'|\Z)|\"(?:{_EXPRESSION}|[^\"\\]|\\.)*(?:\"|\Z)))*)[ \t]*((?:[^\\\n]|\\.)*)",
    re.DOTALL,
)
_COMMENT_BEHIND = re.compile(r"\s#|(?<=[=\"'])#\s")
_COMMENT_LINE = re.compile(r"\s*[#;]")
# A backslash that no other one escapes.
_GOES_ON = re.compile(r"(?<!\\)(?:\\\\)*\\$")
# A comment of Jinja, which is not in the file that systemd reads.
_REMARK = re.compile(r"\{#.*?#\}")
_NAME = re.compile(r"([A-Za-z_]\w*)\s*", re.ASCII)
# The beginning of a line that only a shell or Compose reads.
_NO_ASSIGNMENT = re.compile(r"\s*(export\s+(?:ETCD_\w+|GOGC|GOMEMLIMIT)(?=\s*=)|ETCD_[A-Z0-9_]+:(?=\s))")
_QUOTED = re.compile(rf"'((?:{_EXPRESSION}|[^'])*)(?:'|\Z)|\"((?:{_EXPRESSION}|[^\"\\]|\\.)*)(?:\"|\Z)", re.DOTALL)
_ESCAPED_IN_QUOTES = re.compile(r"\\([\"\\`$\n])")
_ESCAPED_OR_END = re.compile(r"\\(.)|[ \t]+\Z", re.DOTALL)


class Variable(NamedTuple):
    """One assignment with its position.

    commented: whether the author meant the end of the value as a comment, as in /data # disk, but systemd takes it as part of the value.
    hidden: whether systemd before release 254 takes the line as part of the comment above it.
    """

    name: str
    value: str
    path: str
    line: int
    commented: bool = False
    hidden: bool = False


def read_environment(lines: Iterable[Line]) -> list[Variable]:
    """Return the assignments in their order. Other lines, such as section headers, have no effect, as in systemd."""
    found = []
    for logical in _with_quoted_lines(list(logical_lines(lines))):
        assignment = ASSIGNMENT.match(logical.text)
        if not assignment and logical.lines[0].path.endswith(".env"):
            assignment = _WITH_COLON.match(logical.text)
        if assignment:
            path, line = logical.position(assignment[1])
            found.append(Variable(assignment[1], unquote(assignment[2]), path, line))
    return found


def read_environment_of_unit(lines: Iterable[Line]) -> list[Variable]:
    """Return the assignments as systemd reads those of EnvironmentFile=: it has no comments behind a value, and appends what follows a closing quote."""
    given = [line._replace(text=_REMARK.sub("", line.text)) for line in lines]
    text = "".join(f"{line.text}\n" for line in given)
    found = []
    start = number = 0
    hidden = False
    while number < len(given):
        in_comment = hidden or _COMMENT_LINE.match(given[number].text) is not None
        end = start + len(given[number].text)
        assignment = _OF_UNIT.match(text, start)
        if assignment:
            name = _NAME.fullmatch(assignment[1])
            line = given[number]
            commented = _COMMENT_BEHIND.search(text, assignment.end(2), assignment.end()) is not None
            value = _value_of_unit(assignment)
            found += [Variable(name[1], value, line.path, line.number, commented, hidden)] if name else []
            end = assignment.end()
        # A value may have several lines.
        number += text.count("\n", start, end) + 1
        hidden = in_comment and number <= len(given) and _GOES_ON.search(given[number - 1].text) is not None
        start = text.find("\n", end) + 1 or len(text)
    return found


def ignored_in(lines: Iterable[Line]) -> dict[Line, str]:
    """Return the lines that assign nothing for systemd and container engines, with their beginning, such as export ETCD_NAME."""
    return {line: found[1] for line in lines if (found := _NO_ASSIGNMENT.match(line.text))}


def _value_of_unit(assignment: re.Match[str]) -> str:
    quoted = [
        single or _ESCAPED_IN_QUOTES.sub(lambda found: found[1].strip("\n"), double)
        for single, double in _QUOTED.findall(assignment[2])
    ]
    return "".join(quoted) + _ESCAPED_OR_END.sub(lambda found: (found[1] or "").strip("\n"), assignment[3])


def _with_quoted_lines(given: list[Logical]) -> Iterator[Logical]:
    """Join the lines of a quoted value, which may have several in systemd (systemd.exec(5))."""
    position = 0
    while position < len(given):
        opening = _OPENS.match(given[position].text)
        count = _lines_of_value(given[position + 1 : position + _MOST_LINES], opening[1]) if opening else 0
        joined = given[position : position + 1 + count]
        position += 1 + count
        text = "\n".join(logical.text for logical in joined)
        yield Logical(text, tuple(line for logical in joined for line in logical.lines))


def _lines_of_value(following: list[Logical], quote: str) -> int:
    """Return how many lines follow up to the end of a quoted value; 0 if the quote is not closed at the end of a line."""
    for count, logical in enumerate(following, 1):
        if found := re.match(rf"((?!{quote})[^\\]|\\.)*{quote}(.*)$", logical.text):
            return 0 if re.match(r"\s*[^\s#]", found[2]) else count
    return 0


def unquote(value: str) -> str:
    """Return a value without the quotes around it, and without a comment behind the quotes."""
    value = value.strip()
    commented = _COMMENTED.fullmatch(value)
    if commented:
        return commented[2]
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


def is_server(variables: Iterable[Variable]) -> bool:
    """Return whether the variables configure a server, in etcd's own variables or in flags for a unit such as ETCD_OPTS."""
    return any(SERVER_VARIABLE.match(variable.name) or flags_in(variable) for variable in variables)


def flags_in(variable: Variable) -> list[str]:
    """Return the flags of etcd in a variable such as DAEMON_ARGS; empty if it has none that only a server takes."""
    words = split_words(variable.value) if variable.value.lstrip().startswith("-") else []
    return words if any(SERVER_FLAG.match(word) for word in words) else []
