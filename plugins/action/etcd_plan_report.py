# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Print and draw a plan of etcd's memory on the controller, without any host."""

from __future__ import annotations

import os
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.etcdops.headroom.plugins.module_utils._base.files import write_atomically
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.html import page
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.report import Report, prepare, text_lines
from ansible_collections.etcdops.headroom.plugins.module_utils._plan.unknown_release import CHOICES
from ansible_collections.etcdops.headroom.plugins.plugin_utils._plan import picture

display = Display()

ENDINGS = ("html", "svg", "png")
ARGUMENTS: dict[str, Any] = {
    "version": {"type": "str"},
    "workload": {"type": "dict", "default": {}},
    "members": {"type": "int"},
    "budget": {"type": "raw"},
    "settings": {"type": "dict", "default": {}},
    "volume_size": {"type": "raw"},
    "unknown_version": {"type": "str", "default": "refuse", "choices": list(CHOICES)},
    "report": {"type": "str"},
    "required": {"type": "bool", "default": True},
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
        path, required = inputs.pop("report"), inputs.pop("required")
        target = None if path is None else _report_file(path)
        try:
            report = prepare(**inputs)
        except ValueError as error:
            if required:
                raise AnsibleActionFail(str(error)) from error
            lines = [f"no plan: {error}", *([f"  report: {target}, not written"] if target else [])]
            _print(lines)
            return {**result, "changed": False, "lines": lines, "plan": None, "report": None}
        lines = text_lines(report)
        changed = False
        if target is not None:
            content = _content(report, target)
            changed = content != _read(target)
            lines += ["", f"  report: {target}, {_outcome(changed, self._task.check_mode)}"]
            if changed and not self._task.check_mode:
                _write(target, content)
        _print(lines)
        return {**result, "changed": changed, "lines": lines, "plan": report.plan, "report": target}


def _print(lines: list[str]) -> None:
    for line in ["", *lines, ""]:
        display.display(line)


def _report_file(path: str) -> str:
    """Return the absolute path of the report file; fail if it cannot be written."""
    target = os.path.realpath(os.path.expanduser(path))
    ending = os.path.splitext(target)[1].lstrip(".").lower()
    folder = os.path.dirname(target)
    problem = None
    if ending not in ENDINGS:
        shown = f"ends in .{ending}" if ending else "has no ending"
        problem = f"it {shown}; write {', '.join(f'plan.{known}' for known in ENDINGS[:-1])} or plan.{ENDINGS[-1]}"
    elif picture.MATPLOTLIB_ERROR is not None:
        problem = (
            f"matplotlib is missing on the controller ({picture.MATPLOTLIB_ERROR}); install it for the Python of "
            "Ansible (python3 -m pip install matplotlib), or leave report out"
        )
    elif not os.path.isdir(folder):
        problem = f"the folder {folder} does not exist; create it, or choose another"
    elif os.path.isdir(target):
        problem = "it is a folder; name a file in it"
    elif not os.access(folder, os.W_OK | os.X_OK):
        problem = f"the folder {folder} is not writable for you; choose another"
    if problem is not None:
        raise AnsibleActionFail(f"report {path} cannot be written: {problem}")
    return target


def _content(report: Report, target: str) -> bytes:
    """Render the report in the format of the file's extension."""
    ending = os.path.splitext(target)[1].lstrip(".").lower()
    if ending == "html":
        return page(report, picture.draw(report, "svg"))
    return picture.draw(report, ending)


def _read(target: str) -> bytes | None:
    """Return the file's content, None if it cannot be read."""
    try:
        with open(target, "rb") as file:
            return file.read()
    except OSError:
        return None


def _outcome(changed: bool, check_mode: bool) -> str:
    if not changed:
        return "unchanged"
    return "not written, because of --check" if check_mode else "written"


def _write(target: str, content: bytes) -> None:
    """Write the file atomically, with the mode that a new file would have."""
    umask = os.umask(0)
    os.umask(umask)
    try:
        write_atomically(target, content, 0o666 & ~umask)
    except OSError as error:
        raise AnsibleActionFail(f"report {target} cannot be written: {error.strerror}") from error
