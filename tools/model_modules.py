# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the memory model's constants, its inputs and the tables of etcd's releases as Python modules."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

LINE_LENGTH = 120

HEADER = '''\
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Generated from model/{source}.yml by `make model`: change that file.

{what}. Private to the collection.
"""

from __future__ import annotations

'''
CONSTANTS_CLASS = '''\
from dataclasses import dataclass


@dataclass(frozen=True)
class Constants:
    """The constants of the memory model for one series of etcd, at one end of their ranges."""

'''


def literal(value: Any, indent: int, used: int, tail: int) -> str:
    """Write a value as Python source in the layout of ruff's formatter.

    used: columns taken before the value; tail: columns needed behind it.
    """
    if isinstance(value, str):
        short = json.dumps(value, ensure_ascii=False)
    elif isinstance(value, dict):
        short = "{" + ", ".join(f"{literal(k, 0, 0, 0)}: {literal(v, 0, -10000, 0)}" for k, v in value.items()) + "}"
    elif isinstance(value, list):
        short = "[" + ", ".join(literal(item, 0, -10000, 0) for item in value) + "]"
    else:
        return repr(value)
    if isinstance(value, str) or not value or used + len(short) + tail <= LINE_LENGTH:
        return short
    inner = indent + 4
    pad = " " * inner
    lines: list[str] = []
    if isinstance(value, dict):
        for key, item in value.items():
            head = f"{pad}{literal(key, 0, 0, 0)}: "
            lines.append(f"{head}{literal(item, inner, len(head), 1)},")
        return "{\n" + "\n".join(lines) + "\n" + " " * indent + "}"
    lines = [f"{pad}{literal(item, inner, inner, 1)}," for item in value]
    return "[\n" + "\n".join(lines) + "\n" + " " * indent + "]"


def constants_class(names: Iterable[str]) -> str:
    """Return the fields of the class Constants."""
    return "".join(f"    {name}: int\n" for name in names)


def constants_literal(name: str, by_release: dict[str, dict[str, int]]) -> str:
    """Return the assignment of the constants of every series, at one end of their ranges."""
    lines = [f"{name}: dict[str, Constants] = {{"]
    for series, constants in by_release.items():
        fields = [f"        {constant}={value}," for constant, value in constants.items()]
        lines += [f'    "{series}": Constants(', *fields, "    ),"]
    return "\n".join([*lines, "}"]) + "\n"


def assignments(model: dict[str, Any], names: dict[str, str]) -> list[str]:
    """Return assignments of parts of the model. names: constant and type to the part's name."""
    parts = []
    for constant, key in names.items():
        head = f"{constant} = "
        parts.append(head + literal(model[key], 0, len(head), 0) + "\n")
    return parts


def constants_module(model: dict[str, Any]) -> str:
    """Return the Python module of the constants."""
    constants = model["constants"]
    parts = [CONSTANTS_CLASS + constants_class(next(iter(constants["high"].values()))) + "\n"]
    parts += [constants_literal(f"CONSTANTS_{end.upper()}", constants[end]) for end in ("low", "high")]
    parts += assignments(model, {"SIZE_CLASSES: list[int]": "size_classes", "GO_PAGE: int": "go_page"})
    return HEADER.format(source="memory", what="The constants of the memory model") + "\n".join(parts)


def inputs_module(model: dict[str, Any]) -> str:
    """Return the Python module of the model's inputs."""
    names = {"WORKLOAD": "workload", "ESTIMATE_SETTINGS": "estimate_settings", "PLAN": "plan"}
    parts = assignments(model, {f"{constant}: dict[str, Any]": key for constant, key in names.items()})
    what = "The fields of a workload, the settings of an estimate, and the constants of the plan"
    return HEADER.format(source="inputs", what=what) + "from typing import Any\n\n" + "\n".join(parts)


def release_tables_module(model: dict[str, Any]) -> str:
    """Return the Python module of etcd's releases. Only the linter sees the settings that lead to a defect."""
    bugs = [{key: value for key, value in bug.items() if key != "condition"} for bug in model["bugs"]]
    names = {
        "SERIES: dict[str, Any]": "series",
        "SETTINGS: dict[str, Any]": "settings",
        "BUGS: list[dict[str, Any]]": "bugs",
    }
    parts = assignments({**model, "bugs": bugs}, names)
    what = "etcd's releases: their series, the settings of each with flag, variable and key, and known defects"
    return HEADER.format(source="releases", what=what) + "from typing import Any\n\n" + "\n".join(parts)
