# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge a running cluster by Headroom's policies, and print its state."""

from __future__ import annotations

from typing import Any

from ansible import constants
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.etcdops.headroom.plugins.plugin_utils._lint.conftest_run import (
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
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.running import state_lines

display = Display()

COLORS = {DENIAL: constants.COLOR_ERROR, WARNING: constants.COLOR_WARN, PLAIN: None}

ARGUMENTS: dict[str, Any] = {
    "measured": {"type": "dict", "required": True},
    "comparison": {"type": "dict", "default": {}},
    "processes": {"type": "list", "elements": "dict", "default": []},
    **CONFTEST_ARGUMENTS,
}


class ActionModule(ActionBase):
    """The action behind etcd_audit; plugins/modules/etcd_audit.py documents it."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Print the state and the findings, and fail if a policy denies."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _validation, arguments = self.validate_argument_spec(argument_spec=ARGUMENTS)
        measured = arguments["measured"]
        lacking = [name for name in ("members", "etcd_workload", "alarms") if name not in measured]
        if lacking or not measured["members"]:
            raise AnsibleActionFail(
                f"measured has no {', '.join(lacking) or 'members'}; pass what etcd_workload_info returned"
            )
        linter = Linter.find(arguments)
        if linter.missing:
            raise AnsibleActionFail(f"the cluster was not judged: {linter.missing}")
        document = linter_document(measured, arguments["comparison"], arguments["processes"])
        try:
            findings = linter.run(document, arguments["data"], arguments["timeout"])
        except LintError as error:
            raise AnsibleActionFail(str(error)) from error
        for line in ["", *state_lines(measured), ""]:
            display.display(line)
        for level, line in finding_lines(findings, len(measured["members"]), "member"):
            display.display(line, color=COLORS[level])
        summary = totals(findings)
        outcome = {
            "changed": False,
            "denied": [finding.line for finding in findings if finding.denied],
            "warned": [finding.line for finding in findings if not finding.denied],
        }
        if outcome["denied"]:
            return {
                **result,
                **outcome,
                "failed": True,
                "msg": f"the policies deny this cluster: {summary}, printed above",
            }
        return {**result, **outcome, "msg": summary}
