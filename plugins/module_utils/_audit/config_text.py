# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read plain settings from the text of etcd's config file, and hide its passwords. Pure.

etcd reads the file as YAML, and so accepts JSON. Managed hosts may lack PyYAML, so this reads JSON, and the YAML that etcd's files
usually have: keys with plain or quoted values, sections, comments, and a section in braces on one line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

HIDDEN = "***"
SECRET = re.compile(r"passw|secret", re.IGNORECASE)
# User and password in a URL.
_LOGIN = re.compile(r"(?<=://)[^/@\s]+@")
_LINE = re.compile(r"""^(?P<indent>\s*)(?P<quote>["']?)(?P<key>[A-Za-z][\w-]*)(?P=quote)\s*:[ \t]*(?P<value>.*?)\s*$""")
# One value in braces, after comments and the start of the document.
_FLOW = re.compile(r"(?:[ \t]*(?:#.*|---.*)?\n)*[ \t]*\{")
_QUOTED = re.compile(r"""^(?P<quote>["'])(?P<value>.*?)(?P=quote)\s*(?:#.*)?$""")
_PAIR = re.compile(r"""["']?([A-Za-z][\w-]*)["']?\s*:\s*("[^"]*"|'[^']*'|[^,}\s]+)""")
# A key at the beginning of a line, a quoted key anywhere, or a key within braces.
_SECRET_KEY = re.compile(
    r"""^\s*(?:-\s+)*[\w.-]*(?:passw|secret)[\w.-]*\s*: | (?P<quote>["'])[\w.-]*(?:passw|secret)[\w.-]*(?P=quote)\s*: |
    (?<=[\s{,])[\w.-]*(?:passw|secret)[\w.-]*\s*:(?=\s|$|["'{\[])""",
    re.IGNORECASE | re.VERBOSE,
)
# Sections of the config file → what precedes the flag's name.
_SECTIONS = {"client-transport-security": "", "peer-transport-security": "peer-"}


def config_settings(text: str) -> dict[str, str]:
    """Return the plain settings of a config file by the names of their flags. Lists and unknown sections are left out."""
    document = _json_object(text)
    pairs = _yaml_settings(text) if document is None else _json_settings(document)
    return {flag: value for flag, value in pairs if value}


def hide(text: str) -> str:
    """Replace user and password of a URL."""
    return _LOGIN.sub(f"{HIDDEN}@", text)


def hide_secrets(text: str) -> str:
    """Replace the passwords of a config file. Quoted, because YAML reads a plain asterisk as an alias."""
    document = _json_object(text)
    if document is not None:
        return json.dumps(_without_secrets(document), indent=2)
    return "\n".join(_lines_without_secrets(text.splitlines()))


def _json_object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _json_settings(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in document.items():
        if isinstance(value, dict) and key in _SECTIONS:
            yield from ((_SECTIONS[key] + name, _json_text(one)) for name, one in value.items())
        else:
            yield key, _json_text(value)


def _json_text(value: Any) -> str:
    """Return a plain value as text, empty for a list or a section."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (str, int, float)) else ""


def _yaml_settings(text: str) -> Iterator[tuple[str, str]]:
    section: str | None = ""
    if _FLOW.match(text):
        return
    for line in text.splitlines():
        matched = _LINE.match(line)
        if matched is None:
            continue
        key, value = matched["key"], _yaml_text(matched["value"])
        if not matched["indent"]:
            section = _SECTIONS.get(key) if not value else ""
            if key in _SECTIONS:
                yield from ((_SECTIONS[key] + name, _yaml_text(one)) for name, one in _PAIR.findall(value))
            else:
                yield key, value
        elif section is not None:
            yield section + key, value


def _yaml_text(value: str) -> str:
    """Return a value without quotes and comment, empty for null."""
    quoted = _QUOTED.match(value)
    if quoted:
        return quoted["value"]
    plain = re.sub(r"(?:^|\s+)#.*$", "", value)
    return "" if plain in ("~", "null") else plain


def _without_secrets(value: Any, name: str = "") -> Any:
    if SECRET.search(name) and value:
        return HIDDEN
    if isinstance(value, dict):
        return {key: _without_secrets(one, key) for key, one in value.items()}
    if isinstance(value, list):
        return [_without_secrets(one) for one in value]
    return hide(value) if isinstance(value, str) else value


def _lines_without_secrets(lines: list[str]) -> Iterator[str]:
    """Yield the lines with secrets hidden, without further lines of a secret: those that are indented more, and the items of a list."""
    secret: int | None = None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        listed = indent == secret and line.lstrip().startswith("-")
        if secret is not None and (not line.strip() or indent > secret or listed):
            continue
        secret = None
        matched = _SECRET_KEY.search(line)
        if matched is None:
            yield hide(line)
            continue
        if not line.lstrip().startswith("#"):
            secret = len(line) - len(line.lstrip(" -"))
        before = line[: matched.end()]
        yield f'{hide(before)} "{HIDDEN}"' + "}" * (before.count("{") - before.count("}"))
