# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mutated files: conftest never crashes, a template never adds a denial, and each denial names something that the file states.

HEADROOM_MUTANTS sets how many are linted (default 150, always the same ones; `make bench-world` lints 2,000).
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from .inventories import write
from .mutations import TEMPLATE, YAML, Files, Mutant, mutants, seeds
from .sampling import BATCH
from .test_fuzz import lint

NUMBER = int(os.environ.get("HEADROOM_MUTANTS", "150"))
# Rules that deny what a file leaves out: they need only a file that deploys etcd.
ABSENCES = {"security/client_cert_auth", "topology/default_name", "inventory/no_members"}
# Rules that say that a file cannot be understood: a template where hosts belong is such a case.
UNREADABLE = {"inventory/no_members", "inventory/refused_file", "memory/unreadable"}

Denials = list[tuple[str, str]]


def denials(files: list[Files], base: Path) -> list[Denials]:
    """Lint many folders in one run of conftest; return the (rule, message) pairs of each. AssertionError names a folder that ends in an error."""
    for number, content in enumerate(files):
        write(base / f"m{number}", content)
    done = lint(base)
    if not done.stdout.startswith("["):
        for folder in sorted(base.iterdir()):
            alone = lint(folder)
            assert alone.stdout.startswith("["), alone.stderr + "\n".join(
                f"### {path}\n{path.read_text(encoding='utf-8')}" for path in folder.rglob("*.*")
            )
        raise AssertionError(f"only together: {done.stderr}")
    found: list[Denials] = [[] for _ in files]
    for result in json.loads(done.stdout):
        for entry in result.get("failures") or []:
            inner = Path(entry["loc"]["file"]).relative_to(base).parts
            if inner:
                found[int(inner[0][1:])].append((entry["metadata"]["code"], entry["msg"]))
    return found


def stated(content: Any) -> set[str]:
    """Return the keys and values of a document as text."""
    if isinstance(content, dict):
        return {str(key) for key in content} | {word for value in content.values() for word in stated(value)}
    if isinstance(content, list):
        return {word for value in content for word in stated(value)}
    if isinstance(content, bool):
        return {str(content).lower()}
    words = re.split(r"[\s=,;@:/\"']+", str(content))
    return {str(content), *words, *(word.lstrip("-v") for word in words)}


def words(files: Files) -> set[str]:
    """Return what some files state, as words that a message can repeat."""
    found: set[str] = set()
    for path, text in files.items():
        if Path(path).suffix in YAML:
            for document in yaml.safe_load_all(text):
                found |= stated(document)
        else:
            found |= stated(text)
    return {word.strip() for word in found if word.strip()}


def names_something(message: str, files: Files) -> bool:
    """Return whether a message repeats a key or a value of the files."""
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", message.split(": ", 2)[-1])
    return any(re.search(rf"(?<![\w.]){re.escape(word)}(?![\w])", plain) for word in words(files))


@pytest.fixture(scope="module")
def linted(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Mutant, Denials]]:
    every = list(mutants(NUMBER))
    found: list[Denials] = []
    for start in range(0, len(every), BATCH):
        found += denials([mutant.files for mutant in every[start : start + BATCH]], tmp_path_factory.mktemp("mutants"))
    return list(zip(every, found, strict=True))


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    every = seeds()
    found = denials(list(every.values()), tmp_path_factory.mktemp("seeds"))
    return {name: {rule for rule, _ in denied} for name, denied in zip(every, found, strict=True)}


def test_enough_mutants_are_judged(linted: list[tuple[Mutant, Denials]]) -> None:
    assert len(linted) == NUMBER
    denied = {rule for _, found in linted for rule, _ in found}
    print(f"{NUMBER} mutants of {len(seeds())} seeds, {len(denied)} rules denied something")
    assert len(denied) >= 10


def test_a_denial_names_what_the_file_states(linted: list[tuple[Mutant, Denials]]) -> None:
    wrong = [
        (mutant.seed, mutant.kinds, message)
        for mutant, found in linted
        for rule, message in found
        if rule not in ABSENCES and not names_something(message, mutant.files)
    ]
    assert not wrong, wrong[:5]


def test_a_template_adds_no_denial(linted: list[tuple[Mutant, Denials]], originals: dict[str, set[str]]) -> None:
    wrong = [
        (mutant.seed, message)
        for mutant, found in linted
        if set(mutant.kinds) == {TEMPLATE}
        for rule, message in found
        if rule not in originals[mutant.seed] | UNREADABLE
    ]
    assert not wrong, wrong[:5]
