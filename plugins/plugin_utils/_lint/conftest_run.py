# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run conftest on a document, and describe what it found."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._lint.conftest_call import (
    conftest_command,
    conftest_environment,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._lint.conftest_report import (
    Finding,
    ReportError,
    parse_report,
    pluralize,
    summary_table,
    version_problem,
)

# How a line is shown: as a denial, as a warning, or plainly.
DENIAL, WARNING, PLAIN = "denial", "warning", ""


class LintError(ValueError):
    """conftest could not be run, or printed no report."""


def policies_folder(given: str | None) -> str:
    """Return the folder of the policies: the given one, or that of this collection."""
    bundled = os.path.join(os.path.dirname(__file__), "..", "..", "..", "policies")
    return os.path.abspath(given or bundled)


def missing_program(name: str, conftest: str | None, policies: str) -> str | None:
    """Return what the linter lacks and how to get it, None if it has all."""
    if conftest is None:
        return f"{name} not found: install conftest, or set etcd_lint_conftest to its path"
    if not os.path.isdir(os.path.join(policies, "data")):
        return f"no policies in {policies}: this installation has none; take them from the collection's repository"
    return None


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


def run_conftest(
    conftest: str, policies: str, data: list[str], document: dict[str, Any], timeout: int
) -> list[Finding]:
    """Run conftest on the document and return its findings. ``timeout`` is in seconds. Raises LintError."""
    try:
        done = subprocess.run(
            conftest_command(conftest, policies, data, "inventory"),
            input=json.dumps(document),
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
            cwd=policies,
            env=conftest_environment(),
        )
        return parse_report(done.stdout)
    except subprocess.TimeoutExpired as error:
        raise LintError(f"conftest took more than {timeout} s for this inventory; raise etcd_lint_timeout") from error
    except ReportError as error:
        reason = version_problem(_version(conftest)) or done.stderr.strip() or error
        raise LintError(f"{conftest} could not lint: {reason}") from error


def _version(conftest: str) -> str:
    """Return what ``conftest --version`` prints."""
    done = subprocess.run([conftest, "--version"], capture_output=True, text=True, check=False, timeout=60)
    return done.stdout
