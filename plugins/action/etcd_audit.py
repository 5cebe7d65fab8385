# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check a running cluster against Headroom's policies, print its state, and write the result to a file."""

from __future__ import annotations

import os
from typing import Any

from ansible import constants
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import write_as_new
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.report import Report
from ansible_collections.etcdops.headroom.plugins.plugin_utils._conftest.run import (
    CONFTEST_ARGUMENTS,
    DENIAL,
    PLAIN,
    WARNING,
    Linter,
    LintError,
    finding_lines,
    totals,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._lint.running_members import linter_document
from ansible_collections.etcdops.headroom.plugins.plugin_utils._plan import picture
from ansible_collections.etcdops.headroom.plugins.plugin_utils._plan.report_file import (
    ReportFileError,
    report_file,
    write_report,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._play.messages import messages
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.audit_files import (
    ENDINGS,
    Audit,
    as_html,
    as_json,
    as_sarif,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.audit_plans import (
    MembersPlan,
    plan_lines,
    plan_members,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.running import state_lines

display = Display()

COLORS = {DENIAL: constants.COLOR_ERROR, WARNING: constants.COLOR_WARN, PLAIN: None}

ARGUMENTS: dict[str, Any] = {
    "measured": {"type": "dict", "required": True},
    "comparison": {"type": "dict", "default": {}},
    "processes": {"type": "list", "elements": "dict", "default": []},
    "backups": {"type": "list", "elements": "dict", "default": []},
    "backup_dirs": {"type": "list", "elements": "str", "default": []},
    "unread_hosts": {"type": "dict", "default": {}},
    "budget": {"type": "raw"},
    "report": {"type": "str"},
    "output": {"type": "path"},
    **CONFTEST_ARGUMENTS,
}


class ActionModule(ActionBase):
    """The action behind etcd_audit; plugins/modules/etcd_audit.py documents it."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Print the plans, the state and the findings, and fail if a policy denies."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _validation, arguments = self.validate_argument_spec(argument_spec=ARGUMENTS)
        measured = arguments["measured"]
        _check(measured, arguments["output"])
        plans = plan_members(measured, arguments["processes"], arguments["budget"])
        lines, changed = self._report_plans(plans, arguments["report"])
        display.display("\n".join(["", *lines, ""]))
        linter = Linter.find(arguments)
        if linter.missing:
            raise AnsibleActionFail(f"the cluster was not checked: {linter.missing}")
        document = linter_document(measured, arguments["comparison"], arguments["processes"], arguments["backups"])
        try:
            findings = linter.run(document, arguments["data"], arguments["timeout"])
        except LintError as error:
            raise AnsibleActionFail(str(error)) from error
        given = (arguments[name] for name in ("backups", "unread_hosts", "backup_dirs", "comparison"))
        audit = Audit(measured, findings, arguments["processes"], plans, *given)
        display.display("\n".join(["", *state_lines(measured), "", *audit.end_lines(), ""]))
        shown = finding_lines(findings, len(measured["members"]), "member")
        for text, color in messages((line, COLORS[level]) for level, line in shown):
            display.display(text, color=color)
        if arguments["output"]:
            if not self._task.check_mode:
                _write(arguments["output"], _content(audit, _newest(plans), arguments["output"]))
            writing = "not written, because of --check" if self._task.check_mode else "written"
            display.display(f"output: {arguments['output']}, {writing}")
        outcome = {
            "changed": changed,
            "denied": [finding.line for finding in findings if finding.denied],
            "warned": [finding.line for finding in findings if not finding.denied],
            "unchecked": audit.unchecked(),
        }
        if outcome["denied"]:
            failure = f"the policies deny this cluster: {totals(findings)}, printed above"
            return {**result, **outcome, "failed": True, "msg": failure}
        return {**result, **outcome, "msg": totals(findings)}

    def _report_plans(self, plans: list[MembersPlan], path: str | None) -> tuple[list[str], bool]:
        """Draw the plan for the newest series to a file, if there is a plan and a path. Return the plans' lines, and whether the file differs."""
        lines, report = plan_lines(plans), _newest(plans)
        if not path:
            return lines, False
        try:
            target = report_file(path)
            if report is None:
                return [*lines, f"  report: {target}, not written"], False
            changed, outcome = write_report(report, target, self._task.check_mode)
        except ReportFileError as error:
            raise AnsibleActionFail(str(error)) from error
        return [*lines, "", outcome], changed


def _newest(plans: list[MembersPlan]) -> Report | None:
    return next((one.report for one in plans if one.report), None)


def _check(measured: dict[str, Any], output: str | None) -> None:
    """Fail if the measurement is invalid, or the file cannot be written."""
    lacking = [name for name in ("members", "etcd_workload", "alarms") if name not in measured]
    if lacking or not measured["members"]:
        raise AnsibleActionFail(
            f"measured has no {', '.join(lacking) or 'members'}; pass what etcd_workload_info returned"
        )
    if not output:
        return
    folder = os.path.dirname(os.path.abspath(output))
    if _ending(output) not in ENDINGS:
        raise AnsibleActionFail(
            f"output {output} cannot be written: name a file like audit.json, audit.sarif or audit.html"
        )
    if not os.path.isdir(folder):
        raise AnsibleActionFail(f"output {output} cannot be written: the folder {folder} does not exist; create it")


def _ending(path: str) -> str:
    return os.path.splitext(path)[1].lstrip(".").lower()


def _content(audit: Audit, report: Report | None, path: str) -> str:
    """Return the audit in the format of the file's extension. Without matplotlib the page has no picture."""
    if _ending(path) == "json":
        return as_json(audit)
    if _ending(path) == "sarif":
        return as_sarif(audit)
    drawn = picture.draw(report, "svg") if report and picture.MATPLOTLIB_ERROR is None else None
    return as_html(audit, drawn)


def _write(path: str, content: str) -> None:
    try:
        write_as_new(os.path.abspath(path), content)
    except OSError as error:
        raise AnsibleActionFail(f"output {path} cannot be written: {error.strerror}") from error
