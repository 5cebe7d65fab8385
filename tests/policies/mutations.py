# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mutations of the project's own small files: keys removed, types changed, templates put in, versions swapped."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from .tools import POLICIES, REPOSITORY

Files = dict[str, str]
Place = tuple[Any, ...]

YAML = {".yml", ".yaml", ".json"}
# A release of etcd, and no address.
VERSION = re.compile(r"(?<![\w.])v?3\.\d+(?:\.\d+)?(?:-\d+)?(?![\w.])")
VERSIONS = ["2.3.8", "3.1.0", "3.3.27", "v3.4.3", "3.5", "3.5.0", "v3.5.16", "3.5.35", "3.6.4", "3.6.16-0", "3.7.3"]
VERSIONS += ["3.7.3-debian-12-r1", "3.99.0", "4.0.0", "latest", "stable", ""]
JINJA = ["{{ x }}", "{{ groups['etcd'] | length }}", "{{ scheme }}://{{ ip }}:2379", "{% if x %}1{% endif %}"]
# Each format has templates of its own: elsewhere they are values.
TEMPLATES = {
    "compose": [*JINJA, "${X}", "${X:-1}", "${SCHEME:?}://${IP}:2379"],
    "manifest": [*JINJA, "$(X)", "$(SCHEME)://$(IP):2379"],
    "jinja": JINJA,
}
# A flag, or a variable of an environment that is a list.
ASSIGNMENT = re.compile(r"(--?[a-z0-9-]+|[A-Z][A-Z0-9_]+)=.*", re.DOTALL)
OTHER_TYPES: list[Any] = [
    None,
    True,
    False,
    0,
    -1,
    3.5,
    10**30,
    "",
    "8G",
    "off",
    [],
    ["a"],
    {},
    {"a": {"b": [1]}},
    [None, {"x": 1}],
]
TEMPLATE = "template"


@dataclass(frozen=True)
class Mutant:
    """One seed's files after some mutations, and which mutations those were."""

    seed: str
    kinds: tuple[str, ...]
    files: Files


def seeds() -> dict[str, Files]:
    """Return the seeds by name: each file of policies/examples/files, and each inventory of policies/examples and of tests/policies/shapes."""
    found = {
        path.name: {path.name: path.read_text(encoding="utf-8")}
        for path in sorted((POLICIES / "examples/files").iterdir())
    }
    for folder in (POLICIES / "examples", REPOSITORY / "tests/policies/shapes"):
        for base in sorted(path for path in folder.iterdir() if path.is_dir() and path.name != "files"):
            found[base.name] = {
                str(path.relative_to(base)): path.read_text(encoding="utf-8")
                for path in sorted(base.rglob("*.*"))
                if path.is_file()
            }
    return found


def places(content: Any, above: Place = ()) -> Iterator[Place]:
    """Yield the path of every value below the document."""
    if isinstance(content, dict):
        below = list(content.items())
    elif isinstance(content, list):
        below = list(enumerate(content))
    else:
        return
    for key, value in below:
        yield (*above, key)
        yield from places(value, (*above, key))


def change(content: Any, place: Place, make: Callable[[Any], Any]) -> Any:
    """Return a copy of the document in which the value at the path is what `make` returns for it."""
    fresh = copy.deepcopy(content)
    inner = fresh
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = make(inner[place[-1]])
    return fresh


def remove(content: Any, place: Place) -> Any:
    """Return a copy of the document without the key at the path."""
    fresh = copy.deepcopy(content)
    inner = fresh
    for key in place[:-1]:
        inner = inner[key]
    del inner[place[-1]]
    return fresh


def swap_versions(content: Any, other: str) -> Any:
    """Return the document, or the text, with every release in it replaced by another."""
    if isinstance(content, dict):
        return {key: swap_versions(value, other) for key, value in content.items()}
    if isinstance(content, list):
        return [swap_versions(value, other) for value in content]
    return VERSION.sub(lambda _: other, content) if isinstance(content, str) else content


def is_scalar(content: Any, place: Place) -> bool:
    """Return whether the value at the path is neither a map nor a list."""
    for key in place:
        content = content[key]
    return not isinstance(content, dict | list)


def form(content: Any) -> str:
    """Return which templates a document takes."""
    if isinstance(content, dict) and "services" in content:
        return "compose"
    return "manifest" if isinstance(content, dict) and "apiVersion" in content else "jinja"


def put_template(value: Any, template: str) -> str:
    """Return the template, behind the name of the flag or variable if the value has one: only its value becomes unknown."""
    found = ASSIGNMENT.fullmatch(value) if isinstance(value, str) else None
    return f"{found[1]}={template}" if found else template


def mutate_document(content: Any, kind: str, source: random.Random) -> Any:
    """Return the document after one mutation; unchanged where the mutation cannot be applied."""
    if kind == "version":
        return swap_versions(content, source.choice(VERSIONS))
    every = list(places(content))
    scalars = [place for place in every if is_scalar(content, place)]
    if not every or not scalars:
        return content
    if kind == "remove":
        return remove(content, source.choice(every))
    if kind == "type":
        return change(content, source.choice(every), lambda _: copy.deepcopy(source.choice(OTHER_TYPES)))
    return change(
        content, source.choice(scalars), lambda value: put_template(value, source.choice(TEMPLATES[form(content)]))
    )


def mutate_lines(text: str, kind: str, source: random.Random) -> str:
    """Do the same to a text of lines, such as an environment file."""
    if kind == "version":
        return str(swap_versions(text, source.choice(VERSIONS)))
    lines = text.splitlines()
    assignments = [number for number, line in enumerate(lines) if "=" in line]
    if not assignments:
        return text
    number = source.choice(assignments)
    name, _, _ = lines[number].partition("=")
    if kind == "remove":
        del lines[number]
    elif kind == "type":
        lines[number] = f"{name}={source.choice(OTHER_TYPES)}"
    else:
        lines[number] = f"{name}={source.choice(JINJA)}"
    return "\n".join(lines) + "\n"


def mutate(text: str, suffix: str, kind: str, source: random.Random) -> str:
    """Return a file's text after one mutation."""
    if suffix not in YAML:
        return mutate_lines(text, kind, source)
    documents = [mutate_document(document, kind, source) for document in yaml.safe_load_all(text)]
    return yaml.safe_dump_all(documents, allow_unicode=True, sort_keys=False)


KINDS = ["remove", "type", TEMPLATE, "version"]


def mutants(number: int, start: int = 20261122) -> Iterator[Mutant]:
    """Yield this many mutants, always the same ones for the same start: mostly with one mutation, some with up to three."""
    source = random.Random(start)  # nosec
    found = seeds()
    names = sorted(found)
    for count in range(number):
        name = names[count % len(names)]
        kinds = tuple(source.choice(KINDS) for _ in range(source.choice([1, 1, 1, 2, 3])))
        files = dict(found[name])
        for kind in kinds:
            path = source.choice(sorted(files))
            files[path] = mutate(files[path], Path(path).suffix, kind, source)
        yield Mutant(name, kinds, files)
