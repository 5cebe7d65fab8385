# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""conftest's report: parsing, summary and version."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._conftest.report import (
    Finding,
    ReportError,
    parse_report,
    summary_table,
    version_problem,
)


def test_parse_report_returns_warnings_first() -> None:
    report = (
        '[{"failures": [{"msg": "a", "metadata": {"code": "x/a", "hosts": ["n1", "n2"]}}, {"msg": "b"}]},'
        ' {"warnings": [{"msg": "c"}], "failures": null}, {"successes": 1}]'
    )
    assert parse_report(report) == [
        Finding(False, "", (), "c"),
        Finding(True, "x/a", ("n1", "n2"), "a"),
        Finding(True, "", (), "b"),
    ]


def test_parse_report_returns_the_values_of_a_fix() -> None:
    report = (
        '[{"failures": [{"msg": "a", "metadata": {"fix": {"text": "Do it", "set": {"x": 1}}}},'
        ' {"msg": "b", "metadata": {"fix": {"text": "Do it"}}}]}]'
    )
    assert [finding.values for finding in parse_report(report)] == [{"x": 1}, {}]


@pytest.mark.parametrize("report", ["", "Error: no", "5", '[{"failures": [5]}]', '["a"]'])
def test_other_output_is_no_report(report: str) -> None:
    with pytest.raises(ReportError, match="conftest printed no report"):
        parse_report(report)


def test_summary_table_counts_findings_and_hosts() -> None:
    found = [
        Finding(False, "x/warned", ("n1",), "a"),
        Finding(True, "x/denied", ("n1", "n2"), "b"),
        Finding(True, "x/denied", ("n2", "n3"), "c"),
        Finding(True, "x/files", (), "d"),
    ]
    assert summary_table(found) == [
        "rule      severity  findings  hosts",
        "x/denied  deny             2      3",
        "x/files   deny             1      -",
        "x/warned  warn             1      1",
    ]
    assert summary_table([]) == []


@pytest.mark.parametrize(
    ("version", "old"),
    [
        ("Conftest: 0.50.0\nOPA: 0.62.1\n", True),
        ("Conftest: 0.71.1\nOPA: 1.21.1\n", False),
        ("Conftest: dev\nOPA: v1.0.0\n", False),
        ("", False),
    ],
)
def test_conftest_older_than_opa_1_is_refused(version: str, old: bool) -> None:
    assert bool(version_problem(version)) == old
