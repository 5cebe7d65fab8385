# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The layers of policies/lib: packages use lower ones only, and there are no cycles. The list is policies/layers.yml."""

from __future__ import annotations

import graphlib
import json
import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from .tools import POLICIES, REPOSITORY, tool

Contract = dict[str, Any]


@dataclass(frozen=True)
class Use:
    """A reference from one package to another, both without the leading `headroom`."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    where: str

    def __str__(self) -> str:
        return f"{self.where}: {'.'.join(self.source) or 'headroom'} uses {'.'.join(self.target)}"


def references(node: Any) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield path and line of every reference below data.headroom, imports included."""
    if isinstance(node, list):
        for item in node:
            yield from references(item)
    elif isinstance(node, dict):
        parts = node.get("value")
        if node.get("type") == "ref" and isinstance(parts, list):
            constant = [part["value"] for part in parts if part["type"] in ("var", "string")]
            if constant[:2] == ["data", "headroom"] and len(constant) > 2:
                yield tuple(constant[2:]), node["location"]["row"]
        for value in node.values():
            yield from references(value)


def parse(path: Path) -> tuple[Path, tuple[str, ...], list[tuple[tuple[str, ...], int]]]:
    """Return a file's path, its package without `headroom`, and its references."""
    command = [tool("opa"), "parse", "--format", "json", "--json-include", "locations", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    module = json.loads(done.stdout)
    package = tuple(part["value"] for part in module.pop("package")["path"])[2:]
    return path.relative_to(REPOSITORY), package, list(references(module))


@cache
def uses() -> list[Use]:
    """Return every use of a package by another one below policies/."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        modules = list(pool.map(parse, sorted(POLICIES.rglob("*.rego"))))
    packages = {package for _, package, _ in modules}
    found = []
    for path, package, targets in modules:
        for target, line in targets:
            # The longest package that the reference starts with: the rest names a rule in it.
            candidates = [target[:length] for length in range(len(target), 0, -1)]
            used = next((candidate for candidate in candidates if candidate in packages), target[:1])
            if used != package:
                found.append(Use(package, used, f"{path}:{line}"))
    return found


@pytest.fixture(scope="module")
def contract() -> Contract:
    """Return the content of policies/layers.yml."""
    loaded: Contract = yaml.safe_load((POLICIES / "layers.yml").read_text(encoding="utf-8"))
    return loaded


def broken(contract: Contract, use: Use) -> str | None:
    """Return why the contract forbids a use, or None."""
    # The folder thresholds has another package name, because data.headroom.thresholds belongs to the user.
    layers = [layer["package"] for layer in contract["layers"]]
    source, target = (path[0].removeprefix("effective_") if path else "headroom" for path in (use.source, use.target))
    if target in contract["data"] and use.target[0] == target:
        return None
    if source in contract["entry_points"]:
        return None
    if target == "waived" and ".".join(use.source[:2]) == contract["waiver_rules"]:
        return None
    if target not in layers:
        return "which is neither a lower layer nor data"
    if source == contract["rules"] or source == target or layers.index(target) < layers.index(source):
        return None
    return f"which is a higher layer; lowest first: {', '.join(layers)}"


def test_every_package_is_a_layer(contract: Contract) -> None:
    folders = {path.name for path in (POLICIES / "lib").iterdir()}
    assert folders == {layer["package"] for layer in contract["layers"]}
    assert all(layer["holds"] and layer["not"] for layer in contract["layers"])


def test_imports_run_downwards(contract: Contract) -> None:
    problems = [f"{use}, {why}" for use in uses() if (why := broken(contract, use))]
    assert not problems, "\n".join(problems)
    print("\nlayers of policies/lib, lowest first:")
    for layer in contract["layers"]:
        print(f"  {layer['package']:12}  {layer['holds']}")
    print(f"{len(uses())} uses, all of lower layers")


def test_no_cycles() -> None:
    graph: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for use in uses():
        graph.setdefault(use.source, set()).add(use.target)
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        cycle = set(zip(error.args[1][1:], error.args[1], strict=False))
        pytest.fail("\n".join(f"{use}, in a cycle" for use in uses() if (use.source, use.target) in cycle))


@pytest.mark.parametrize(
    ("source", "target", "allowed"),
    [
        ("clusters", "inventory.folder", True),
        ("inventory.graph", "inventory.closure", True),
        ("rules.memory.mlock", "result", True),
        ("waived", "rules", True),
        ("rules.waiver.unused", "waived", True),
        ("text", "model", True),
        ("inventory.graph", "clusters", False),
        ("result", "rules.memory.mlock", False),
        ("rules.memory.mlock", "rules.memory.large_values", False),
        ("rules.memory.mlock", "waived", False),
        ("text", "nowhere", False),
    ],
)
def test_contract(contract: Contract, source: str, target: str, allowed: bool) -> None:
    use = Use(tuple(source.split(".")), tuple(target.split(".")), "a.rego:1")
    assert (broken(contract, use) is None) == allowed
