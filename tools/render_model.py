#!/usr/bin/env python3
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Render the memory model: constants for Python and Rego, formulas for Rego, and the page about both.

From model/*.yml: plugins/module_utils/_model/constants.py, policies/data/model.json and docs/memory-model.md.
From model/releases.yml also roles/etcd/files/archives.yml: the digests of the archives of etcd.
From plugins/module_utils/_model/formulas/: policies/lib/formulas/formulas.rego, for which opa must be on the PATH.

python -m tools.render_model            write the files
python -m tools.render_model --check    exit 1 if a file differs from what would be written
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import tomllib
import yaml

from tools.formulas_table import table as formulas_table
from tools.rego_from_formulas import called_by_policies, rego
from tools.spellings import spellings

PROJECT = Path(__file__).resolve().parents[1]
MODEL = PROJECT / "model"
PYTHON = PROJECT / "plugins" / "module_utils" / "_model" / "constants.py"
FORMULAS = PROJECT / "plugins" / "module_utils" / "_model" / "formulas"
# import-linter's contract, which lists the files of formulas: all of them, because it is exhaustive.
FORMULAS_CONTRACT = "Formulas call those of lower layers"
POLICIES = PROJECT / "policies"
DATA = POLICIES / "data" / "model.json"
REGO = POLICIES / "lib" / "formulas" / "formulas.rego"
PAGE = PROJECT / "docs" / "memory-model.md"
ARCHIVES = PROJECT / "roles" / "etcd" / "files" / "archives.yml"
LINE_LENGTH = 120

HEADER = '''\
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Generated from model/releases.yml and model/memory.yml by `make model`: change those files.

Private to the collection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Constants:
    """The constants of the memory model for one series of etcd, at one end of their ranges."""

'''


def flat_keys(keys: dict[str, Any], prefix: str = "") -> dict[str, str]:
    """Turn releases.yml's grouped keys into {dotted key: type}."""
    flat: dict[str, str] = {}
    for kind, names in keys.items():
        if kind == "sections":
            for name, section in names.items():
                flat.update(flat_keys(section, f"{prefix}{name}."))
        else:
            flat.update({prefix + name: kind for name in names})
    return flat


def expand_settings(releases: dict[str, Any], keys: dict[str, dict[str, str]]) -> dict[str, Any]:
    """Give every setting its flag, environment variable, config key, type and default in each series that has it."""
    listed: dict[str, Any] = releases["settings"]
    spelt = {
        entry[series]["key"]
        for entry in listed.values()
        for series in keys
        if series in entry and entry[series]["key"] is not None
    }
    names = set(listed)
    for series, known in keys.items():
        plain = [key for key in known if "." not in key] + releases["series"][series]["flags_only"]
        names |= {key.replace("-", "_") for key in plain if key not in spelt and not key.startswith("experimental-")}
    settings: dict[str, Any] = {}
    for name in sorted(names):
        entry = listed.get(name, {})
        dashed = name.replace("_", "-")
        settings[name] = {}
        for series, known in keys.items():
            default_key = entry.get("key", dashed)
            spelling = entry.get(series, {"flag": dashed, "key": default_key if default_key in known else None})
            key = spelling["key"]
            if key is None and spelling["flag"] not in releases["series"][series]["flags_only"]:
                continue
            settings[name][series] = {
                "flag": spelling["flag"],
                "env": "ETCD_" + spelling["flag"].upper().replace("-", "_"),
                "key": key,
                "type": known[key] if key is not None else "string",
            }
            if "defaults" in entry:
                settings[name][series]["default"] = entry["defaults"][series]
    return settings


def spellings_of(older: dict[str, Any]) -> dict[str, Any]:
    """Return the keys and flags of a series that is no longer maintained."""
    sections = ("client-transport-security", "peer-transport-security")
    keys = older["keys"] + [f"{section}.{key}" for section in sections for key in older["section_keys"]]
    rest = {name: value for name, value in older.items() if name == "gomemlimit_since"}
    return {"key": keys, "flag": older["keys"] + older["flags_only"], **rest}


def by_series(value: Any, series: str) -> Any:
    """Pick a constant's value for one series."""
    return value[series] if isinstance(value, dict) and series in value else value


def at_end(value: Any, end: str) -> int:
    """Pick the low or the high end of a constant; most have only one value."""
    return int(value[end] if isinstance(value, dict) else value)


def load() -> dict[str, Any]:
    """Read both files and return the model as it is rendered."""
    releases = yaml.safe_load((MODEL / "releases.yml").read_text(encoding="utf-8"))
    memory = yaml.safe_load((MODEL / "memory.yml").read_text(encoding="utf-8"))
    constants = memory["constants"]
    keys = {name: flat_keys(release["config_keys"]) for name, release in releases["series"].items()}
    return {
        "series": {
            name: {**{k: v for k, v in release.items() if k != "config_keys"}, "config_keys": keys[name]}
            for name, release in releases["series"].items()
        },
        "older": {name: spellings_of(older) for name, older in releases["older"].items()},
        "settings": expand_settings(releases, keys),
        # The sources are for the page, docs/policies/defects.md.
        "bugs": [{key: value for key, value in bug.items() if key != "source"} for bug in releases["bugs"]],
        "constants": {
            end: {
                name: {constant: at_end(by_series(entry["value"], name), end) for constant, entry in constants.items()}
                for name in releases["series"]
            }
            for end in ("low", "high")
        },
        "size_classes": memory["size_classes"],
        "go_page": memory["go_page"],
        "workload": memory["workload"],
        "estimate_settings": memory["settings"],
        "plan": {
            name: {key: by_series(value, name) for key, value in memory["plan"].items()} for name in releases["series"]
        },
    }


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


def shown(value: Any) -> str:
    """Return a constant's value as a person reads it: a number, a range, or either by series."""
    if not isinstance(value, dict):
        return f"{value:,}"
    if "low" in value:
        return f"{value['low']:,} to {value['high']:,}"
    return "; ".join(f"{series}: {shown(part)}" for series, part in value.items())


def formulas() -> dict[str, str]:
    """Return the texts of the files of formulas by path, in the order of their layers in pyproject.toml, lowest first."""
    contracts = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = next(contract["layers"] for contract in contracts if contract["name"] == FORMULAS_CONTRACT)
    paths = [FORMULAS / f"{layer}.py" for layer in reversed(layers)]
    return {path.relative_to(PROJECT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def page() -> str:
    """Return the page about the model, with the tables of its formulas and of its constants."""
    constants = yaml.safe_load((MODEL / "memory.yml").read_text(encoding="utf-8"))["constants"]
    rows = ["| constant | value | unit | basis | source |", "| --- | --- | --- | --- | --- |"]
    rows += [
        f"| `{name}` | {shown(entry['value'])} | {entry['unit']} | {entry['basis']} | {entry['source']} |"
        for name, entry in constants.items()
    ]
    tables = {
        "{{ formulas }}": formulas_table(formulas()),
        "{{ constants }}": "\n".join(rows),
    }
    text = (MODEL / "memory-model.md.in").read_text(encoding="utf-8")
    for mark, content in tables.items():
        text = text.replace(mark, content)
    return text


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


def python(model: dict[str, Any]) -> str:
    """Return the Python module."""
    names = {
        "SERIES": "series",
        "SETTINGS": "settings",
        "BUGS": "bugs",
        "SIZE_CLASSES": "size_classes",
        "GO_PAGE": "go_page",
        "WORKLOAD": "workload",
        "ESTIMATE_SETTINGS": "estimate_settings",
        "PLAN": "plan",
    }
    types = {"BUGS": "list[dict[str, Any]]", "SIZE_CLASSES": "list[int]", "GO_PAGE": "int"}
    constants = model["constants"]
    parts = [constants_class(next(iter(constants["high"].values()))) + "\n"]
    parts += [constants_literal(f"CONSTANTS_{end.upper()}", constants[end]) for end in ("low", "high")]
    # Only the linter sees the settings that lead to a defect.
    bugs = [{key: value for key, value in bug.items() if key != "condition"} for bug in model["bugs"]]
    for constant, key in names.items():
        head = f"{constant}: {types.get(constant, 'dict[str, Any]')} = "
        value = bugs if key == "bugs" else model[key]
        parts.append(head + literal(value, 0, len(head), 0) + "\n")
    return HEADER + "\n".join(parts)


def data(model: dict[str, Any]) -> str:
    """Return the document for Rego, which computes with the high ends alone."""
    tables = {"spellings": spellings(model), "variables": {f"etcd_{name}": name for name in model["settings"]}}
    document = {**model, "constants": model["constants"]["high"], **tables}
    return json.dumps({"headroom": {"model": document}}, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def archives() -> str:
    """Return the SHA-256 of each archive by release and architecture, for role etcd."""
    known = yaml.safe_load((MODEL / "releases.yml").read_text(encoding="utf-8"))["archives"]
    lines = []
    for release, digests in known.items():
        lines += [f"{release}:", *(f"  {architecture}: {digest}" for architecture, digest in digests.items())]
    return "\n".join(["# Generated from model/releases.yml by `make model`: change that file.", "---", *lines]) + "\n"


def render(model: dict[str, Any]) -> list[tuple[Path, str]]:
    """Return the files with their contents."""
    policy = rego(formulas(), FORMULAS.relative_to(PROJECT).as_posix(), called_by_policies(POLICIES, REGO))
    return [(PYTHON, python(model)), (DATA, data(model)), (REGO, policy), (PAGE, page()), (ARCHIVES, archives())]


def main() -> int:
    """Write the files, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 on a difference")
    check = parser.parse_args().check
    stale = []
    for path, text in render(load()):
        if check:
            if not path.is_file() or path.read_text(encoding="utf-8") != text:
                stale.append(str(path.relative_to(PROJECT)))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if stale:
        print(f"{', '.join(stale)}: not current; run `make model`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
