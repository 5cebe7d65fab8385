# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read YAML and JSON with Ansible's types, and the lines of their keys."""

from __future__ import annotations

import base64
import json
import math
import re
import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.environment import unquote
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line, Unparsed, lines_of

_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
ENCRYPTED = "$ANSIBLE_VAULT"
# Lists of commands in cloud-init.
_COMMANDS = ("runcmd", "bootcmd")
# Commands in pipelines of GitHub, GitLab and Travis, in Taskfiles, and in Packer.
SCRIPTS = ("run", "script", "cmds", "before_script", "after_script", "before_install", "inline")
# A container's command, which the policies read.
_OF_CONTAINER = ("command", "entrypoint")
# Modules of Ansible that run a command, and the line that another one adds to a file.
_TASKS = ("command", "shell")
COMMAND = "command of a task"
_VARIABLE = re.compile(r"\s*(?:export\s+)?ETCD_[A-Z_]+=")
# The value of a template that needs other quotes or any, which is not YAML until it is rendered. A line that begins with {% may leave out others.
_QUOTABLE = re.compile(r"^([ \t]*(?:-[ \t]+)?[\w.-]+:[ \t]+)([^\s#|>][^\n]*?(?:\}\}|%\})[^\n]*?)[ \t]*$", re.MULTILINE)


class _Loader(_BASE):  # type: ignore[misc]
    """YAML as Ansible reads it: dates stay text, and tags that it does not know have no effect."""


def _as_text(loader: Any, node: Any) -> Any:
    return node.value


def _by_kind(loader: Any, suffix: str, node: Any) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    if suffix == "vault":
        return {"__ansible_vault": node.value}
    if suffix == "unsafe":
        return {"__ansible_unsafe": node.value}
    return node.value


_Loader.add_constructor("tag:yaml.org,2002:timestamp", _as_text)
_Loader.add_constructor("tag:yaml.org,2002:binary", _as_text)
_Loader.add_multi_constructor("!", _by_kind)


class Embedded(NamedTuple):
    """A text inside a document, such as a file of cloud-init's write_files, with the lines that it has in the file around it."""

    target: str
    lines: list[Line]


class Parsed(NamedTuple):
    """The documents of a file, the ranges of lines that belong to a key or a name, and the texts inside."""

    documents: list[Any]
    scopes: dict[str, list[list[int]]]
    embedded: list[Embedded]


def read_documents(path: str, text: str, first: int = 1) -> Parsed:
    """Parse a text whose first line has number ``first`` in its file. Raises Unparsed."""
    if text.startswith(ENCRYPTED):
        return Parsed([text], {}, [])
    try:
        return _parsed(path, text, first)
    except Unparsed:
        quoted = _QUOTABLE.sub(lambda found: f"{found[1]}{json.dumps(unquote(found[2]))}", text)
        if quoted == text:
            raise
    try:
        return _parsed(path, quoted, first)
    except Unparsed:
        return _parsed(path, text, first)  # for the reason in the file as it is


def _parsed(path: str, text: str, first: int) -> Parsed:
    loader = _Loader(text)
    documents: list[Any] = []
    scopes: dict[str, list[list[int]]] = {}
    embedded: list[Embedded] = []
    try:
        while loader.check_node():
            node = loader.get_node()
            documents.append(_checked(loader.construct_document(node)))
            _collect(path, node, first, scopes, embedded)
    except yaml.YAMLError as error:
        raise Unparsed(*_reason(text, error, first)) from error
    except (ValueError, TypeError, RecursionError) as error:
        raise Unparsed(f"its YAML has a value that cannot be read: {error}") from error
    finally:
        loader.dispose()
    return Parsed([document for document in documents if document is not None], scopes, embedded)


def _reason(text: str, error: yaml.YAMLError, first: int) -> tuple[str, int]:
    """Return why a text is not YAML, and the line."""
    mark = getattr(error, "problem_mark", None)
    number = mark.line + first if mark else first
    problem = getattr(error, "problem", None) or "not YAML"
    template = next((line for line, part in enumerate(text.splitlines(), first) if re.search(r"\{\{|\{%", part)), None)
    if template:
        why = f"it is a template (line {template}), which is not YAML until it is rendered (line {number}: {problem})"
        return why, number
    return f"line {number} is not valid YAML: {problem}", number


