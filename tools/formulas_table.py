# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Render the formulas of the memory model as a table for people, from the syntax trees and the docstrings of _model/formulas/."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from tools.rego_from_formulas import Library, Unsupported, first_line

# Fields of a formula's docstring: the first two are required.
_FIELDS = re.compile(r"^(Unit|Source|Releases): (.+)$", re.MULTILINE)
# Prefixes to drop: the tables of constants and the documentation of workload and settings have these names.
_OWNERS = re.compile(r"\b(?:constants|workload|settings)\.")


def table(files: Mapping[str, str]) -> str:
    """Return a Markdown table with a row for each formula. Raises Unsupported for one without a unit or a source.

    files: their texts by path.
    """
    library = Library(files)
    rows = ["| formula | computed as | unit | source |", "| --- | --- | --- | --- |"]
    rows += [row(library, node) for node in library.functions.values()]
    return "\n".join(rows)


def row(library: Library, node: ast.FunctionDef) -> str:
    """Return the row of one formula."""
    fields = dict(_FIELDS.findall(ast.get_docstring(node) or ""))
    missing = {"Unit", "Source"} - set(fields)
    if missing:
        raise library.unsupported(node, f"the docstring of {node.name} does not say {' and '.join(sorted(missing))}")
    meaning = first_line(node).removeprefix("Return ").rstrip(".")
    releases = f"; {fields['Releases']}" if "Releases" in fields else ""
    lines = "<br>".join(f"`{line}`" for line in computation(node))
    return f"| **{node.name}**: {meaning} | {lines} | {fields['Unit']} | {fields['Source']}{releases} |"


def computation(node: ast.FunctionDef) -> list[str]:
    """Return the lines of a formula: its assignments, then its result, one line for each branch or field."""
    *statements, last = node.body[1:]
    if not isinstance(last, ast.Return) or last.value is None:
        raise Unsupported(f"{node.name} does not end with a result")
    lines = [_plain(statement) for statement in statements]
    return [*lines, *_result(last.value)]


def _result(value: ast.expr) -> list[str]:
    if isinstance(value, ast.IfExp):
        return [f"{_plain(value.body)} if {_plain(value.test)}", *_otherwise(value.orelse)]
    if isinstance(value, ast.Call) and value.keywords:
        return [f"{keyword.arg} = {_plain(keyword.value)}" for keyword in value.keywords]
    return [_plain(value)]


def _otherwise(value: ast.expr) -> list[str]:
    if isinstance(value, ast.IfExp):
        return _result(value)
    return [f"otherwise {_plain(value)}"]


def _plain(node: ast.AST) -> str:
    text = _OWNERS.sub("", ast.unparse(node)).replace(" * ", " × ").replace(" - ", " − ")
    return text.replace(" is not None", " is set").replace(" is None", " is not set")
