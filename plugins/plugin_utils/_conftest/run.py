# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run conftest on a document, and describe what it found."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import pluralize
from ansible_collections.etcdops.headroom.plugins.plugin_utils._conftest.command import (
    conftest_command,
    conftest_environment,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._conftest.report import (
    Finding,
    ReportError,
    parse_report,
    summary_table,
    version_problem,
)

# Documented in plugins/doc_fragments/conftest.py.
CONFTEST_ARGUMENTS: dict[str, dict[str, Any]] = {
    "conftest": {"type": "str", "default": "conftest"},
    "policies": {"type": "path"},
    "data": {"type": "list", "elements": "path", "default": []},
    "timeout": {"type": "int", "default": 120},
}
# How a line is shown: as a denial, as a warning, or plainly.
DENIAL, WARNING, PLAIN = "denial", "warning", ""


class LintError(ValueError):
    """conftest could not be run, or printed no report."""


@dataclass(frozen=True)
class Linter:
    """conftest and the folder of the policies. ``missing``: what the linter lacks and how to get it, empty if it has all."""

    conftest: str
    policies: str
    missing: str

    @classmethod
    def find(cls, arguments: Mapping[str, Any]) -> Linter:
        """Find conftest and the policies that an action's arguments name; by default those of this collection."""
        name = arguments["conftest"]
        bundled = os.path.join(os.path.dirname(__file__), "..", "..", "..", "policies")
        policies = os.path.abspath(arguments["policies"] or bundled)
        conftest = shutil.which(name)
        missing = ""
        if conftest is None:
            missing = f"{name} not found: install conftest, or set etcd_lint_conftest to its path"
        elif not os.path.isdir(os.path.join(policies, "data")):
            missing = (
                f"no policies in {policies}: this installation has none; take them from the collection's repository"
            )
        return cls(conftest or name, policies, missing)

    def run(self, document: dict[str, Any], data: list[str], timeout: int) -> list[Finding]:
        """Run conftest on the document and return its findings. ``timeout`` is in seconds. Raises LintError."""
        try:
            done = subprocess.run(
                conftest_command(self.conftest, self.policies, data, "inventory"),
                input=json.dumps(document),
                capture_output=True,
                text=True,
                check=False,
                timeout=timeout,
                cwd=self.policies,
                env=conftest_environment(),
            )
            return parse_report(done.stdout)
        except subprocess.TimeoutExpired as error:
            raise LintError(f"conftest took more than {timeout} s; raise etcd_lint_timeout") from error
        except OSError as error:
            raise LintError(f"{self.conftest} could not be run: {error.strerror}") from error
        except ReportError as error:
            reason = version_problem(self._version()) or done.stderr.strip() or error
            raise LintError(f"{self.conftest} could not lint: {reason}") from error

    def _version(self) -> str:
        """Return what ``conftest --version`` prints."""
        done = subprocess.run([self.conftest, "--version"], capture_output=True, text=True, check=False, timeout=60)
        return done.stdout


def finding_lines(findings: list[Finding], number: int, subject: str = "host") -> list[tuple[str, str]]:
    """Return a line for each finding, the summary table and the totals, each with how it is shown. number: of hosts, or of what else was judged."""
    lines = [
        (DENIAL, f"DENY {finding.line}") if finding.denied else (WARNING, f"WARN {finding.line}")
        for finding in findings
    ]
    lines += [(PLAIN, f"  {line}") for line in summary_table(findings)]
    return [*lines, (PLAIN, f"lint: {pluralize(number, subject)}, {totals(findings)}")]


def totals(findings: list[Finding]) -> str:
    """Return the numbers of denials and warnings."""
    denials = sum(finding.denied for finding in findings)
    return f"{pluralize(denials, 'denial')}, {pluralize(len(findings) - denials, 'warning')}"
