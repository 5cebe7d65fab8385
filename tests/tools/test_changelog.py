# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Entries of the changelog have one form, and fixes are of something that a release had; CONTRIBUTING.md describes both."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

PROJECT = Path(__file__).resolve().parents[2]
FRAGMENTS = sorted((PROJECT / "changelogs/fragments").glob("*.yml"))
NEXT = yaml.safe_load((PROJECT / "galaxy.yml").read_text())["version"]
RELEASED = set(yaml.safe_load((PROJECT / "changelogs/changelog.yaml").read_text())["releases"])
# The file of what a subject names.
FILES = {
    "Role": "roles/{}/meta/argument_specs.yml",
    "Module": "plugins/modules/{}.py",
    "Filter": "plugins/filter/{}.yml",
    "Playbook": "playbooks/{}.yml",
    "Rule": "policies/rules/{}",
}
PROGRAMS = {"headroom", "headroom-lint"}
TOPICS = ("Collection", "Documentation", "Linter", "Memory model")
ENTRY = re.compile(
    rf"(?:(?P<kind>{'|'.join(FILES)}|Program) (?P<name>[a-z][\w/-]*)|{'|'.join(TOPICS)})"
    # In English, every verb in the third person of the present ends in s.
    r" - (?:also |no longer )?[a-z]+s\b.*\.",
    re.DOTALL,
)
# These may name what is gone.
REMOVING = ("breaking_changes", "removed_features")
FIXES = ("bugfixes", "security_fixes")


def entries(sections: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the section and the text of each entry of a fragment, without its summary and its new playbooks."""
    return [
        (section, text)
        for section, texts in sections.items()
        if section != "release_summary" and not section.startswith("add ")
        for text in texts
    ]


def version_added(text: str) -> str:
    """Return the first version_added of a documentation, which is that of the whole."""
    found = re.search(r"version_added: (\S+)", text)
    return found.group(1) if found else ""


def new_playbooks() -> set[str]:
    """Return the names of the playbooks that the next release is the first to have."""
    sections = [yaml.safe_load(fragment.read_text()) for fragment in FRAGMENTS]
    return {playbook["name"] for section in sections for playbook in section.get("add object.playbook", [])}


def problem(section: str, text: str) -> str:
    """Return what is wrong with an entry, or an empty text."""
    match = ENTRY.fullmatch(text)
    if not match:
        return "expected 'KIND NAME - verbs in the third person present ... .'"
    kind, name = match["kind"], match["name"]
    if kind is None:
        return ""
    if kind == "Program":
        return "" if name in PROGRAMS else f"no program {name}"
    file = PROJECT / FILES[kind].format(name)
    if not file.exists():
        return "" if section in REMOVING else f"no {file.relative_to(PROJECT)}"
    if section not in FIXES:
        return ""
    if kind == "Playbook":
        new = name in new_playbooks()
    else:
        new = file.is_file() and version_added(file.read_text()) not in RELEASED
    return f"no release had {kind.lower()} {name}: amend the entry of the feature" if new else ""


@pytest.mark.parametrize("fragment", FRAGMENTS, ids=lambda fragment: fragment.stem)
def test_entries_have_the_form(fragment: Path) -> None:
    found = entries(yaml.safe_load(fragment.read_text()))
    assert {text: problem(section, text) for section, text in found if problem(section, text)} == {}


@pytest.mark.parametrize(
    ("section", "text", "expected"),
    [
        ("bugfixes", "Role etcd_storage - refuses a mount point below a symbolic link.", ""),
        ("minor_changes", "Module etcd_lint - no longer fails.", ""),
        ("removed_features", "Module etcd_gone - is gone.", ""),
        ("bugfixes", "role etcd_storage - refuses a volume.", "expected"),
        ("bugfixes", "etcd_storage - refuses a volume.", "expected"),
        ("bugfixes", "Role etcd_storage - refuse a volume.", "expected"),
        ("bugfixes", "Role etcd_storage - refuses a volume", "expected"),
        ("bugfixes", "policies - reports a member.", "expected"),
        ("minor_changes", "Module etcd_gone - is new.", "no plugins/modules/etcd_gone.py"),
        ("minor_changes", "Rule memory/gone - is new.", "no policies/rules/memory/gone"),
        ("minor_changes", "Program etcd - is new.", "no program etcd"),
    ],
)
def test_form(section: str, text: str, expected: str) -> None:
    assert problem(section, text).startswith(expected)
    assert bool(problem(section, text)) == bool(expected)


def test_a_fix_is_of_something_that_a_release_had(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Module etcd_lint - lints again."
    assert problem("bugfixes", text) == ""
    monkeypatch.setitem(globals(), "RELEASED", set())
    assert problem("bugfixes", text) == "no release had module etcd_lint: amend the entry of the feature"
    assert problem("minor_changes", text) == ""


def test_everything_was_added_in_a_release_or_comes_in_the_next_one() -> None:
    folders = ("plugins/modules", "plugins/filter", "plugins/doc_fragments", "roles")
    files = [file for folder in folders for file in (PROJECT / folder).rglob("*") if file.suffix in (".py", ".yml")]
    named = {
        (version, str(file.relative_to(PROJECT)))
        for file in files
        for version in re.findall(r"version_added: (\S+)", file.read_text())
    }
    assert named
    assert {entry for entry in named if entry[0] not in RELEASED | {NEXT}} == set()
