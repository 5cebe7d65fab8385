# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Print the report of all clusters on the controller: the plan, the running members and their problems."""

from __future__ import annotations

import time
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.etcdops.headroom.plugins.plugin_utils._report.deployment import deployment_report

display = Display()


class ActionModule(ActionBase):
    """The action behind etcd_report; plugins/modules/etcd_report.py documents it."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Print the report and return it."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _validation, arguments = self.validate_argument_spec(
            argument_spec={"members": {"type": "list", "elements": "dict", "required": True}}
        )
        members = arguments["members"]
        nameless = [number for number, member in enumerate(members, 1) if not member.get("host")]
        if nameless:
            raise AnsibleActionFail(f"members: number {nameless[0]} has no host; give each a host and a cluster")
        lines = deployment_report(members, time.time())
        display.display("\n".join(["", *lines, ""]))
        return {**result, "changed": False, "lines": lines}
