# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A role reads its own variables and what other roles publish, and enters other roles by their documented entry points."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import topology

ROOT = Path(topology.__file__).parents[3]
ROLES = sorted(path.name for path in (ROOT / "roles").iterdir())
RESULTS = yaml.safe_load((ROOT / "roles" / "etcd_host" / "meta" / "results.yml").read_text(encoding="utf-8"))
PUBLISHED = {name for names in RESULTS.values() for name in names}

# Names of variables; names of modules and filters follow the collection's name, names of attributes a dot.
NAME = re.compile(r"(?<![\w./-])(?:(?<=\bh\.))?(_?etcd_\w+)(?!\w)")
ATTRIBUTE = re.compile(r"\b(?:h|hostvars\[\w+\])\.(_?etcd_\w+)")
# Keys that define a variable: entries of vars files, set_fact, vars, register, loop_var, assignments and loops in templates, and template_vars.
DEFINED = re.compile(
    r"^\s*(?:- )?(_?etcd_\w+):|(?:register|loop_var): (_?etcd_\w+)|set (_?etcd_\w+) =|{% for (_?etcd_\w+) in|template_vars=\{'(_?etcd_\w+)'",
    re.M,
)


def specs(role: str) -> dict[str, Any]:
    """The entry points of a role with their options."""
    text = (ROOT / "roles" / role / "meta" / "argument_specs.yml").read_text(encoding="utf-8")
    entry_points: dict[str, Any] = yaml.safe_load(text)["argument_specs"]
    return entry_points


def texts(role: str) -> dict[Path, str]:
    """The files of a role that read variables, without comments."""
    folders = ("tasks", "vars", "defaults", "templates")
    paths = (path for folder in folders for path in (ROOT / "roles" / role / folder).rglob("*") if path.is_file())
    return {path: re.sub(r"(?:^|\s)#.*$|\{#.*?#\}", "", path.read_text(encoding="utf-8"), flags=re.M) for path in paths}


def defined(role: str) -> set[str]:
    """The variables that a role defines or documents."""
    own = {name for text in texts(role).values() for found in DEFINED.findall(text) for name in found if name}
    return own | {name for entry in specs(role).values() for name in entry.get("options") or {}}


def read(text: str) -> Iterator[str]:
    """The variables that a text reads."""
    yield from NAME.findall(text)
    yield from ATTRIBUTE.findall(text)


def includes(text: str) -> Iterator[tuple[str, str]]:
    """Role and entry point of each role that a text includes."""
    for name, entry in re.findall(r"name: etcdops\.headroom\.(\w+)(?:\n\s+tasks_from: ([\w.]+))?", text):
        yield name, entry or "main"


@pytest.mark.parametrize("role", ROLES)
def test_a_role_reads_its_own_variables_and_published_results(role: str) -> None:
    known = defined(role) | PUBLISHED
    foreign = {
        f"{path.relative_to(ROOT)}: {name}"
        for path, text in texts(role).items()
        for name in read(text)
        if name not in known and name not in ROLES and not name.endswith("_")
    }
    assert not foreign


@pytest.mark.parametrize("role", sorted(RESULTS))
def test_published_results_exist(role: str) -> None:
    assert set(RESULTS[role]) <= defined(role)
    assert all(not name.startswith("_") for name in RESULTS[role])


@pytest.mark.parametrize("folder", ["roles", "playbooks"])
def test_roles_are_entered_by_documented_entry_points(folder: str) -> None:
    paths = [path for path in (ROOT / folder).rglob("*.yml") if "meta" not in path.parts]
    wrong = {
        f"{path.relative_to(ROOT)}: {role} {entry}"
        for path in paths
        for role, entry in includes(path.read_text(encoding="utf-8"))
        if role in ROLES and entry not in specs(role)
    }
    assert not wrong


def test_fallbacks_are_the_defaults_of_the_roles() -> None:
    """What a role takes for a variable of a role that is not in the play is that role's default."""
    defaults: dict[str, Any] = {}
    for role in ROLES:
        path = ROOT / "roles" / role / "defaults" / "main.yml"
        defaults.update(yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else {})
    for role in ("etcd_host", "etcd_priority"):
        text = (ROOT / "roles" / role / "vars" / "main.yml").read_text(encoding="utf-8")
        fallbacks = dict(re.findall(r"\b(etcd_\w+) \| default\(('[^']+'|-?\d+|true)\)", text))
        plain = {name: yaml.safe_load(value) for name, value in fallbacks.items()}
        assert len(plain) >= 5
        assert plain == {name: defaults[name] for name in plain}
