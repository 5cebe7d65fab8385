# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Print and draw a plan of etcd's memory on the controller, without any host."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.for_release import CHOICES
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.report import prepare, text_lines
from ansible_collections.etcdops.headroom.plugins.plugin_utils._plan.report_file import (
    ReportFileError,
    report_file,
    write_report,
)

display = Display()

ARGUMENTS: dict[str, Any] = {
    "version": {"type": "str"},
    "workload": {"type": "dict", "default": {}},
    "members": {"type": "int"},
    "budget": {"type": "raw"},
    "settings": {"type": "dict", "default": {}},
    "volume_size": {"type": "raw"},
    "unknown_version": {"type": "str", "default": "refuse", "choices": list(CHOICES)},
    "report": {"type": "str"},
}


class ActionModule(ActionBase):
    """The action behind etcd_plan_report; plugins/modules/etcd_plan_report.py documents it."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Print the plan, write the report file, and return both."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _validation, arguments = self.validate_argument_spec(argument_spec=ARGUMENTS)
        inputs: dict[str, Any] = {name: None if value == "" else value for name, value in arguments.items()}
        path = inputs.pop("report")
        try:
            target = None if path is None else report_file(path)
            report = prepare(**inputs)
        except ValueError as error:
            raise AnsibleActionFail(str(error)) from error
        lines = text_lines(report)
        changed = False
        if target is not None:
            try:
                changed, outcome = write_report(report, target, self._task.check_mode)
            except ReportFileError as error:
                raise AnsibleActionFail(str(error)) from error
            lines += ["", outcome]
        display.display("\n".join(["", *lines, ""]))
        return {**result, "changed": changed, "lines": lines, "plan": report.plan, "report": target}
