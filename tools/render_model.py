#!/usr/bin/env python3
# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Render the memory model: constants for Python and Rego, formulas for Rego, and the page about both.

From model/*.yml: policies/data/model.json. In plugins/module_utils/_model/: constants.py from memory.yml, inputs.py from inputs.yml, and
release_tables.py from releases.yml.
From model/memory.yml also the tables of docs/memory-model.md; from model/releases.yml also roles/etcd/files/archives.yml, the digests of the
archives of etcd.
From plugins/module_utils/_model/formulas/: policies/lib/formulas/formulas.rego, for which opa must be on the PATH.

python -m tools.render_model            write the files
python -m tools.render_model --check    exit 1 if a file differs from what would be written
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import tomllib
import yaml

from tools.formulas_table import table as formulas_table
from tools.model_modules import constants_module, inputs_module, release_tables_module
from tools.rego_from_formulas import called_by_policies, rego
from tools.spellings import gates, removed_in_next, spellings, successors

PROJECT = Path(__file__).resolve().parents[1]
MODEL = PROJECT / "model"
PYTHON = PROJECT / "plugins" / "module_utils" / "_model"
FORMULAS = PROJECT / "plugins" / "module_utils" / "_model" / "formulas"
# import-linter's contract, which lists the files of formulas: all of them, because it is exhaustive.
FORMULAS_CONTRACT = "Formulas call those of lower layers"
POLICIES = PROJECT / "policies"
DATA = POLICIES / "data" / "model.json"
REGO = POLICIES / "lib" / "formulas" / "formulas.rego"
PAGE = PROJECT / "docs" / "memory-model.md"
ARCHIVES = PROJECT / "roles" / "etcd" / "files" / "archives.yml"


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
    """Read the files and return the model as it is rendered."""
    releases = yaml.safe_load((MODEL / "releases.yml").read_text(encoding="utf-8"))
    memory = yaml.safe_load((MODEL / "memory.yml").read_text(encoding="utf-8"))
    inputs = yaml.safe_load((MODEL / "inputs.yml").read_text(encoding="utf-8"))
    constants = memory["constants"]
    keys = {name: flat_keys(release["config_keys"]) for name, release in releases["series"].items()}
    model: dict[str, Any] = {
        "series": {
            name: {**{k: v for k, v in release.items() if k != "config_keys"}, "config_keys": keys[name]}
            for name, release in releases["series"].items()
        },
        "older": {name: spellings_of(older) for name, older in releases["older"].items()},
        "settings": expand_settings(releases, keys),
        "ignored_flags": releases["ignored_flags"],
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
        "workload": inputs["workload"],
        "estimate_settings": inputs["settings"],
        "role_settings": inputs["role_settings"],
        "plan": {
            name: {key: by_series(value, name) for key, value in inputs["plan"].items()} for name in releases["series"]
        },
    }
    for name, removed in removed_in_next(model).items():
        model["series"][name]["deprecated"] = {**model["series"][name]["deprecated"], **removed}
    for release in model["series"].values():
        release["successors"] = successors(release)
        release["gates_of_settings"] = gates(release)
    return model


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
    return [
        (PYTHON / "constants.py", constants_module(model)),
        (PYTHON / "inputs.py", inputs_module(model)),
        (PYTHON / "release_tables.py", release_tables_module(model)),
        (DATA, data(model)),
        (REGO, policy),
        (PAGE, page()),
        (ARCHIVES, archives()),
    ]


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
