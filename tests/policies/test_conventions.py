# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every rule must have: its folder, package, annotations and severity, its examples, its table of cases, and its page."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools.policies import catalog

from .tools import POLICIES, REPOSITORY, TESTS, tool

TOPICS = {
    "memory",
    "flags",
    "compaction",
    "defragmentation",
    "topology",
    "placement",
    "disk",
    "security",
    "durability",
    "version",
    "upgrade",
    "inventory",
    "live",
    "waiver",
}
RULES = sorted(POLICIES.glob("rules/*/*/*.rego"))


def name_of(path: Path) -> str:
    return f"{path.parent.parent.name}/{path.parent.name}"


@pytest.fixture(scope="module")
def annotated() -> dict[str, dict[str, Any]]:
    """The METADATA of each rule's package, as `opa inspect` has it."""
    return catalog.metadata(tool("opa"))


def test_ids_are_unique(annotated: dict[str, dict[str, Any]]) -> None:
    ids = [about["custom"]["id"] for about in annotated.values()]
    assert len(ids) == len(set(ids)) == len(RULES)
    assert ids


@pytest.mark.parametrize("path", RULES, ids=name_of)
def test_rule(path: Path, annotated: dict[str, dict[str, Any]]) -> None:
    name = name_of(path)
    text = path.read_text(encoding="utf-8")
    about = annotated.get(name, {})
    custom = about.get("custom", {})
    severity = custom.get("severity")
    calls = [line for line in text.splitlines() if "result.findings(" in line]
    assumed = re.findall(
        r"^warn contains finding if (?:\{\n\testimates\.assume_a_workload\n\t)?(.*result\.assumed\(.*)$",
        text,
        re.MULTILINE,
    )
    wanted = {
        "a METADATA header above the package": bool(about),
        f"a file named {path.parent.name}.rego": path.stem == path.parent.name,
        f"package headroom.rules.{name.replace('/', '.')}": f"\npackage headroom.rules.{name.replace('/', '.')}\n"
        in text,
        f"a topic of {sorted(TOPICS)}": path.parent.parent.name in TOPICS,
        "a title": bool(about.get("title")),
        "a description that says why": len(about.get("description", "")) > 60,
        f"custom.id {name}": custom.get("id") == name,
        "custom.severity deny or warn": severity in ("deny", "warn"),
        "a fix without a full stop": bool(custom.get("fix")) and not custom["fix"].endswith("."),
        "custom.source": bool(custom.get("source")),
        f"findings as {severity}, under its own id": calls
        == [f'{severity} contains finding if some finding in result.findings("{custom.get("id")}", problems)'],
        "assumed findings as warnings of a rule that denies": assumed
        in ([], [f'some finding in result.assumed("{custom.get("id")}", problems)'])
        and (not assumed or severity == "deny"),
        "problems, which are also asked for what is waived": bool(
            re.search(r"^problems (:=|contains)", text, re.MULTILINE)
        ),
        "custom.with to name rules": set(custom.get("with", [])) <= set(annotated) - {name},
        f"a table of cases, tests/policies/rego/rules/{name}.yml": (TESTS / "rules" / f"{name}.yml").exists(),
        "examples.yml beside it, and nothing else": {entry.name for entry in path.parent.iterdir()}
        == {path.name, "examples.yml"},
    }
    missing = [what for what, there in wanted.items() if not there]
    assert not missing, f"{path.relative_to(REPOSITORY)} wants {'; '.join(missing)}"


def test_every_table_has_its_rule() -> None:
    tables = {path.relative_to(TESTS / "rules").as_posix() for path in (TESTS / "rules").rglob("*.yml")}
    assert tables == {f"{name_of(path)}.yml" for path in RULES}


def test_there_are_no_tests_among_the_policies() -> None:
    """conftest compiles every .rego file below policies/, in every run."""
    assert not list(POLICIES.rglob("*_test.rego"))


def test_documentation_is_rendered() -> None:
    command = [sys.executable, "-m", "tools.policies.render", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600, cwd=REPOSITORY)
    assert done.returncode == 0, done.stderr


def test_thresholds_are_explained_and_used() -> None:
    thresholds = catalog.thresholds()
    used = {limit for path in RULES for limit in catalog.used_thresholds(name_of(path))}
    assert used == set(thresholds)
    assert not [name for name, (value, why) in thresholds.items() if not value or len(why) < 30]


# A rule that reads all rules would be recursive, so the waived rules are listed by topic.
def test_every_topic_can_be_waived() -> None:
    text = (POLICIES / "waived.rego").read_text(encoding="utf-8")
    listed = set(
        re.findall(r'^_problems\("(\w+)", name\) := data\.headroom\.rules\.\1\[name\]\.problems$', text, re.MULTILINE)
    )
    assert listed == {path.parent.parent.name for path in RULES} - {"waiver"}
