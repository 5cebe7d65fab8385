# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make YAML of a template of Helm, Jinja, ERB or Terraform: statements go, and what stands under a condition becomes unknown. Lines keep their numbers."""

from __future__ import annotations

import json
import re

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents.ansible_yaml import (
    Parsed,
    read_documents,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.recognize import (
    Text,
    is_configuration,
    is_manifest,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line, Unparsed
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.templates import UNKNOWN

# A line that is only a statement or an expression, and its content.
_ALONE = re.compile(
    r"^\s*(?:\{\{-?\s*(.*?)\s*-?\}\}|\{%[-+]?\s*(.*?)\s*[-+]?%\}|<%-?\s*(.*?)\s*-?%>|%\{\s*(.*?)\s*~?\})\s*(?:\\\s*)?$",
    re.DOTALL,
)
_OPENS = re.compile(r"(if|unless|with|range|for|define|block|macro|filter|raw)\b|.*\bdo(\s*\|.*\|)?$")
_CONDITIONS = ("if", "unless", "with")
_PART = re.compile(r"\{\{.{,500}?\}\}|\{%.{,500}?%\}|<%.{,500}?%>|%\{[^{}]{,500}\}")
_COMMENT = re.compile(r"\{\{-?\s*/\*.*?\*/\s*-?\}\}|\{#.*?#\}", re.DOTALL)
# A name that is a part of a template from its beginning: quotes around it keep it readable.
_NAME = re.compile(r"^\s*(- )?name:[ \t]+\{\{")
_IMAGE = re.compile(r"^\s*(- )?image:\s")
_DEFAULT = re.compile(r"\{\{[^{}]*\|\s*default\s+[\"']([\w.-]+)[\"']\s*-?\}\}")
# An expression of several lines.
_LONG = re.compile(r"(\{\{(?:(?!\{\{|\}\}|\{%)[\s\S]){1,1000}\}\})(.*)")
_INDENT = re.compile(r"\bn?indent\s+(\d+)")
_ITEM = re.compile(r"^(\s*)- ")
_LISTS = re.compile(r"^\s*(?:- )?(?:args|command|env|envFrom|environment):\s*$")
_FLAG = re.compile(r"^(\s*- )[\"']?(--?[A-Za-z][\w-]*)")
_PAIR = re.compile(r"^(\s*(?:- )?([\w./-]+):[ \t]+)(.*\S)\s*$")
_TEXT = re.compile(r"^(\s*)(?:- |[\w./-]+:\s+)*[|>][-+]?\d*\s*$")
_RESOURCE = re.compile(r"^\s*(apiVersion|kind|services):")
_ASSIGNMENT = re.compile(r"^(\s*(?:export\s+)?[A-Z][A-Z0-9_]*=)")
_YAML = re.compile(r"^\s*(- |-$|[\w.\"'/-]+:(\s|$)|[}\]])")
# What a line of YAML may begin with if it is not indented.
_OUTER = re.compile(r"^(\s|#|---|\.\.\.|- |-$|[}\]]|[\w.\"'/-]+:(\s|$)|$)")


def parse(file: Text, is_cloud_config: bool) -> Parsed:
    """Parse a file as YAML. A template that is not YAML is read without its statements. Raises Unparsed."""
    first = file.lines[0].number if file.lines else 1
    try:
        return read_documents(file.path, file.text + "\n", first)
    except Unparsed:
        lines = outline(file.lines)
        is_known = is_cloud_config or is_manifest(file.text) or is_configuration(file) or file.target.endswith(".sls")
        if not lines or not is_known:
            raise
        text = "\n".join(line.text for line in lines)
    try:
        return read_documents(file.path, text + "\n", first)
    except Unparsed:
        return read_documents(file.path, file.text + "\n", first)  # for the reason in the file as it is


def parse_beginning(file: Text, broken: int = 0) -> tuple[Parsed, int] | None:
    """Parse a Compose file, a manifest or a config file of etcd up to the first line that cannot be YAML, such as a command in notes.

    Return the number of that line, too. broken: the number of the line at which parsing ends; it is the first of indented notes if no line
    from there on looks like YAML.
    """
    end = next((position for position, line in enumerate(file.lines) if not _OUTER.match(line.text)), 0)
    if not end:
        end = next((position for position, line in enumerate(file.lines) if line.number == broken), 0)
        while end and not _YAML.match(file.lines[end - 1].text):
            end -= 1
        if any(_YAML.match(line.text) for line in file.lines[end:]):
            return None
    beginning = file._replace(lines=file.lines[:end])
    if not (is_manifest(beginning.text) or is_configuration(beginning)):
        return None
    try:
        return read_documents(file.path, beginning.text + "\n", file.lines[0].number), file.lines[end].number
    except Unparsed:
        return None


def outline(lines: list[Line]) -> list[Line]:
    """Return the lines as YAML. Empty for a text without statements and expressions."""
    if not any(_PART.search(line.text) for line in lines):
        return []
    return _Outline(lines).lines()


def unknown(line: Line) -> Line:
    """Return a line of YAML whose value is unknown."""
    return line._replace(text=_conditional(line.text))


class _Outline:
    """The state of one template."""

    def __init__(self, lines: list[Line]) -> None:
        self._rest = _with_short_expressions(_without_comments(lines))
        self._kept: list[Line] = []
        # The last line that is not empty.
        self._last = ""
        # Indentation of the key whose text of several lines is open.
        self._text = -1

    def lines(self) -> list[Line]:
        """Return the lines that remain, with empty ones in place of statements."""
        statements = [_statement(line.text) for line in self._rest]
        gates = self._gates(statements)
        # Whether the lines of each open block are unknown.
        unknown = [False]
        # The open macros among them: what one writes stands where it is called.
        macros = 0
        for position, (line, content) in enumerate(zip(self._rest, statements)):
            if content is None:
                self._keep(line._replace(text="") if macros else line, unknown[-1])
                continue
            macros += content.startswith("macro") - content.startswith("endmacro")
            if _OPENS.match(content):
                is_condition = content.startswith(_CONDITIONS) and position not in gates
                unknown.append(unknown[-1] or is_condition)
            elif content.startswith("end") and len(unknown) > 1:
                unknown.pop()
            self._append(line, self._included(content))
        return self._kept

    def _gates(self, statements: list[str | None]) -> set[int]:
        """Return the positions of the conditions without an alternative that decide about a whole resource."""
        gates: set[int] = set()
        resources = 0
        # Position, number of resources before it, and whether it has one branch.
        opened: list[tuple[int, int, bool]] = []
        for position, (line, content) in enumerate(zip(self._rest, statements)):
            resources += _RESOURCE.match(line.text) is not None
            if content is None:
                continue
            if _OPENS.match(content):
                opened.append((position, resources, True))
            elif content.startswith(("else", "elif", "elsif", "when")) and opened:
                opened[-1] = (*opened[-1][:2], False)
            elif content.startswith("end") and opened:
                start, before, is_single = opened.pop()
                gates |= {start} if is_single and resources > before else set()
        return gates

    def _included(self, content: str) -> str:
        """Return an unknown item where a list goes on with what a template includes."""
        before = self._last
        indent = _INDENT.search(content)
        item = _ITEM.match(before)
        if self._text >= 0:
            return self._nothing()
        if not indent or not (_LISTS.match(before) or (item and len(item[1]) == int(indent[1]))):
            return ""
        return " " * int(indent[1]) + f'- "{UNKNOWN}"'

    def _nothing(self) -> str:
        """Return an empty line; a continued one inside a command of several lines."""
        before = self._kept[-1].text if self._kept else ""
        return " " * (len(before) - len(before.lstrip())) + "\\" if self._text >= 0 and before.endswith("\\") else ""

    def _keep(self, line: Line, unknown: bool) -> None:
        text = line.text if _NAME.match(line.text) else _PART.sub(_plain, _with_default(line.text))
        indent = len(text) - len(text.lstrip())
        if self._text >= 0 and (indent > self._text or not text.strip()):
            text = self._conditional_text(text) if unknown else text
        else:
            opening = _TEXT.match(text)
            self._text = len(opening[1]) if opening else -1
            text = text if opening else _conditional(text) if unknown else _quoted(text)
        self._append(line, text)

    def _conditional_text(self, text: str) -> str:
        """Return the known part of a line of a script under a condition."""
        assigned = _ASSIGNMENT.match(text)
        if assigned:
            return f"{assigned[1]}{UNKNOWN}"
        indent = text[: len(text) - len(text.lstrip())]
        return (
            f"{indent}{UNKNOWN}" + (" \\" if text.rstrip().endswith("\\") else "") if self._last.endswith("\\") else ""
        )

    def _append(self, line: Line, text: str) -> None:
        self._kept.append(line._replace(text=text))
        self._last = text if text.strip() else self._last


def _plain(found: re.Match[str]) -> str:
    """Return a part of a template without the characters that YAML takes for its own."""
    return "{{" + re.sub(r"[\s\"'{}<>%#]+|:(?=\s)", "", found[0]) + "}}"


def _with_default(text: str) -> str:
    """Return a line with an image, with the defaults that are written out in place of their expressions."""
    return _DEFAULT.sub(r"\1", text) if _IMAGE.match(text) else text


def _statement(text: str) -> str | None:
    """Return the content of a line that is one part of a template; None for other lines."""
    found = _ALONE.match(text)
    content = next((group for group in found.groups() if group is not None), "") if found else None
    return None if content is None or re.search(r"\{\{|\}\}|%[}>]", content) else content


def _conditional(text: str) -> str:
    """Return a line of YAML whose value is unknown, because a condition decides about it."""
    flag = _FLAG.match(text)
    pair = _PAIR.match(text)
    item = _ITEM.match(text)
    if flag:
        return f'{flag[1]}"{flag[2]}={UNKNOWN}"'
    if pair:
        return _quoted(text) if pair[2] == "name" else f'{pair[1]}"{UNKNOWN}"'
    return f'{item[0]}"{UNKNOWN}"' if item else text if text.rstrip().endswith(":") else ""


def _quoted(text: str) -> str:
    """Return a line whose value has quotes if it begins with a part of a template, or whose key is one. Any other part alone is left out."""
    key = re.match(r"^(\s*(?:- )?)(\{\{[^{}]*\}\}):(\s.*)?$", text)
    if key:
        return f"{key[1]}{json.dumps(key[2])}:{key[3] or ''}"
    found = re.match(r"^(\s*(?:- )*(?:[\w./-]+:[ \t]+)?)(\{\{.*\S)\s*$", text)
    if not found:
        return text
    return f"{found[1]}{json.dumps(found[2])}" if found[1].strip() else ""


def _without_comments(lines: list[Line]) -> list[Line]:
    text = "\n".join(line.text for line in lines)
    kept = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text).split("\n")
    return [line._replace(text=part) for line, part in zip(lines, kept)]


def _with_short_expressions(lines: list[Line]) -> list[Line]:
    """Put each expression of several lines on its first line, with the text after it, and empty lines in place of the others."""
    text = "\n".join(line.text for line in lines)
    joined = _LONG.sub(lambda found: re.sub(r"\s*\n\s*", " ", found[1]) + found[2] + "\n" * found[1].count("\n"), text)
    return [line._replace(text=part) for line, part in zip(lines, joined.split("\n"))]
