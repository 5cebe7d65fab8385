# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random inventories for hypothesis, and how Ansible resolves them."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import yaml
from ansible import constants
from ansible._internal._json._profiles import _inventory_legacy
from ansible.cli.inventory import InventoryCLI
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.vars.manager import VariableManager
from hypothesis import strategies as st

Files = dict[str, str]

GROUPS = ["etcd", "Zone", "alpha", "beta", "dc-1", "prod.eu", "leaf"]
HOSTS = ["n1", "n2", "n3", "n4", "db.example.com", "10.0.0.7", "Upper"]
PATTERNS = [*HOSTS, *HOSTS, "n[1:3]", "n[01:03]", "x[a:c]-[1:3:2]", "n1:2222", "n2:22", "n4[0:1].lan"]
VARIABLES = ["etcd_version", "etcd_workload", "v1", "v2", "ansible_port", "etcd_snapshot_count"]

# Order matters: `site/z.yml` is read before `site-x.yml`, and upper case before lower case. Those below are not read at all.
INVENTORY_FILES = ["a.json", "Z.yaml", "site/z.yml", "site-x.yml", "site.yml", "b.yml", "deep/er/x.json"]
IGNORED_FILES = [
    "old.yml.bak",
    ".hidden.yml",
    "vars_plugins/x.yml",
    "sub/group_vars/all.yml",
    "sub/.x/y.yml",
    "notes.md",
]
VARS_FORMS = [
    "{0}.yml",
    "{0}.yaml",
    "{0}.json",
    "{0}/main.yml",
    "{0}/a/x.yml",
    "{0}/a.d/y.yml",
    "{0}/a-b.json",
    "{0}/.hid.yml",
    "{0}/Z.yaml",
]

scalars = st.one_of(
    st.integers(-3, 5000),
    st.booleans(),
    st.none(),
    st.sampled_from(
        [
            "",
            "word",
            "yes",
            "0755",
            "12:30",
            "3.10",
            "8G",
            "3.7.3",
            "{{ other }}",
            "a: b",
            "2024-01-01 10:00:00",
            "日本",
        ]
    ),
    st.sampled_from([0.5, 3.25, -1.5]),
)
values = st.one_of(
    scalars,
    scalars,
    st.lists(scalars, max_size=2),
    st.dictionaries(st.sampled_from(["keys", "size"]), scalars, max_size=2),
)
variables = st.dictionaries(st.sampled_from(VARIABLES), values, min_size=1, max_size=4)
group_variables = variables.flatmap(
    lambda found: st.sampled_from([None, None, None, 1, 2, 10, "5", -1]).map(
        lambda priority: found if priority is None else {**found, "ansible_group_priority": priority}
    )
)
host_sections = st.one_of(
    st.dictionaries(st.sampled_from(PATTERNS), st.one_of(st.none(), variables), min_size=1, max_size=3),
    st.sampled_from([None, "n3"]),
)


def _body(draw: st.DrawFn, index: int, depth: int) -> dict[str, Any] | None:
    """A group's body; its children come later in GROUPS, so that there is never a cycle."""
    body: dict[str, Any] = {}
    if draw(st.integers(0, 9)) == 0:
        return None
    if draw(st.integers(0, 3)) > 0:
        body["hosts"] = draw(host_sections)
    if draw(st.integers(0, 3)) > 0:
        body["vars"] = draw(st.one_of(st.none(), group_variables, group_variables))
    if depth < 6 and index + 1 < len(GROUPS) and draw(st.integers(0, 2)) > 0:
        children = draw(st.lists(st.integers(index + 1, len(GROUPS) - 1), max_size=2, unique=True))
        body["children"] = {GROUPS[child]: _body(draw, child, depth + 1) for child in children}
    return body


@st.composite
def inventory_file(draw: st.DrawFn) -> dict[str, Any]:
    """The content of one inventory file."""
    content: dict[str, Any] = {}
    if draw(st.booleans()):
        content["all"] = _body(draw, -1, 0)
    if draw(st.integers(0, 5)) == 0:
        content["ungrouped"] = {"hosts": draw(host_sections), "vars": draw(variables)}
    for index in draw(st.lists(st.integers(0, len(GROUPS) - 1), min_size=1, max_size=3, unique=True)):
        content[GROUPS[index]] = _body(draw, index, 0)
    # Ansible gives an empty YAML file to its INI reader, to which `{}` is a host.
    return content or {"all": None}


def _text(draw: st.DrawFn, path: str, content: Any) -> str:
    """A file's text, as JSON or as YAML, with or without `---`, with or without a comment above it."""
    if path.endswith(".json"):
        return json.dumps(content)
    head = draw(st.sampled_from(["", "---\n", "# A comment above.\n---\n"]))
    if content is None:
        return head
    body: str = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
    return head + body


@st.composite
def inventories(draw: st.DrawFn) -> Files:
    """The files of one inventory directory."""
    files = {"hosts.yml": _text(draw, "hosts.yml", draw(inventory_file()))}
    for path in draw(st.lists(st.sampled_from(INVENTORY_FILES + IGNORED_FILES), max_size=3, unique=True)):
        files[path] = _text(draw, path, draw(inventory_file()))
    for kind, names in (
        ("group_vars", [*GROUPS, "all", "ungrouped", "nobody"]),
        ("host_vars", [*HOSTS, "n01", "xa-1"]),
    ):
        for name in draw(st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True)):
            for form in draw(st.lists(st.sampled_from(VARS_FORMS), min_size=1, max_size=3, unique=True)):
                path = f"{kind}/{form.format(name)}"
                content = draw(st.one_of(variables, variables, variables, st.none()))
                files[path] = _text(draw, path, content)
    return files


