# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Turn the examples.yml of each rule into inventories: `python -m tools.policies.examples FOLDER` writes FOLDER/<rule>/bad and good.

docs/policies/adding.md describes the format of examples.yml and of policies/rules/bases.yml.
"""

from __future__ import annotations

import json
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
RULES = REPOSITORY / "policies" / "rules"
SIDES = ("bad", "good")
KEYS = {"base", "note", "group", "members", "vars", "hosts", "without", "files"}
# The date of a waiver that counts, as the examples and their pages show it. Written examples have one that is always near.
SHOWN_DATE, DAYS_AHEAD = "2027-03-31", 90
# A mapping stays on one line up to this many characters.
ONE_LINE = 100

Files = dict[str, str]


def load(path: Path) -> dict[str, Any]:
    """Read a YAML file that holds a mapping."""
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content


def merge(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Return `below` changed by `above`: mappings are merged, everything else is replaced."""
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = merge(merged[key], value) if both else value
    return merged


def resolve(examples: dict[str, Any], side: str, bases: dict[str, Any]) -> dict[str, Any]:
    """Return one side of a rule's examples with its base and what both sides share. Raise ValueError for an unknown key."""
    shared = {key: value for key, value in examples.items() if key not in SIDES}
    unknown = sorted({*shared, *examples[side]} - KEYS)
    if unknown:
        raise ValueError(f"unknown keys: {', '.join(unknown)}; known are {', '.join(sorted(KEYS))}")
    return merge(merge(bases[shared["base"]], shared), examples[side])


def documents(example: dict[str, Any]) -> dict[str, Any]:
    """Return the content of each file of a resolved example, by its path."""
    hosts = {f"etcd-{number}": None for number in range(1, example["members"] + 1)}
    if not hosts:
        return dict(example.get("files", {}))
    without = example.get("without", [])
    variables = {name: value for name, value in example["vars"].items() if name not in without}
    group = {"hosts": merge(hosts, example.get("hosts", {})), "vars": variables}
    return merge({"hosts.yml": {example.get("group", "etcd"): group}}, example.get("files", {}))


def scalar(value: Any) -> str:
    """Return a YAML scalar or a flow collection on one line."""
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**6)
    text = text.removesuffix("...\n").strip()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) and text.startswith("'") else text


def has_null(value: Any) -> bool:
    """Return whether a value, or anything inside it, is null."""
    if isinstance(value, (dict, list)):
        return any(has_null(item) for item in (value.values() if isinstance(value, dict) else value))
    return value is None


def lines(value: dict[str, Any], depth: int = 0) -> list[str]:
    """Return a mapping as YAML lines, as a person would write them: short mappings on one line, null as nothing."""
    found = []
    for key, item in value.items():
        name = scalar(key)
        if item is None:
            found.append(f"{name}:")
        elif isinstance(item, dict) and item and (depth < 2 or has_null(item) or len(scalar(item)) > ONE_LINE):
            found += [f"{name}:", *(f"  {line}" for line in lines(item, depth + 1))]
        elif isinstance(item, list) and any(isinstance(part, dict) for part in item):
            found.append(f"{name}:")
            for part in item:
                first, *rest = lines(part, depth + 1)
                found += [f"  - {first}", *(f"    {line}" for line in rest)]
        else:
            found.append(f"{name}: {scalar(item)}")
    return found


def examples(rule: str) -> dict[str, tuple[str, Files]]:
    """Return the bad and the good example of a rule: the note about it, and its files as text."""
    path = RULES / rule / "examples.yml"
    described, bases = load(path), load(RULES / "bases.yml")
    found = {}
    for side in SIDES:
        try:
            contents = documents(resolve(described, side, bases))
        except (KeyError, ValueError) as error:
            raise ValueError(f"{path.relative_to(REPOSITORY)}: {error}") from error
        files = {name: "\n".join(lines(content)) + "\n" for name, content in sorted(contents.items())}
        found[side] = (described[side].get("note", ""), files)
    return found


def rules() -> list[str]:
    """Return the rules that have examples, as topic/name."""
    return sorted(path.parent.relative_to(RULES).as_posix() for path in RULES.glob("*/*/examples.yml"))


def write(folder: Path) -> None:
    """Write all examples below a folder, each as <rule>/<side>/."""
    near = (date.today() + timedelta(days=DAYS_AHEAD)).isoformat()
    for rule in rules():
        for side, (_, files) in examples(rule).items():
            for name, text in files.items():
                path = folder / rule / side / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text.replace(SHOWN_DATE, near), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
