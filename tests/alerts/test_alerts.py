# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The alert rules, held by Prometheus' own tool, and against the metrics that the program on the hosts writes."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import records

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
RULES = PROJECT / "docs" / "examples" / "prometheus-alerts.yml"


def promtool(*words: str | Path, given: str = "") -> None:
    """Run promtool; what it says is the failure."""
    if not shutil.which("promtool"):
        pytest.skip("there is no promtool: set-up takes it from Debian's package, where that can be had")
    done = subprocess.run(["promtool", *words], input=given, capture_output=True, text=True, check=False, cwd=HERE)
    assert done.returncode == 0, done.stdout + done.stderr


def test_rules_are_rules() -> None:
    promtool("check", "rules", RULES)


def test_rules_fire_when_they_should() -> None:
    promtool("test", "rules", HERE / "cases.yml")


def test_each_rule_has_a_case() -> None:
    rules = set(re.findall(r"- alert: (\w+)", RULES.read_text()))
    assert rules and rules == set(re.findall(r"alertname: (\w+)", (HERE / "cases.yml").read_text()))


def written() -> str:
    """What the program on a host writes once all of its operations have been done."""
    record = {"result": "done", "reason": "", "started_at": "2026-11-20T02:00:00Z", "seconds": 4.5}
    last = {**record, "before": {"size": 3000}, "after": {"size": 1000}}
    more = {"last_done": last, "last_settled_at": "2026-11-20T02:00:05Z", "newest_at": "2026-11-20T02:00:00Z"}
    return records.format_metrics("prod", "m1", {name: {**record, **more} for name in records.OPERATIONS})


def test_rules_ask_for_what_is_written() -> None:
    """A metric whose name was changed in the program alone would never raise an alarm."""
    asked = set(re.findall(r"headroom_\w+", RULES.read_text()))
    assert asked and asked <= set(re.findall(r"^headroom_\w+", written(), re.M))


def test_what_is_written_are_metrics() -> None:
    promtool("check", "metrics", given=written())
