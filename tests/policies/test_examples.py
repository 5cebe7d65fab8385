# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What conftest finds in the examples of the rules, and in reduced copies of public roles.

conftest keeps several inventories below one folder apart, so one run lints all examples.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tools.policies import catalog
from tools.policies import examples as rule_examples
from tools.policies.catalog import Findings

from .tools import REPOSITORY, tool

SHAPES = REPOSITORY / "tests" / "policies" / "shapes"
RULES = rule_examples.rules()

# Each shape with the rule that is there for its defect, and all rules that speak of it.
DEFECTS = {
    "removed_flags": ("flags/unknown_setting", {"memory/quota_unset", "memory/snapshot_count"}),
    "vanished_variable": ("flags/unknown_setting", set()),
    "no_such_setting": ("flags/unknown_setting", set()),
    "quota_with_unit": ("flags/wrong_type", set()),
    "large_values_long_log": (
        "memory/raft_log_share",
        {"memory/limit_below_estimate", "memory/snapshot_count", "memory/gomemlimit_unset"},
    ),
    "compaction_off": ("compaction/off", set()),
    "timings": ("topology/election_ratio", {"memory/quota_unset"}),
    "realtime": ("disk/realtime_priority", set()),
    "limit_below_quota": (
        "memory/quota_over_memory",
        {"memory/restart_spike", "memory/snapshot_count", "memory/gomemlimit_unset"},
    ),
}


@pytest.fixture(scope="module")
def examples() -> Findings:
    return catalog.lint_examples()


@pytest.fixture(scope="module")
def shapes() -> Findings:
    return catalog.lint(SHAPES)


@pytest.fixture(scope="module")
def annotated() -> dict[str, dict[str, Any]]:
    return catalog.metadata(tool("opa"))


@pytest.mark.parametrize("rule", RULES)
def test_bad_example(rule: str, examples: Findings, annotated: dict[str, dict[str, Any]]) -> None:
    custom = annotated[rule]["custom"]
    found = examples.get(f"{rule}/bad", [])
    assert {finding["code"] for finding in found} == {rule, *custom.get("with", [])}, found
    level = {"deny": "FAIL", "warn": "WARN"}[custom["severity"]]
    assert {finding["level"] for finding in found if finding["code"] == rule} == {level}


@pytest.mark.parametrize("rule", RULES)
def test_good_example(rule: str, examples: Findings) -> None:
    assert not [finding for finding in examples.get(f"{rule}/good", []) if not finding["waived"]]


def test_every_shape_is_listed() -> None:
    assert {path.name for path in SHAPES.iterdir()} == set(DEFECTS)


@pytest.mark.parametrize("shape", DEFECTS)
def test_defect_is_caught(shape: str, shapes: Findings) -> None:
    rule, others = DEFECTS[shape]
    assert {finding["code"] for finding in shapes[shape]} == {rule} | others


def alone(folder: Path) -> set[str]:
    """What `conftest test FOLDER` says, as a user calls it."""
    command = [tool("conftest"), "test", "--output", "json", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, cwd=REPOSITORY)
    results = json.loads(done.stdout)
    return {
        finding["msg"] for result in results for kind in ("failures", "warnings") for finding in result.get(kind) or []
    }


# One run for all of them says the same as one for each.
@pytest.mark.parametrize("shape", DEFECTS)
def test_defect_alone(shape: str, shapes: Findings) -> None:
    assert alone((SHAPES / shape).relative_to(REPOSITORY)) == {finding["msg"] for finding in shapes[shape]}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples as inventories on disk."""
    folder = tmp_path_factory.mktemp("examples")
    rule_examples.write(folder)
    return folder


@pytest.mark.parametrize("rule", ["memory/large_values", "topology/uneven_timings", "waiver/expired"])
def test_example_alone(rule: str, examples: Findings, written: Path) -> None:
    folder = written / rule
    found = {line.replace(f"{folder}/bad/", "inventory/") for line in alone(folder / "bad")}
    assert found == {finding["msg"] for finding in examples[f"{rule}/bad"]}
    assert not alone(folder / "good") or rule.startswith("waiver/")


def test_unknown_key_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown keys: var; known are base, files"):
        rule_examples.resolve({"base": "bare", "bad": {"var": {}}, "good": {}}, "bad", {"bare": {}})