# What stands behind `=` in an INI file: literals of Python, what looks like one and is none, quotes, comments.
INI_VALUES = [
    "5",
    "0.5",
    "-5",
    "0x10",
    "1e3",
    "True",
    "None",
    "true",
    "yes",
    "0644",
    "8G",
    "3.5.21",
    '"5"',
    "'\"5\"'",
    "[1,2]",
    "1,2",
    "\"{'keys': 5}\"",
    "x;y",
    "a#b",
    "{{other}}",
    "日本",
    "",
]
ini_values = st.sampled_from(INI_VALUES)
ini_hosts = st.tuples(
    st.sampled_from([*HOSTS, "n[1:3]", "n[01:03]", "n1:2222", "x[a:c]"]),
    st.dictionaries(st.sampled_from(VARIABLES), ini_values, max_size=2),
)


@st.composite
def ini_file(draw: st.DrawFn) -> str:
    """The text of an INI inventory: hosts above all sections, groups with hosts, children and variables."""
    lines = []
    for host, found in draw(st.lists(ini_hosts, max_size=2)):
        lines.append(" ".join([host, *(f"{name}={value}" for name, value in found.items())]))
    indices = draw(st.lists(st.integers(0, len(GROUPS) - 1), max_size=4, unique=True))
    for index in indices:
        lines.append(f"[{GROUPS[index]}]")
        for host, found in draw(st.lists(ini_hosts, max_size=3)):
            lines.append(" ".join([host, *(f"{name}={value}" for name, value in found.items())]))
        if draw(st.booleans()):
            lines.append(f"[{GROUPS[index]}:vars]")
            lines += [
                f"{name} = {value}"
                for name, value in draw(st.dictionaries(st.sampled_from(VARIABLES), ini_values)).items()
            ]
            if draw(st.integers(0, 3)) == 0:
                lines.append(f"ansible_group_priority={draw(st.sampled_from([2, 10, -1]))}")
        # Ansible refuses a file whose children are defined nowhere in it; larger ones only, so that there is no cycle.
        if larger := [other for other in indices if other > index]:
            lines.append(f"[{GROUPS[index]}:children]")
            lines += [GROUPS[child] for child in draw(st.sets(st.sampled_from(larger), max_size=2))]
    return "\n".join([*lines, ""])


@st.composite
def any_inventories(draw: st.DrawFn) -> Files:
    """The files of an inventory as Ansible alone can read it: INI, with and without an ending, and YAML and variables in files without one."""
    files = draw(inventories())
    for path in draw(
        st.lists(st.sampled_from(["hosts", "hosts.ini", "site/hosts", "Z.ini"]), min_size=1, max_size=2, unique=True)
    ):
        is_yaml = not path.endswith(".ini") and draw(st.booleans())
        # Nothing tells that a file is an inventory if its groups are empty.
        content = draw(inventory_file().filter(lambda groups: any(groups.values()))) if is_yaml else None
        files[path] = _text(draw, path, content) if is_yaml else draw(ini_file())
    for kind, names in (("group_vars", [*GROUPS, "all"]), ("host_vars", HOSTS)):
        for name in draw(st.lists(st.sampled_from(names), max_size=2, unique=True)):
            # NAME is a folder already where an inventory has NAME/main.yml.
            below = any(path.startswith(f"{kind}/{name}/") for path in files)
            path = f"{kind}/{name}/plain" if below else f"{kind}/{name}"
            files[path] = _text(draw, path, draw(variables))
    return files


def write(folder: Path, files: Files) -> None:
    """Puts the files of an inventory below a folder."""
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def _managers(folder: Path) -> tuple[DataLoader, InventoryManager, VariableManager]:
    loader = DataLoader()
    loader.set_basedir(str(folder))
    inventory = InventoryManager(loader=loader, sources=[str(folder)])
    return loader, inventory, VariableManager(loader=loader, inventory=inventory)


@functools.cache
def _command_line() -> InventoryCLI:
    """`ansible-inventory --list`, as far as it goes without an inventory. Once: Ansible keeps its arguments for the whole process."""
    command = InventoryCLI(["ansible-inventory", "--list"])
    command.parse()
    return command


def listed(folder: Path) -> dict[str, Any]:
    """What `ansible-inventory --list` prints, by its own code in this process."""
    command = _command_line()
    command.loader, command.inventory, command.vm = _managers(folder)
    document: dict[str, Any] = json.loads(command.dump(command.json_inventory(command.inventory.groups["all"])))
    return document


def ansible_view(folder: Path) -> dict[str, Any]:
    """Hosts with their variables and groups with their hosts, as `ansible-inventory --list` has them, without starting it."""
    _, inventory, manager = _managers(folder)
    hosts = {}
    for host in inventory.get_hosts():
        found = manager.get_vars(host=host, include_hostvars=False, stage="all")
        hosts[host.name] = {name: value for name, value in found.items() if name not in constants.INTERNAL_STATIC_VARS}
    groups = {name: sorted(host.name for host in group.get_hosts()) for name, group in inventory.groups.items()}
    view: dict[str, Any] = json.loads(json.dumps({"hosts": hosts, "groups": groups}, cls=_inventory_legacy.Encoder))
    return view
