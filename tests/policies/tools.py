# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where conftest and opa are, and how the tests of the policies call them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
POLICIES = REPOSITORY / "policies"
# The tests in Rego lie beside policies/, not in it: conftest compiles whatever ends in .rego below the folder that it is given.
TESTS = Path(__file__).resolve().parent / "rego"
# What opa is given: data files one by one, because opa would put those of a folder below the folder's name.
SOURCES = ["policies/lib", "policies/rules", "policies/headroom.rego", "policies/waived.rego", "policies/data"]


def tool(name: str) -> str:
    """Path of a tool: from HEADROOM_<NAME>, else from PATH.

    Raises FileNotFoundError, naming the variable, if there is none: a gate must not pass because a tool is missing.
    """
    variable = f"HEADROOM_{name.upper()}"
    found = os.environ.get(variable) or shutil.which(name)
    if not found:
        raise FileNotFoundError(f"{name} is not on PATH; set {variable} to its path (`make setup` builds it)")
    return found


def resolve(path: Path) -> dict[str, Any]:
    """What the resolver makes of the inventories below a folder or in a file, through conftest itself."""
    command = [tool("conftest"), "test", str(path), "--combine", "--output", "json", "--namespace", "headroom_probe"]
    for policy in (POLICIES / "lib", Path(__file__).parent / "probe.rego"):
        command += ["--policy", str(policy)]
    command += ["--ignore", r"\.ini$"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, cwd=path.parent)
    if done.returncode != 1 or not done.stdout:
        raise AssertionError(f"conftest ended with {done.returncode}: {done.stderr or done.stdout}")
    message: str = json.loads(done.stdout)[0]["failures"][0]["msg"]
    resolved: dict[str, Any] = json.loads(message)
    return resolved
