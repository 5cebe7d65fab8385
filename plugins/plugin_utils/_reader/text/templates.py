# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take conditions out of templates of Jinja, Go, ERB and Terraform, so that a line under a condition is never read as a fact."""

from __future__ import annotations

import re

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line

# A line that is only a statement of Jinja, Go, ERB or Terraform.
_TAG = re.compile(
    r"^\s*(?:\{%[-+]?\s*(.+?)\s*[-+]?%\}|\{\{-?\s*((?:if|else|end|range|with)\b.*?)\s*-?\}\}"
    r"|<%-?\s*([^=\s-].*?)\s*-?%>|%\{\s*(.+?)\s*~?\})\s*\\?\s*$"
)
_LOOPS = ("for", "range", "with", "block", "filter", "raw", "macro")
_CONDITIONS = ("if", "unless", "case")
# A loop of Ruby.
_DO = re.compile(r"\bdo(\s*\|[^|]*\|)?$")
_ASSIGNMENT = re.compile(r"^(\s*(?:export\s+|Environment=[\"']?)?[A-Z][A-Z0-9_]*=)")
# What the policies take for a value that is filled in at deployment.
UNKNOWN = "{{condition}}"


def settle(lines: list[Line]) -> list[Line]:
    """Return the lines without tags and macros. Under a condition, the value of an assignment is unknown, and other lines become one placeholder.

    The placeholder stands only inside a command of several lines. The content of a loop stays, once.
    """
    if not any(_TAG.match(line.text) for line in lines):
        return lines
    settled: list[Line] = []
    open_tags: list[str] = []
    block: list[Line] = []
    for line in lines:
        found = _TAG.match(line.text)
        statement = next(filter(None, found.groups())) if found else ""
        word = re.split(r"\W", statement, maxsplit=1)[0]
        if word in _CONDITIONS:
            open_tags.append("if")
        elif word in _LOOPS or _DO.search(statement):
            open_tags.append("macro" if word == "macro" else "loop")
        elif word == "endmacro" and "macro" in open_tags:
            # Tags that one line opens and closes again count as open.
            open_tags = open_tags[: open_tags.index("macro")]
        elif word.startswith("end") and open_tags:
            open_tags.pop()
            if "if" not in open_tags:
                settled += _without_condition(block, settled)
                block = []
        elif not found and "macro" in open_tags:
            # The output of a macro appears where the macro is called.
            continue
        elif not found and "if" in open_tags:
            block.append(line)
        elif not found:
            settled.append(line)
    return settled


def _without_condition(block: list[Line], before: list[Line]) -> list[Line]:
    """Return the known part of the lines under a condition."""
    if not block:
        return []
    assigned = [line._replace(text=f"{found[1]}{UNKNOWN}") for line in block if (found := _ASSIGNMENT.match(line.text))]
    if not before or not before[-1].text.rstrip().endswith("\\"):
        return assigned
    goes_on = " \\" if block[-1].text.rstrip().endswith("\\") else ""
    return [block[0]._replace(text=f"{UNKNOWN}{goes_on}")]


# A placeholder for a value, in Jinja, Terraform and ERB.
_PLACEHOLDER = re.compile(r"\{\{(.{,500}?)\}\}|\$\{(.{,500}?)\}|<%=(.{,500}?)%>")
_OPENS = re.compile(r"(?:if|unless|case|with|block|filter|raw|macro|for|range)\b")
_HEADER = re.compile(r"^for\b.*?\bin\s+(\S.*)$|^range\s+(?:.*:=\s*)?(\S.*)$|^(.*)\bdo\b")


def name_hosts(lines: list[Line]) -> list[Line]:
    """Return the lines of an inventory in INI without tags, with placeholders as words: in a loop, with what it goes over.

    Hosts of two equal loops have equal names. A host under a condition has a name of its own.
    """
    named: list[Line] = []
    open_tags: list[str] = []
    for line in lines:
        found = _TAG.match(line.text)
        statement = next(filter(None, found.groups())) if found else ""
        if statement.startswith("end"):
            open_tags = open_tags[:-1]
        elif _OPENS.match(statement) or _DO.search(statement):
            open_tags.append(statement)
        elif not found:
            named.append(_named(line, open_tags))
    return named


def _named(line: Line, open_tags: list[str]) -> Line:
    loops = [_of_loop(tag) for tag in open_tags if not tag.startswith(_CONDITIONS)]
    text = _PLACEHOLDER.sub(lambda part: _word(next(filter(None, part.groups()), ""), loops), line.text)
    is_conditional = len(loops) < len(open_tags)
    return line._replace(text=_perhaps(text, line.number) if is_conditional else text)


def _of_loop(tag: str) -> str:
    found = _HEADER.match(tag)
    return next(filter(None, found.groups()), "") if found else tag


def _word(expression: str, loops: list[str]) -> str:
    return "{{" + re.sub(r"[^\w.,()|-]+", "", "|".join([expression, *loops])) + "}}"


def _perhaps(text: str, number: int) -> str:
    """Return a line of an inventory under a condition: an unknown value of a variable, or an unknown host."""
    variable = re.match(r"^\s*(\w+)\s*=", text)
    if variable:
        return f"{variable[1]}={UNKNOWN}"
    return "{{condition." + str(number) + "}}" if re.match(r"^\s*[^\s\[#;]", text) else text
