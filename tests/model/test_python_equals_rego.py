# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Python and Rego estimate the same memory, to the byte, over a thousand random inputs in one evaluation.

The formulas are rendered from Python; parsing the input is written by hand in both languages. Compared are the figures that rules ask
for, and the reason for the size of the raft log.

Needs opa: HEADROOM_OPA names it, or it is on the PATH; without it the test fails. Not below tests/unit, because ansible-test has no opa.
"""

from __future__ import annotations

import json
import random
import subprocess
from pathlib import Path
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._model.estimate import estimate
from ansible_collections.etcdops.headroom.plugins.module_utils._model.inputs import WORKLOAD
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import retention_amount

from tests.policies.tools import tool

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = ["3.5.0", "3.5.7", "3.5.8", "3.5.35", "3.6.0", "3.6.16", "3.7.0", "3.7.3", "3.7.99"]
BAD_VERSIONS = ["3.4.30", "3.8.0", "4.0.0", "3.6", "v3.6.16", "", "3.6.16-rc.0", "03.6.1"]
SIZES = ["0", "1", "100KB", "1.5MB", "512KiB", "1m", "4 k", "300b", "0.001GB", "7.7KB"]
FIGURES = [
    "series",
    "workload",
    "settings",
    "heap_live",
    "restart_heap_live",
    "rss_anon_peak",
    "restart_rss_anon_peak",
    "follower_snapshot_rss_anon_peak",
    "db_hot",
    "memory_max_least",
]
BAD_SIZES = [0.5, "", "KB", "-1", "1e3", "ten", "1,5MB", "01", "5 KBs", True, -5, [], {}]
RETENTIONS = [
    "0",
    "1",
    "5m",
    "2562047",
    "2562048",
    "2562047h48m",
    "1h",
    "90m",
    "1h30m",
    "8h",
    "0.5h",
    "500ms",
    "30s",
    "1m0.5s",
    "10000",
    5,
    5.0,
    "99999h",
    "3us7ns",
]
BAD_RETENTIONS = [5.5, "5", "5 m", "m", "", "-1h", "1d", True]


def any_workload(rng: random.Random) -> dict[str, Any]:
    """Draw a workload: sizes as numbers and as texts, of every magnitude up to the largest allowed."""
    workload: dict[str, Any] = {}
    for name, field in WORKLOAD.items():
        draw = rng.random()
        if draw < 0.25:
            continue
        if draw < 0.3:
            workload[name] = None
        elif field["kind"] == "flag":
            workload[name] = draw < 0.6
        elif field["kind"] == "size" and draw < 0.5:
            workload[name] = rng.choice(SIZES)
        else:
            top = min(field["max"], 10 ** rng.randint(0, 12))
            number = rng.randint(min(field["min"], top), top)
            # Jinja and JSON write whole numbers as 50.0, too.
            workload[name] = str(number) if draw > 0.95 else float(number) if draw > 0.9 else number
    return workload


def any_settings(rng: random.Random) -> dict[str, Any]:
    """Draw settings; some contradict each other."""
    choices: dict[str, Any] = {
        "snapshot_count": lambda: rng.choice([0, 1, 500, 10000.0, 100000, rng.randint(0, 10**8)]),
        "snapshot_catchup_entries": lambda: rng.choice([0, 1, 500, 5000, rng.randint(0, 10**8)]),
        "quota_backend_bytes": lambda: rng.choice(
            [0, 0.0, -1, -1.0, "8GB", "2GiB", 4294967296.0, rng.randint(1, 2**50)]
        ),
        "max_request_bytes": lambda: rng.choice([1572864, "10MB", "512MB", 536870912]),
        "gogc": lambda: rng.choice([1, 50, 100, "75", 400]),
        "gomemlimit": lambda: rng.choice([None, "1800MiB", "16MB", "100GB", rng.randint(2**24, 2**40)]),
        "memory_high": lambda: rng.choice([None, "1GB", "900GB"]),
        "memory_max": lambda: rng.choice([None, "2GB", "1000GB"]),
        "memory_mlock": lambda: rng.choice([True, False]),
        "auto_compaction_mode": lambda: rng.choice(["periodic", "periodic", "revision"]),
        "auto_compaction_retention": lambda: rng.choice(RETENTIONS),
    }
    return {name: draw() for name, draw in choices.items() if rng.random() < 0.45}


def spoil(rng: random.Random, case: dict[str, Any]) -> None:
    """Put one mistake into a case."""
    name = rng.choice(["version", "size", "key", "retention", "members", "mode", "map", "count", "flag"])
    if name == "version":
        case["version"] = rng.choice(BAD_VERSIONS)
    elif name == "size":
        case["workload"][rng.choice(["value_size", "key_size", "range_size"])] = rng.choice(BAD_SIZES)
    elif name == "key":
        case[rng.choice(["workload", "settings"])]["value_sise"] = 1
    elif name == "retention":
        case["settings"].update(auto_compaction_mode="revision", auto_compaction_retention=rng.choice(BAD_RETENTIONS))
    elif name == "members":
        case["members"] = rng.choice([0, -1, 100, "3", None])
    elif name == "mode":
        case["settings"]["auto_compaction_mode"] = "hourly"
    elif name == "map":
        case[rng.choice(["workload", "settings"])] = rng.choice([[], "value_size=1"])
    elif name == "count":
        case["workload"]["keys"] = rng.choice([0, -1, 10**12, "many", "1.5", 1.5])
    else:
        case["settings"]["memory_mlock"] = "yes"


def python_answer(case: dict[str, Any]) -> Any:
    """Return the estimate, its database, and the reason for the size of the raft log, in Rego's shape; None for refused input."""
    try:
        figures = estimate(case["version"], case["workload"], case["settings"], case["members"])
    except ValueError:
        return None
    settings = figures["settings"]
    retention = retention_amount(settings["auto_compaction_mode"], settings["auto_compaction_retention"])
    rows = {row["name"]: row for row in figures["components"] if row["kind"] not in ("defrag", "file")}
    components = {name.replace(" ", "_").replace("-", "_"): row["high"] for name, row in rows.items()}
    answer = {
        **{name: figures[name] for name in FIGURES},
        "settings": {**settings, "retention": retention},
        "outside_go": figures["outside_go"],
        "components": components,
    }
    database = {"size": figures["db_size"], "in_use": figures["db_in_use"], "index": components["index"]}
    return [answer, database, rows["raft log"]["why"]]


