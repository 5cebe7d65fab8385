# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rendered files are what model/*.yml says, and every constant says where it comes from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import yaml

MODEL = Path(__file__).resolve().parents[2] / "model"


def test_rendered_files_are_current() -> None:
    run = subprocess.run([sys.executable, MODEL / "render.py", "--check"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_every_constant_is_documented() -> None:
    constants = yaml.safe_load((MODEL / "memory.yml").read_text(encoding="utf-8"))["constants"]
    for name, constant in constants.items():
        assert set(constant) == {"value", "unit", "basis", "source"}, name
        assert constant["basis"] in {"source", "published", "measured", "estimate"}, name


def test_every_constant_is_used() -> None:
    """In both implementations, but for what only the plan asks for, and what a defragmentation takes, of which no rule speaks."""
    root = MODEL.parent
    python = (root / "plugins/module_utils/_model/estimate.py").read_text(encoding="utf-8")
    rego = "".join(path.read_text(encoding="utf-8") for path in (root / "policies/lib/memory").glob("*.rego"))
    constants = yaml.safe_load((MODEL / "memory.yml").read_text(encoding="utf-8"))["constants"]
    # quota_max is the plan's.
    assert [name for name in constants if f'"{name}"' not in python and name != "quota_max"] == []
    unused = {name for name in constants if f"constants.{name}" not in rego}
    assert unused == {"quota_max", "defrag_chunk", "defrag_copies"}
