# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replace single scalars in the text of a YAML file, and show the change as a unified diff. Writes nothing."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

import yaml

NO_NEWLINE = "\\ No newline at end of file"


def obstacle(text: str, node: Any) -> str:
    """Return why a scalar cannot be replaced in its text; empty if it is a plain or a quoted one without an anchor or a tag."""
    source = text[node.start_mark.index : node.end_mark.index]
    if node.style in ("|", ">"):
        return "as a block of lines"
    # An alias has the position of its anchor.
    if source.startswith(("&", "!")):
        return "with an anchor, an alias or a tag"
    if not source:
        return "without a value"
    return ""


def replaced(text: str, start: int, end: int, replacement: str, wanted: str) -> str | None:
    """Return the text with the scalar at start..end replaced; None if its value would not be wanted, or if anything else would change."""
    changed = text[:start] + replacement + text[end:]
    try:
        before, after = (list(_nodes(yaml.compose(one, Loader=yaml.SafeLoader))) for one in (text, changed))
    except yaml.YAMLError:
        return None
    if len(before) != len(after):
        return None
    edited = 0
    for old, new in zip(before, after):
        if isinstance(old, yaml.ScalarNode) and old.start_mark.index == start:
            edited += 1
            if not isinstance(new, yaml.ScalarNode) or new.value != wanted:
                return None
        elif _shape(old) != _shape(new):
            return None
    return changed if edited == 1 else None


def _shape(node: Any) -> tuple[Any, ...]:
    return type(node), node.tag, node.value if isinstance(node, yaml.ScalarNode) else len(node.value)


def _nodes(node: Any, above: tuple[int, ...] = ()) -> Iterator[Any]:
    """Yield all nodes of a document in their order; one with aliases as often as it is used."""
    if node is None or id(node) in above:
        return
    yield node
    if not isinstance(node, yaml.ScalarNode):
        for item in node.value:
            for child in item if isinstance(item, tuple) else (item,):
                yield from _nodes(child, (*above, id(node)))


def unified_diff(name: str, text: str, changed: str) -> list[str]:
    """Return a diff that `git apply` and `patch -p1` take, as lines without their line feeds.

    Only a line feed ends a line: YAML knows more line breaks, and the carriage return of CRLF belongs to its line.
    """
    found = []
    for line in difflib.unified_diff(_lines(text), _lines(changed), f"a/{name}", f"b/{name}"):
        found += [line[:-1]] if line.endswith("\n") else [line, NO_NEWLINE]
    return found


def _lines(text: str) -> list[str]:
    *whole, rest = text.split("\n")
    return [f"{line}\n" for line in whole] + ([rest] if rest else [])