def rego_answers(cases: list[dict[str, Any]]) -> list[Any]:
    """Return Rego's answers for all cases from one evaluation; None for refused input, which Rego must then explain."""
    query = """[answer |
        some case in input
        refused := data.headroom.memory.parse.problems(case.version, case.workload, case.settings, case.members)
        answers := [[found, database, data.headroom.memory.raft_log_reason(found)] |
            found := data.headroom.memory.estimate(case.version, case.workload, case.settings, case.members)
            database := data.headroom.memory.database(case.version, case.workload, case.settings)
        ]
        answer := {"answers": answers, "problems": refused}
    ]"""
    run = subprocess.run(
        [
            tool("opa"),
            "eval",
            "--data",
            "policies/lib",
            "--data",
            "policies/data",
            "--stdin-input",
            "--format",
            "json",
            query,
        ],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=120,
        check=True,
    )
    rows = json.loads(run.stdout)["result"][0]["expressions"][0]["value"]
    for case, row in zip(cases, rows):
        assert bool(row["answers"]) != bool(row["problems"]), (case, row)
    return [row["answers"][0] if row["answers"] else None for row in rows]


def is_equal(wanted: Any, found: Any) -> bool:
    """Return whether two answers are equal. OPA calculates with 64 bits, so a figure beyond them may differ in its last digits."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return wanted.keys() == found.keys() and all(is_equal(wanted[name], found[name]) for name in wanted)
    if isinstance(wanted, (list, tuple)) and isinstance(found, (list, tuple)):
        return len(wanted) == len(found) and all(map(is_equal, wanted, found))
    if isinstance(wanted, int) and wanted >= 1 << 63:
        return isinstance(found, int) and abs(wanted - found) <= wanted >> 60
    return type(wanted) is type(found) and bool(wanted == found)


def test_answers_are_compared_to_the_last_digit() -> None:
    assert is_equal({"a": [1, ("b", None)]}, {"a": [1, ["b", None]]})
    assert not is_equal({"a": (1 << 63) - 1}, {"a": (1 << 63) - 2})
    assert not is_equal({"a": 1 << 63}, {"a": (1 << 63) + (1 << 10)})
    assert not is_equal([1, True], [1, 1])
    assert not is_equal([1], None)
    assert is_equal({"a": 179406717496570479441}, {"a": 179406717496570479421})


def test_python_equals_rego() -> None:
    """Compare valid and invalid input."""
    rng = random.Random(20260101)
    cases = []
    for number in range(1000):
        case = {
            "version": rng.choice(VERSIONS),
            "workload": any_workload(rng),
            "settings": any_settings(rng),
            "members": rng.randint(1, 9),
        }
        if number % 5 == 4:
            spoil(rng, case)
        cases.append(case)
    answers = rego_answers(cases)
    assert len(answers) == len(cases)
    differences = [
        (case, wanted, found)
        for case, wanted, found in zip(cases, map(python_answer, cases), answers)
        if not is_equal(wanted, found)
    ]
    assert differences[:3] == []
    valid = sum(answer is not None for answer in answers)
    assert 400 < valid < 950, f"{valid} of 1000 cases are valid: the generator no longer covers both"
