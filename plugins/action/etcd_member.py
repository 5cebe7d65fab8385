# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the module etcd_member, and find out on the controller whether the play that holds the cluster's lock still runs."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.etcdops.headroom.plugins.plugin_utils._play.identity import has_ended, this_play

# How many other plays of this controller may hold the lock one after the other while the module waits for it.
OTHER_PLAYS = 10


class ActionModule(ActionBase):
    """The action in front of the module; plugins/modules/etcd_member.py documents both."""

    MODULE = "etcdops.headroom.etcd_member"

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the module, and once more if it needs to know about another play of this controller."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        play, judged = this_play(), {}
        for _attempt in range(OTHER_PLAYS):
            done = self._execute_module(
                module_name=self.MODULE,
                module_args={**self._task.args, "play": play, **judged},
                task_vars=task_vars,
            )
            other = done.pop("unjudged_play", "")
            if not other:
                break
            judged = {"ended_play" if has_ended(other) else "running_play": other}
        return {**result, **done}
