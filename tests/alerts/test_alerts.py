# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The alert rules: valid, tested, and asking for metrics that the program on the hosts writes."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import records

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
RULES = PROJECT / "docs" / "examples" / "prometheus-alerts.yml"
PAGE = PROJECT / "docs" / "monitoring.md"
CASES = ("cases.yml", "cases_of_weeks.yml")


def promtool(*words: str | Path, given: str = "") -> None:
    """Run promtool; its output is the failure's text."""
    if not shutil.which("promtool"):
        pytest.skip("promtool is not installed: the set-up takes it from Debian's package, where available")
    done = subprocess.run(["promtool", *words], input=given, capture_output=True, text=True, check=False, cwd=HERE)
    assert done.returncode == 0, done.stdout + done.stderr


def test_rules_are_valid() -> None:
    promtool("check", "rules", RULES)


def test_the_documented_scrape_configuration_is_valid(tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    file = tmp_path / "prometheus.yml"
    file.write_text(example)
    promtool("check", "config", "--syntax-only", file)
    jobs = {job["job_name"] for job in yaml.safe_load(example)["scrape_configs"]}
    assert set(re.findall(r'job="(\w+)"', RULES.read_text())) == jobs


@pytest.mark.parametrize("cases", CASES)
def test_rules_fire_when_they_should(cases: str) -> None:
    promtool("test", "rules", HERE / cases)


def test_every_rule_has_a_test_case() -> None:
    rules = set(re.findall(r"- alert: (\w+)", RULES.read_text()))
    tested = {name for cases in CASES for name in re.findall(r"alertname: (\w+)", (HERE / cases).read_text())}
    assert rules and rules == tested


def written() -> str:
    """Return the metrics that the program writes once each operation has succeeded."""
    record = {"result": "done", "reason": "", "started_at": "2026-11-20T02:00:00Z", "seconds": 4.5}
    last = {**record, "before": {"size": 3000}, "after": {"size": 1000}}
    found = {"verdict": "agree", "differing": [], "hashes": {"m1": "a", "m2": "a"}, "corrupt": []}
    more = {
        "comparison": found,
        "last_done": last,
        "last_settled_at": "2026-11-20T02:00:05Z",
        "newest_at": "2026-11-20T02:00:00Z",
    }
    saved = {name: {**record, **more} for name in records.OPERATIONS}
    return records.format_metrics("zürich", "m1", saved, {"peer": 1}, records.OPERATIONS, {"defrag": 86400})


def test_rules_use_metrics_that_the_program_writes() -> None:
    """An alert on a metric that was renamed in the program only would never fire."""
    asked = set(re.findall(r"headroom_\w+", RULES.read_text()))
    assert asked and asked <= set(re.findall(r"^headroom_\w+", written(), re.M))


def test_the_program_writes_valid_metrics() -> None:
    promtool("check", "metrics", given=written())
