# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Format an audit as JSON, SARIF or HTML. Pure."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._conftest.report import Finding
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.audit_page import backup_lines, page_lines
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.audit_plans import MembersPlan, no_plan_lines
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.running import state_lines
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.unchecked import unchecked

ENDINGS = ("json", "sarif", "html")
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_STYLE = (
    "body { font: 15px/1.45 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem } svg { width: 100%; height: auto } \
pre { background: #f5f5f5; padding: .8rem 1rem; overflow-x: auto } .deny { color: #b00020 } .warn { color: #8a5a00 }"
)


@dataclass(frozen=True)
class Audit:
    """The content of an audit. plans: as ``plan_members`` returns them. hosts, backup_dirs, comparison: as ``unchecked`` takes them."""

    measured: Mapping[str, Any]
    findings: Sequence[Finding]
    processes: Sequence[Mapping[str, Any]]
    plans: Sequence[MembersPlan]
    backups: Sequence[Mapping[str, Any]] = ()
    hosts: Mapping[str, str] = field(default_factory=dict)
    backup_dirs: Sequence[str] = ()
    comparison: Mapping[str, Any] = field(default_factory=dict)

    def denials_first(self) -> list[Finding]:
        """Return the findings, those that deny first."""
        return sorted(self.findings, key=lambda finding: (not finding.denied, finding.rule, finding.line))

    def unchecked(self) -> list[str]:
        """Return what was not checked and why, one line each."""
        return unchecked(self.measured, self.processes, self.backups, self.hosts, self.backup_dirs, self.comparison)

    def end_lines(self) -> list[str]:
        """Return the lines below the findings."""
        reasons = [f"  {line}" for line in no_plan_lines(self.plans)]
        return [
            *reasons,
            *([""] if reasons else []),
            *page_lines(self.measured, self.processes, self.plans),
            *backup_lines(self.backups),
            *(f"  not checked: {line}" for line in self.unchecked()),
        ]


def as_json(audit: Audit) -> str:
    """Return the audit as JSON."""
    measured = audit.measured
    document = {
        "endpoint": measured["members"][0]["endpoint"],
        "leader": measured["leader"],
        "members": measured["members"],
        "alarms": measured["alarms"],
        "etcd_workload": measured["etcd_workload"],
        "unknown": measured.get("unknown", []),
        "backups": list(audit.backups),
        "findings": [_entry(finding) for finding in audit.denials_first()],
        "unchecked": audit.unchecked(),
        "plans": [_plan_entry(one) for one in audit.plans],
    }
    return json.dumps(document, indent=2) + "\n"


def _plan_entry(one: MembersPlan) -> dict[str, Any]:
    """Return the plan for members of one series; its fields are null without a plan, and ``problem`` says why there is none."""
    plan = one.plan or {}
    shown = ("version", "settings", "environment", "memory_high", "memory_max", "notes")
    return {"members": list(one.members), **{name: plan.get(name) for name in shown}, "problem": one.problem}


def _entry(finding: Finding) -> dict[str, Any]:
    severity = "deny" if finding.denied else "warn"
    return {"rule": finding.rule, "severity": severity, "members": list(finding.hosts), "message": finding.line}


def as_sarif(audit: Audit) -> str:
    """Return the findings as SARIF 2.1.0. They have no file, so their location is the member.

    Notifications of the run list what was not checked, and give the reason for a missing plan.
    """
    findings = audit.denials_first()
    rules = [{"id": rule} for rule in sorted({finding.rule for finding in findings})]
    results = [
        {
            "ruleId": finding.rule,
            "level": "error" if finding.denied else "warning",
            "message": {"text": finding.line},
            "locations": [{"logicalLocations": [{"name": host, "kind": "member"}]} for host in finding.hosts],
        }
        for finding in findings
    ]
    notes = [*no_plan_lines(audit.plans), *(f"not checked: {line}" for line in audit.unchecked())]
    run = {
        "tool": {"driver": {"name": "headroom-audit", "rules": rules}},
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [{"level": "warning", "message": {"text": note}} for note in notes],
            }
        ],
        "results": results,
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def as_html(audit: Audit, picture: bytes | None) -> str:
    """Return the audit as one page of HTML. picture: the plan's as SVG, None where it cannot be drawn."""
    items = [
        f'<li class="{"deny" if one.denied else "warn"}">{"DENY" if one.denied else "WARN"} {html.escape(one.line)}</li>'
        for one in audit.denials_first()
    ]
    drawn = ""
    if picture is not None:
        svg = picture.decode("utf-8")
        drawn = f"<figure>\n{svg[svg.index('<svg') :].rstrip()}\n</figure>"
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>etcd audit</title>',
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<h1>etcd audit</h1>",
        _text(state_lines(audit.measured)),
        "<h2>Findings</h2>",
        "<ul>\n" + "\n".join(items) + "\n</ul>" if items else "<p>None.</p>",
        "<h2>Memory and settings</h2>",
        _text(audit.end_lines()),
        drawn,
    ]
    return "\n".join(part for part in [*parts, "</body>\n</html>\n"] if part)


def _text(lines: Sequence[str]) -> str:
    return f"<pre>{html.escape(chr(10).join(lines))}</pre>"
