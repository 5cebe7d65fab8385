# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of bench-audit show every difference, and the page matches the results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.audit import report, run, supervisors
from bench.audit.run import PARTS, RESULTS
from bench.audit.workloads import Workload, Written

WORK = Workload("small", 32, 1000, 500, 100, watchers=3)
EXACT: dict[str, Any] = {
    "version": "3.7.3",
    "workload": "small",
    "rate": 100.0,
    "measured_rate": 100,
    "value_size": 1000,
    "measured_value_size": 1000,
    "keys": 500,
    "measured_keys": 500,
    "watchers": 3,
    "measured_watchers": 3,
    "added": 0,
    "invented": [],
    "peak": 100_000_000,
    "estimated": 110_000_000,
}
PRINTED = """
  measured and planned memory
  member  RssAnon  peak RSS      limit  planned RssAnon  after a restart  MemoryMax
  m0      6.9 MiB  27.5 MiB  256.0 MiB         46.1 MiB         51.9 MiB  256.0 MiB

  planned settings for m0
  the environment file of etcd.service:
    ETCD_SNAPSHOT_COUNT=10000
  /etc/systemd/system/etcd.service.d/memory.conf:
    [Service]
"""


def test_keys_have_the_size_of_the_workload_and_differ() -> None:
    keys = {WORK.key(number) for number in range(WORK.keys)}
    assert len(keys) == WORK.keys and {len(key) for key in keys} == {WORK.key_size}


def test_the_rate_is_that_of_the_puts() -> None:
    assert Written([1.0, 1.5, 2.0]).rate == 2.0 and Written([1.0]).rate == 0.0


def test_the_largest_error_counts_and_an_unknown_figure_is_all_of_it() -> None:
    near = {**EXACT, "measured_value_size": 980}
    assert report.error([near], "value_size") == 2.0 and report.error([near], "rate") == 0.0
    unknown = {**EXACT, "measured_value_size": None}
    assert report.error([near, unknown], "value_size") == 100.0


def test_what_was_added_or_found_without_a_cause_is_named() -> None:
    text = "\n".join(report.workloads([{**EXACT, "added": 2, "invented": ["live/lag"]}]))
    assert "| 3.7.3 | small    |  100.0 |" in text
    assert "The audits added 2 revisions. The rules reported live/lag on these members." in text


def test_an_estimate_that_is_too_low_is_counted() -> None:
    low = {**EXACT, "peak": 200_000_000, "estimated": 150_000_000}
    text = "\n".join(report.workloads([EXACT, low]))
    assert "1 of 2 estimates are within 20 % or 32 MB of the peak; 1 are more than 5 % and 10 MB too low." in text


def test_a_defect_that_was_missed_is_named() -> None:
    row = {"version": "3.7.3", "kind": "flags", "planted": ["a/b", "c/d"], "missed": ["c/d"]}
    text = report.defects([row, {**row, "version": "3.6.16", "missed": []}])[-1]
    assert text == "Of 4 planted defects (2 kinds on 2 releases) 3 were found (not: c/d on 3.7.3)."


def test_what_the_audit_printed_is_read() -> None:
    assert supervisors.limit(PRINTED) == "256.0 MiB" and supervisors.limit("") == "unknown"
    places = "the environment file of etcd.service; /etc/systemd/system/etcd.service.d/memory.conf"
    assert supervisors.place(PRINTED) == places


def test_the_page_has_what_was_measured() -> None:
    results = json.loads(RESULTS.read_text())
    assert set(results) <= set(PARTS) == set(report.SECTIONS)
    text = report.document(results)
    assert "{{" not in text and report.PAGE.read_text() == text
    assert f"{report.BEGIN}{report.claims(results)}\n{report.END}" in report.TASKS_PAGE.read_text()


def test_without_names_all_parts_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in PARTS:
        monkeypatch.setitem(PARTS, part, lambda versions: iter([Written([1.0])]))
    run.main(["--results", str(tmp_path / "all.json")])
    assert set(json.loads((tmp_path / "all.json").read_text())) == set(PARTS)
    run.main(["cost", "--results", str(tmp_path / "one.json")])
    assert json.loads((tmp_path / "one.json").read_text())["cost"]["rows"] == [{"times": [1.0], "took": []}]


def test_an_unknown_part_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run.main(["costs"])
    assert "no part is called costs; the parts are workloads, " in capsys.readouterr().err