def _checked(value: Any) -> Any:
    """Return a value in JSON's types. Keys become texts, as conftest's parsers do."""
    if isinstance(value, dict):
        return {_key(key): _checked(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_checked(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return {_key(item): None for item in value}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def _key(key: Any) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    return "null" if key is None else str(key)


def _collect(path: str, root: Any, first: int, scopes: dict[str, list[list[int]]], embedded: list[Embedded]) -> None:
    """Add the ranges of each key and name below a node, and its texts of several lines."""
    whole = _range(root, root, first)
    # Playbooks and the tasks of roles are lists.
    in_tasks = isinstance(root, yaml.SequenceNode)
    added: dict[str, list[Line]] = {}
    pending = [(root, whole, "", "")]
    seen = set()
    while pending:
        node, outer, inside, parent = pending.pop()
        if id(node) in seen or not isinstance(node, (yaml.MappingNode, yaml.SequenceNode)):
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            pending += [(item, _range(item, item, first), inside, "") for item in node.value]
            continue
        # Butane and Container Linux Config have the text below the file's contents.
        target = _scalar(node, "path") or _scalar(node, "dest") or (parent if inside == "contents" else "")
        embedded += _decoded(path, node, target, first)
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value == "name" and isinstance(value, yaml.ScalarNode):
                _add(scopes, value.value, whole if inside == "metadata" else outer)
            for part in _parts(key, value, first):
                _add(scopes, key.value, part)
            if in_tasks and isinstance(value, yaml.ScalarNode) and "\n" not in value.value:
                line = Line(path, value.start_mark.line + first, value.value)
                # A container's command is an option beside its image.
                if key.value.rsplit(".", 1)[-1] in _TASKS and not _scalar(node, "image"):
                    embedded.append(Embedded(COMMAND, [line]))
                elif key.value == "line" and _VARIABLE.match(value.value):
                    added.setdefault(target, []).append(line)
                elif key.value == "value" and (name := _variable_name(node)):
                    added.setdefault("", []).append(line._replace(text=f"{name}={value.value}"))
            if key.value in (*_COMMANDS, *SCRIPTS) and isinstance(value, yaml.SequenceNode):
                embedded.append(Embedded(key.value, _commands(path, value, first)))
            if key.value in SCRIPTS and isinstance(value, yaml.ScalarNode) and "\n" not in value.value:
                embedded.append(Embedded(key.value, [Line(path, value.start_mark.line + first, value.value)]))
            of_container = key.value in _OF_CONTAINER and (_scalar(node, "image") or _has_key(node, "build"))
            if isinstance(value, yaml.ScalarNode) and "\n" in value.value and not of_container:
                embedded.append(Embedded(target or key.value, _text(path, value, first)))
            pending.append((value, _range(key, value, first), key.value, target))
    embedded += [Embedded(target, sorted(lines, key=lambda line: line.number)) for target, lines in added.items()]


def _text(path: str, node: Any, first: int) -> list[Line]:
    """Return the lines of a text of several lines. All lines of a quoted one, as in JSON, count as the line where it begins."""
    number = node.start_mark.line + first
    if node.style in ("|", ">"):
        return lines_of(path, node.value, number + 1)
    return [line._replace(number=number) for line in lines_of(path, node.value)]


def _decoded(path: str, node: Any, target: str, first: int) -> list[Embedded]:
    """Return a file of write_files that is written in base64. All its lines count as the line of its content."""
    if _scalar(node, "encoding") not in ("b64", "base64"):
        return []
    content = next((value for key, value in node.value if key.value == "content"), None)
    try:
        text = base64.b64decode(content.value, validate=False).decode("utf-8") if content is not None else ""
    except (TypeError, ValueError, AttributeError):
        # A placeholder for a template of Terraform.
        return []
    number = content.start_mark.line + first if content is not None else first
    return [Embedded(target, [line._replace(number=number) for line in lines_of(path, text)])] if text else []


def _commands(path: str, node: Any, first: int) -> list[Line]:
    """Return the commands of cloud-init, each a text or a list of words, as the lines of a script."""
    lines = []
    for item in node.value:
        number = item.start_mark.line + first
        if isinstance(item, yaml.ScalarNode):
            lines += lines_of(path, item.value, number + (1 if item.style in ("|", ">") else 0))
        elif isinstance(item, yaml.SequenceNode):
            words = [str(word.value) for word in item.value if isinstance(word, yaml.ScalarNode)]
            # What a shell gets is a command itself.
            script = (
                words[-1]
                if len(words) > 2 and words[-2].startswith("-") and words[-2].endswith("c")
                else shlex.join(words)
            )
            lines += lines_of(path, script, number)
    return lines


def _variable_name(node: Any) -> str:
    """Return the name of etcd's variable in an item such as {key: ETCD_NAME, value: a}, for a task that writes it."""
    names = (_scalar(node, key) for key in ("key", "name", "option", "var", "variable"))
    return next((name for name in names if re.fullmatch(r"ETCD_[A-Z_]+", name)), "")


def _scalar(node: Any, name: str) -> str:
    return next(
        (str(value.value) for key, value in node.value if key.value == name and isinstance(value, yaml.ScalarNode)), ""
    )


def _has_key(node: Any, name: str) -> bool:
    return any(key.value == name for key, _value in node.value)


def _range(start: Any, end: Any, first: int) -> list[int]:
    """Return the first and the last line. A block ends where the next token starts, one line further down."""
    is_block = isinstance(end, yaml.CollectionNode) and not end.flow_style
    last = end.end_mark.line + first - (1 if is_block and end.end_mark.line > start.start_mark.line else 0)
    return [start.start_mark.line + first, last]


def _parts(key: Any, value: Any, first: int) -> list[list[int]]:
    """Return the lines of a key and its value, and those that the value or its own keys take from an anchor above."""
    if _is_above(value, key):
        return [_range(key, key, first), _range(value, value, first)]
    inner = value.value if isinstance(value, yaml.MappingNode) else []
    merged = [_range(name, part, first) for name, part in inner if _is_above(name, key)]
    aliases = [_range(part, part, first) for name, part in inner if _is_above(part, name) and not _is_above(name, key)]
    return [_range(key, value, first), *merged, *aliases]


def _is_above(node: Any, other: Any) -> bool:
    return bool(node.start_mark.index < other.start_mark.index)


def _add(scopes: dict[str, list[list[int]]], name: str, added: list[int]) -> None:
    """Keep the outer one of two nested ranges."""
    ranges = scopes.setdefault(name, [])
    if any(first <= added[0] and added[1] <= last for first, last in ranges):
        return
    ranges[:] = [kept for kept in ranges if not (added[0] <= kept[0] and kept[1] <= added[1])]
    ranges.append(added)


def maps_below(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all maps in a value, itself included, in their order: of a playbook, its plays, blocks and tasks among them."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            yield item
        inner = item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
        pending += reversed(list(inner))
