# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lint the inventory of this run, as Ansible has resolved it, with conftest and Headroom's policies."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any

from ansible import constants
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.etcdops.headroom.plugins.plugin_utils._lint.inventory import (
    BadReport,
    Finding,
    counted,
    document,
    findings,
    plain,
    settled,
    table,
    too_old,
    waiver_files,
)

display = Display()

ARGUMENTS: dict[str, Any] = {
    "conftest": {"type": "str", "default": "conftest"},
    "policies": {"type": "path"},
    "data": {"type": "list", "elements": "path", "default": []},
    "gate": {"type": "bool", "default": False},
    "timeout": {"type": "int", "default": 120},
}
# Most of a run is conftest reading the policies, which leaves little for Go's collector to collect: not before so much is in use.
UNCOLLECTED = {"GOGC": "off", "GOMEMLIMIT": "768MiB"}


class ActionModule(ActionBase):
    """The action behind etcd_lint; see plugins/modules/etcd_lint.py for its documentation."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Print what the policies say of the inventory, and fail if they deny it."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _validation, arguments = self.validate_argument_spec(argument_spec=ARGUMENTS)
        beside = os.path.join(os.path.dirname(__file__), "..", "..", "policies")
        policies = os.path.abspath(arguments["policies"] or beside)
        conftest = shutil.which(arguments["conftest"])
        missing = None
        if conftest is None:
            missing = f"{arguments['conftest']} not found: install conftest, or set etcd_lint_conftest to its path"
        elif not os.path.isdir(os.path.join(policies, "data")):
            missing = (
                f"no policies in {policies}: this installation has none; take them from the collection's repository"
            )
        if conftest is None or missing:
            if not arguments["gate"]:
                raise AnsibleActionFail(f"the inventory was not linted: {missing}")
            display.display(f"lint: skipped, {missing}", color=constants.COLOR_SKIP)
            return {**result, "changed": False, "linted": False, "msg": f"skipped: {missing}"}
        listed = _listed(task_vars or {})
        sources = (task_vars or {}).get("ansible_inventory_sources") or []
        listed["_meta"]["waivers"] = {
            path: plain(self._loader.load_from_file(path)) for path in waiver_files(sources, os.path.isfile)
        }
        found = _lint(conftest, policies, arguments["data"], listed, arguments["timeout"])
        for finding in found:
            color = constants.COLOR_ERROR if finding.denied else constants.COLOR_WARN
            display.display(f"{'DENY' if finding.denied else 'WARN'} {finding.line}", color=color)
        for line in table(found):
            display.display(f"  {line}")
        denials = [finding.line for finding in found if finding.denied]
        warnings = [finding.line for finding in found if not finding.denied]
        summary = f"{counted(len(denials), 'denial')}, {counted(len(warnings), 'warning')}"
        display.display(f"lint: {counted(len(listed['_meta']['hostvars']), 'host')}, {summary}")
        if denials:
            return {
                **result,
                "changed": False,
                "failed": True,
                "msg": f"the policies deny this inventory: {summary}, printed above",
                "denied": denials,
                "warned": warnings,
            }
        return {**result, "changed": False, "linted": True, "msg": summary, "warned": warnings}


def _listed(task_vars: dict[str, Any]) -> dict[str, Any]:
    """Return the inventory in the form of `ansible-inventory --list`, with templates and vaults resolved where possible."""
    hostvars = task_vars["hostvars"]
    hosts = {}
    for name in task_vars["groups"]["all"]:
        hosts[name] = settled(
            hostvars.raw_get(name),
            lambda variable, name=name: hostvars[name][variable],  # type: ignore[misc]
            constants.INTERNAL_STATIC_VARS,
        )
    return document(hosts, task_vars["groups"])


def _lint(conftest: str, policies: str, data: list[str], listed: dict[str, Any], timeout: int) -> list[Finding]:
    """Run conftest on the document; return what it finds."""
    command = [conftest, "test", "-", "--parser", "json", "--combine", "--output", "json", "--namespace", "headroom"]
    command += ["--policy", policies, "--data", os.path.join(policies, "data"), "--stdin-filename", "inventory"]
    for path in data:
        command += ["--data", os.path.abspath(path)]
    try:
        # Away from the user's folder: a conftest.toml there would add to this command line.
        done = subprocess.run(
            command,
            input=json.dumps(listed),
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
            cwd=policies,
            env={**UNCOLLECTED, **os.environ},
        )
        return findings(done.stdout)
    except subprocess.TimeoutExpired as error:
        raise AnsibleActionFail(
            f"conftest took more than {timeout} s for this inventory; raise etcd_lint_timeout"
        ) from error
    except BadReport as error:
        reason = too_old(_version(conftest)) or done.stderr.strip() or error
        raise AnsibleActionFail(f"{conftest} could not lint: {reason}") from error


def _version(conftest: str) -> str:
    """Return what conftest says of its version."""
    done = subprocess.run([conftest, "--version"], capture_output=True, text=True, check=False, timeout=60)
    return done.stdout
