# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the module etcd_host_info, with the digest of the maintenance program instead of its modules."""

from __future__ import annotations

import gc
from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance import sources

# Ansible loads this action in its main process, which then starts a process for each task on each host. Python's garbage collector would examine the
# playbook and all variables again in each of them, which copies that memory and takes a tenth of a run of site.yml.
gc.freeze()


class ActionModule(ActionBase):
    """The action in front of the module; plugins/modules/etcd_host_info.py documents both."""

    MODULE = "etcdops.headroom.etcd_host_info"

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the module, which compares the program on the host by the digest."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        arguments = dict(self._task.args)
        if isinstance(arguments.get("maintenance"), dict):
            files = sources.module_files(sources.imported_sources(sources.source_on_controller), "/")
            arguments["maintenance"] = {**arguments["maintenance"], "modules_digest": sources.digest(files, "/")}
        return {**result, **self._execute_module(module_name=self.MODULE, module_args=arguments, task_vars=task_vars)}
