# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what conftest prints and summarize it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class ReportError(ValueError):
    """Output of conftest that is not a report."""


class Finding(NamedTuple):
    """One denial or warning of a report."""

    denied: bool
    rule: str
    hosts: tuple[str, ...]
    line: str
    # Variable → the value that solves the finding, where a value does.
    values: Mapping[str, Any] = MappingProxyType({})


def parse_report(report: str) -> list[Finding]:
    """Parse conftest's JSON report; return its findings, warnings first. Raises ReportError for any other text."""
    try:
        results = json.loads(report)
        return [
            _finding(entry, level == "failures")
            for level in ("warnings", "failures")
            for result in results
            for entry in result.get(level) or []
        ]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ReportError(f"conftest printed no report: {report[:200]!r}") from error


def _finding(entry: dict[str, Any], denied: bool) -> Finding:
    metadata = entry.get("metadata") or {}
    hosts = tuple(map(str, metadata.get("hosts") or ()))
    fix = metadata.get("fix")
    values = fix.get("set", {}) if isinstance(fix, dict) else {}
    return Finding(denied, str(metadata.get("code", "")), hosts, str(entry["msg"]), values)


def summary_table(findings: list[Finding]) -> list[str]:
    """Return one line for each rule with its number of findings and of hosts, denials first; empty without findings."""
    rows = []
    for denied in (True, False):
        for rule in sorted({finding.rule for finding in findings if finding.denied == denied}):
            of_rule = [finding for finding in findings if (finding.denied, finding.rule) == (denied, rule)]
            hosts = {host for finding in of_rule for host in finding.hosts}
            rows.append((rule, "deny" if denied else "warn", str(len(of_rule)), str(len(hosts)) if hosts else "-"))
    if not rows:
        return []
    rows.insert(0, ("rule", "severity", "findings", "hosts"))
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    return [
        f"{rule:<{widths[0]}}  {severity:<{widths[1]}}  {number:>8}  {hosts:>5}"
        for rule, severity, number, hosts in rows
    ]


def version_problem(output: str) -> str:
    """Return why a conftest cannot read the policies, given what it printed for --version; empty if it can.

    The policies are written in the Rego of OPA 1.0.
    """
    found = re.search(r"^OPA: v?(\d+)\.(\S+)$", output, re.MULTILINE)
    if found is None or int(found.group(1)) >= 1:
        return ""
    return f"it has OPA {found.group(1)}.{found.group(2)}, and the policies need OPA 1.0 or newer: install a newer conftest"
