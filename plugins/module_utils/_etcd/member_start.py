# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait until a member serves with the requested configuration. Private to the collection."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.cluster_view import observe_cluster
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.drain import serving_problem
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.etcdctl import Connection
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.local_member import (
    describe_local_member,
    unit_problem,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_drain import PAUSE
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_error import MemberError
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.settings import compare_settings
from ansible_collections.etcdops.headroom.plugins.module_utils._host import systemd


@dataclass(frozen=True)
class Start:
    """A member that was started, and what it must run with.

    unit: systemd's name of it. max_lag: raft entries that it may be behind. timeout: seconds to wait. digest: of the
    configuration, None for any. settings: as etcd logs them. journal_lines: how many lines an error returns. check: one look.
    """

    link: Connection
    endpoints: list[str]
    name: str
    unit: str
    max_lag: int
    timeout: int
    digest: str | None
    settings: dict[str, Any]
    journal_lines: int
    check: bool

    def wait(self) -> dict[str, Any]:
        """Check the unit, its configuration and the cluster until the member serves. Returns the module's result. Raises MemberError."""
        deadline = time.monotonic() + self.timeout
        while True:
            unit = systemd.show(self.unit, self.link.timeout)
            result: dict[str, Any] = {"differences": [], "unverified": []}
            problem, hopeless = unit_problem(unit)
            if not problem:
                problem, certain = self.configuration_problem(unit, result)
                if certain and not self.check:
                    raise MemberError(problem, **result)
            if not problem:
                cluster, _answered_by = observe_cluster(self.link, self.endpoints)
                result["cluster"] = cluster.as_dict()
                problem = serving_problem(cluster, self.name, self.max_lag)
            if not problem or self.check:
                return {"changed": False, "problem": problem, **result}
            late = time.monotonic() >= deadline
            if late or hopeless:
                journal = systemd.tail(unit.name, self.journal_lines, self.link.timeout)
                waited = f" (waited {self.timeout} s)" if late else ""
                why = systemd.cause(journal) if unit.load_state != "not-found" else ""
                raise MemberError(f"{problem}{waited}{': ' if why else ''}{why}", journal=journal, **result)
            time.sleep(PAUSE)

    def configuration_problem(self, unit: systemd.Unit, result: dict[str, Any]) -> tuple[str, bool]:
        """Compare the configuration of the process with the requested one; add the differences to the module's result.

        Return the problem, or an empty string, and whether waiting cannot change it.
        """
        if self.digest is None and not self.settings:
            return "", False
        process = describe_local_member(unit, self.link, self.endpoints[0], None, None)
        if not process["running"]:  # it ended after the unit was looked at, because its disk is full for example
            return f"{unit.name} ended just after its start", False
        if self.digest is not None and process.get("digest") != self.digest:
            origin = process.get("digest") or "of unknown origin"
            return (
                f"etcd runs with configuration {origin} instead of {self.digest}: it was not restarted after its configuration changed",
                True,
            )
        differences, unverified = compare_settings(self.settings, process.get("settings", {}))
        result.update(differences=differences, unverified=unverified)
        if not differences:
            return "", False
        listed = "; ".join(
            f"{item['setting']} is {item['effective']} instead of {item['asked']}" for item in differences
        )
        return f"etcd runs with other settings than requested: {listed}; restart it, or correct the setting", True
