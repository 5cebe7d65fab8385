# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rendered files are current, and every constant is documented and used."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from ansible_collections.etcdops.headroom.plugins.module_utils._model.inputs import ESTIMATE_SETTINGS, WORKLOAD
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import Settings, Workload

from tools.rego_from_formulas import Unsupported, rego
from tools.render_model import load
from tools.spellings import removed_in_next, spellings

ROOT = Path(__file__).resolve().parents[2]
CONSTANTS = yaml.safe_load((ROOT / "model" / "memory.yml").read_text(encoding="utf-8"))["constants"]


def test_rendered_files_are_current() -> None:
    command = [sys.executable, "-m", "tools.render_model", "--check"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert run.returncode == 0, run.stderr


def test_every_constant_is_documented() -> None:
    for name, constant in CONSTANTS.items():
        assert set(constant) == {"value", "unit", "basis", "source"}, name
        assert constant["basis"] in {"source", "published", "measured", "estimate"}, name


def test_every_constant_is_used() -> None:
    """In the formulas, or, for what only decisions and texts need, elsewhere in the model and the plan."""
    folders = [ROOT / "plugins" / "module_utils" / name for name in ("_model", "_plan")]
    texts = [path.read_text(encoding="utf-8") for folder in folders for path in folder.rglob("*.py")]
    used = set(re.findall(r"constants\.(\w+)", "\n".join(texts)))
    assert set(CONSTANTS) - used == set()


def test_typed_input_has_the_fields_of_the_model() -> None:
    assert list(Workload.__annotations__) == list(WORKLOAD)
    assert list(Settings.__annotations__) == [*ESTIMATE_SETTINGS, "retention"]


def test_a_flag_that_the_next_series_refuses_is_deprecated() -> None:
    model = load()
    flags = {series: set(table["flag"]) for series, table in spellings(model).items()}
    for series, following in pairwise(model["series"]):
        assert flags[series] - flags[following] <= set(model["series"][series]["deprecated"]), series
    assert "enable-v2" in model["series"]["3.5"]["deprecated"]


def test_a_removed_flag_needs_a_reason() -> None:
    model = load()
    del model["series"]["3.6"]["removed"]["enable-v2"]
    with pytest.raises(ValueError, match=r"etcd 3\.6 does not know enable-v2 of 3\.5: add them to `removed` of 3\.6"):
        removed_in_next(model)


BODY = {
    "a loop": "    for key in range(3):\n        pass\n    return 1",
    "a fraction": "    return size / 2",
    "a conditional within an expression": "    return 1 + (2 if size > 3 else 4)",
    "an unknown function": "    return abs(size)",
    "an unknown name": "    return size + other",
    "a second assignment": "    half = size // 2\n    half = half + 1\n    return half",
    "no result": "    half = size // 2",
    "a fraction as a constant": "    return 1.5",
    "or": "    return 1 if size > 3 or size < 1 else 2",
}


@pytest.mark.parametrize("body", BODY.values(), ids=list(BODY))
def test_what_cannot_be_rendered_is_refused_by_file_and_line(body: str) -> None:
    source = f"LIMIT = 2 * 3\n\n\ndef formula(size: int) -> int:\n{body}\n"
    with pytest.raises(Unsupported, match=r"^formulas/storage\.py:\d+: "):
        rego({"formulas/storage.py": source}, "formulas", {"formula"})


def test_a_formula_that_policies_call_must_exist() -> None:
    with pytest.raises(Unsupported, match=r"the policies call formulas\.absent"):
        rego({"formulas/storage.py": "LIMIT = 1\n"}, "formulas", {"absent"})


def test_a_name_is_defined_in_one_file() -> None:
    second = "def formula(size: int) -> int:\n    return size\n\n\nLIMIT = 2\n"
    with pytest.raises(Unsupported, match=r"^formulas/clients\.py:5: LIMIT is defined twice"):
        rego({"formulas/storage.py": "LIMIT = 1\n", "formulas/clients.py": second}, "formulas", {"formula"})


def test_a_formula_calls_those_of_other_files() -> None:
    lower = "LIMIT = 2 * 3\n\n\ndef limited(size: int) -> int:\n    return min(size, LIMIT)\n"
    upper = "from storage import limited\n\n\ndef formula(size: int) -> int:\n    return limited(size) + 1\n"
    text = rego({"formulas/storage.py": lower, "formulas/clients.py": upper}, "formulas", {"formula"})
    assert "\nlimit := 6\n" in text
    assert text.index("\nlimited(size) := min([size, limit])\n") < text.index("\nformula(size) := limited(size) + 1\n")
