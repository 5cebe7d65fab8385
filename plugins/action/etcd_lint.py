# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lint the inventory of this run, as Ansible resolved it, with conftest and Headroom's policies."""

from __future__ import annotations

import os
from typing import Any

from ansible import constants
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.etcdops.headroom.plugins.plugin_utils._conftest.report import (
    Finding,
)
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
from ansible_collections.etcdops.headroom.plugins.plugin_utils._lint.inventory import (
    inventory_document,
    resolve_variables,
    to_json,
    variable_files,
    waiver_files,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._lint.suggest import suggest
from ansible_collections.etcdops.headroom.plugins.plugin_utils._play.messages import messages

display = Display()

COLORS = {DENIAL: constants.COLOR_ERROR, WARNING: constants.COLOR_WARN, PLAIN: None}

ARGUMENTS: dict[str, Any] = {
    **CONFTEST_ARGUMENTS,
    "files": {"type": "list", "elements": "path", "default": []},
    "gate": {"type": "bool", "default": False},
    "suggest": {"type": "bool", "default": False},
}


class ActionModule(ActionBase):
    """The action behind etcd_lint; plugins/modules/etcd_lint.py documents it."""

    TRANSFERS_FILES = False
    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Lint the inventory, print the findings, and fail if a policy denies."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        variables = task_vars or {}
        _validation, arguments = self.validate_argument_spec(argument_spec=ARGUMENTS)
        linter = Linter.find(arguments)
        if linter.missing:
            if not arguments["gate"]:
                raise AnsibleActionFail(f"the inventory was not linted: {linter.missing}")
            display.display(f"lint: skipped, {linter.missing}", color=constants.COLOR_SKIP)
            return {**result, "changed": False, "linted": False, "msg": f"skipped: {linter.missing}"}
        document = _document(variables)
        if arguments["gate"]:
            document["_meta"]["deployed_by"] = "etcdops.headroom"
        sources = variables.get("ansible_inventory_sources") or []
        document["_meta"]["waivers"] = {
            path: to_json(self._loader.load_from_file(path)) for path in waiver_files(sources, os.path.isfile)
        }
        handed = _with_files(document, arguments["files"]) if arguments["files"] else document
        try:
            findings = linter.run(handed, arguments["data"], arguments["timeout"])
        except LintError as error:
            raise AnsibleActionFail(f"{error}{self._way_on(arguments, ' without it')}") from error
        shown = finding_lines(findings, len(document["_meta"]["hostvars"]))
        for text, color in messages((line, COLORS[level]) for level, line in shown):
            display.display(text, color=color)
        summary = totals(findings)
        if arguments["suggest"]:
            result["suggested"] = _print_suggestions(findings, document, sources)
        denials = [finding for finding in findings if finding.denied]
        warnings = [finding.line for finding in findings if not finding.denied]
        refusing = _of_this_run(denials, variables) if arguments["gate"] else denials
        if refusing:
            return {
                **result,
                "changed": False,
                "failed": True,
                "msg": f"the policies deny this inventory: {summary}, printed above{self._way_on(arguments)}",
                "denied": [finding.line for finding in refusing],
                "warned": warnings,
            }
        if denials:
            limit = variables["ansible_limit"]
            display.display(f"lint: the denials are of hosts outside --limit ({limit}), so the run continues")
        return {**result, "changed": False, "linted": True, "msg": summary, "warned": warnings}

    def _way_on(self, arguments: dict[str, Any], manner: str = "") -> str:
        """Return how to continue in spite of the linter, for the playbooks that lint before they deploy; empty for others."""
        if not arguments["gate"] or "lint" not in self._task.tags:
            return ""
        return f". Nothing was deployed; --skip-tags lint continues{manner}"


def _of_this_run(denials: list[Finding], task_vars: dict[str, Any]) -> list[Finding]:
    """Return the denials without those of other hosts of the inventory. With --limit, another cluster must not prevent the repair of this one.

    A finding in a file may name members that the inventory does not contain.
    """
    if not task_vars.get("ansible_limit"):
        return denials
    others = set(task_vars["groups"]["all"]) - set(task_vars["ansible_play_hosts_all"])
    return [finding for finding in denials if not finding.hosts or not others.issuperset(finding.hosts)]


def _print_suggestions(findings: list[Finding], document: dict[str, Any], sources: list[str]) -> str:
    """Print a diff with the values that fix findings; return it."""
    files = {}
    for path in variable_files(sources, os.path.isfile, _walk):
        try:
            # Without newline="" a file with CRLF would lose them, and the diff would not apply.
            with open(path, encoding="utf-8", newline="") as stream:
                files[path] = stream.read()
        except (OSError, UnicodeDecodeError):
            continue
    groups = {name: group["hosts"] for name, group in document.items() if name != "_meta"}
    suggested = suggest(findings, files, document["_meta"]["hostvars"], groups)
    if suggested.diff:
        display.display("lint: suggested changes; no file was edited:")
    elif not suggested.left_out:
        display.display("lint: no finding can be fixed by changing a value, so there are no suggestions")
    colors = {"-": constants.COLOR_DIFF_REMOVE, "+": constants.COLOR_DIFF_ADD, "@": constants.COLOR_DIFF_LINES}
    for text, color in messages((line, colors.get(line[:1])) for line in suggested.diff):
        display.display(text, color=color)
    if suggested.left_out:
        display.display("\n".join(f"lint: {line}" for line in suggested.left_out))
    return "".join(f"{line}\n" for line in suggested.diff)


def _walk(folder: str) -> list[str]:
    """Return the files below a folder, sorted; an empty list if the folder does not exist."""
    return sorted(os.path.join(place, name) for place, _folders, names in os.walk(folder) for name in names)


def _document(task_vars: dict[str, Any]) -> dict[str, Any]:
    """Return the inventory in the format of `ansible-inventory --list`, templates and vaults resolved where possible.

    ``hostvars`` lacks variables of plays, and the playbooks upgrade and downgrade set etcd_version for a play: they pass the release as a fact.
    """
    hostvars = task_vars["hostvars"]
    hosts = {}
    for name in task_vars["groups"]["all"]:
        hosts[name] = resolve_variables(
            hostvars.raw_get(name),
            lambda variable, name=name: hostvars[name][variable],  # type: ignore[misc]
            constants.INTERNAL_STATIC_VARS,
        )
        if "etcd_lint_release" in hosts[name]:
            hosts[name]["etcd_version"] = hosts[name].pop("etcd_lint_release")
    return inventory_document(hosts, task_vars["groups"])


def _with_files(document: dict[str, Any], paths: list[str]) -> dict[str, Any]:
    """Return the inventory and files of any format as headroom-lint passes them to conftest. A named file that cannot be read is an error."""
    # Imported only where it is needed, because the readers of all formats take more time than the rest of this action.
    from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.gather import gather

    gathered = gather(paths)
    for path, why in gathered.passed_over.items():
        display.display(f"lint: skipped {path}: {why}")
    if gathered.refused:
        raise AnsibleActionFail("; ".join(gathered.messages()))
    files = [{"path": "inventory", "contents": document}, *gathered.document["files"]]
    return {"headroom_lint": {**gathered.document, "files": files}}
