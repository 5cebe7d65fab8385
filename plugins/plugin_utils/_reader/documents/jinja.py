# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the known parts of a Jinja template: a scheme that all branches share, the body of a loop, a text in an expression."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

_NAME = re.compile(r"\{\{-?\s*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*(?:\|\s*(?:string|int|trim|lower)\s*)*-?\}\}")
_EXPRESSION = re.compile(r"\{\{(.{0,500}?)\}\}", re.DOTALL)
_SEPARATOR = re.compile(
    r"\{%[-+]?\s*if not loop\.last\s*[-+]?%\}\s*,?\s*\{%[-+]?\s*endif\s*[-+]?%\}"
    r"|\{\{-?\s*[\"'],?\s*[\"']\s+if not loop\.last(\s+else\s+[\"']{2})?\s*-?\}\}"
)
_LOOP = re.compile(r"\{%[-+]?\s*for\s.{0,300}?%\}(.*?)\{%[-+]?\s*endfor\s*[-+]?%\}", re.DOTALL)
_BRANCHES = re.compile(
    r"\{%[-+]?\s*if\s[^%]{0,300}%\}([^%]*)\{%[-+]?\s*else\s*[-+]?%\}([^%]*)\{%[-+]?\s*endif\s*[-+]?%\}", re.DOTALL
)
# A text in an expression, such as regex_replace('^(.*)$', '\\1=http://\\1:2380').
_URL_IN_EXPRESSION = re.compile(r"(=?)(https?)://")
_PORT = re.compile(r":(\d{2,5})\b")
_MAX_STEPS = 5
_MAX_LENGTH = 5_000


class Certain(NamedTuple):
    """A value whose placeholders stand for hosts and ports. ``is_repeated``: it is one of several."""

    value: str
    is_repeated: bool


def constants(variables: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables that are plain texts or numbers, those in maps by their path."""
    found: dict[str, str] = {}
    for name, value in variables.items():
        if isinstance(value, dict):
            found.update({f"{name}.{key}": text for key, text in constants(value).items()})
        elif isinstance(value, (str, int)) and not isinstance(value, bool) and "{%" not in str(value):
            found[str(name)] = str(value)
    return found


def certain(text: str, known: Mapping[str, str]) -> Certain | None:
    """Return the known part of a text; None if it depends on a condition."""
    for _step in range(_MAX_STEPS):
        filled = _NAME.sub(lambda found: known.get(found[1], found[0]), text)
        if filled == text:
            break
        if len(filled) > _MAX_LENGTH:
            return None
        text = filled
    # Another branch may have other members.
    is_repeated = "endfor" in text or _BRANCHES.search(text) is not None
    text = _BRANCHES.sub(lambda found: found[1] if _schemes(found[1]) == _schemes(found[2]) else found[0], text)
    looped = _LOOP.sub(lambda found: found[1], _SEPARATOR.sub("", text))
    if "{%" in looped:
        return None
    alone = _EXPRESSION.fullmatch(looped.strip())
    if alone:
        inner = _of_expression(alone[1])
        return Certain(inner, True) if inner else None
    value = _EXPRESSION.sub(lambda found: _placeholder(found[1]), looped)
    return Certain(re.sub(r"\s+", "", value).strip(","), is_repeated)


def _schemes(text: str) -> set[str]:
    return set(re.findall(r"\bhttps?\b", text))


def _of_expression(expression: str) -> str:
    """Return a URL of the scheme that all texts in an expression have; empty if it may be another one."""
    found = set(_URL_IN_EXPRESSION.findall(expression))
    if len(found) != 1 or re.search(r"\bif\b|\bternary\b|\breplace\(", expression):
        return ""
    [(equals, scheme)] = found
    port = _PORT.search(expression)
    return f"{'{{member}}=' if equals else ''}{scheme}://{{{{host}}}}:{port[1] if port else '{{port}}'}"


def _placeholder(expression: str) -> str:
    # Blanks and commas would separate values.
    return "{{" + (re.sub(r"[^\w.]+", "_", expression).strip("_") or "value") + "}}"
