# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Roles and playbooks select and pair values; what needs a loop or a change of a value is a filter, which types and unit tests can hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import topology

ROOT = Path(topology.__file__).parents[3]
FILES = sorted(
    path.relative_to(ROOT)
    for pattern in ("playbooks/*.yml", "roles/*/[!t]*/**/*.yml", "roles/*/tasks/**/*.yml")
    for path in ROOT.glob(pattern)
)
PROGRAM = re.compile(r"\{%-?\s*(?:for|if|macro|set\s+_)\b|\bnamespace\(")


def test_the_files_of_roles_and_playbooks_are_found() -> None:
    found = {path.parts[2] for path in FILES if path.parts[0] == "roles"}
    assert {"defaults", "meta", "tasks", "vars"} <= found


@pytest.mark.parametrize("path", FILES, ids=str)
def test_expressions_have_no_loops(path: Path) -> None:
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    assert [number for number, line in enumerate(lines, 1) if PROGRAM.search(line)] == []
