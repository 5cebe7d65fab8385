# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the linter is given of an inventory, and what it says of it.

Private to the collection. Pure, but for what the caller's mapping does when it is read.
"""

from __future__ import annotations

import datetime
import json
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

# Ansible's own mark for a value that is encrypted, as `ansible-inventory --list` writes it: unknown to the linter.
ENCRYPTED = {"__ansible_vault": True}


class BadReport(ValueError):
    """conftest printed something that is no report."""


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it; dates are text, and what is nothing of all this counts as encrypted."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(item) for item in value]
    if isinstance(value, datetime.date):
        return value.isoformat()
    return dict(ENCRYPTED)


def unsettled(value: Any) -> bool:
    """Tell whether a value is still to be templated or decrypted."""
    if value is None or isinstance(value, (bool, int, float)):
        return False
    if isinstance(value, str):
        return "{{" in value or "{%" in value
    if isinstance(value, Mapping):
        return any(unsettled(item) for item in value.values())
    if isinstance(value, (list, tuple, set)):
        return any(unsettled(item) for item in value)
    return True


def settled(
    variables: Mapping[str, Any], template: Callable[[str], Any], internal: Iterable[str] = ()
) -> dict[str, Any]:
    """Return a host's variables for the linter, templates and vaults resolved where that can be done.

    template: gives one variable's final value by its name; where it raises, the value stays as it is written, and the linter calls
    it unknown. Connection variables (ansible_*) and the names in `internal` are left out: no rule needs them, and some are secret.
    """
    skipped = set(internal)
    found = {}
    for name, value in variables.items():
        if name in skipped or name.startswith("ansible_"):
            continue
        if unsettled(value):
            try:
                value = template(name)
            except Exception:
                pass
        found[str(name)] = plain(value)
    return found


def document(hosts: Mapping[str, dict[str, Any]], groups: Mapping[str, Iterable[str]]) -> dict[str, Any]:
    """Return hosts and groups in the form of `ansible-inventory --list`."""
    listed: dict[str, Any] = {str(name): {"hosts": [str(host) for host in members]} for name, members in groups.items()}
    listed["_meta"] = {"hostvars": {str(name): variables for name, variables in hosts.items()}}
    return listed


class Finding(NamedTuple):
    """One line of conftest's report."""

    denied: bool
    rule: str
    hosts: tuple[str, ...]
    line: str


def waiver_files(sources: Iterable[str], is_file: Callable[[str], bool]) -> list[str]:
    """Return the files with waivers that lie in inventory folders, or beside inventory files.

    sources: paths as Ansible was given them; what is no path (a list of hosts) has no such file.
    """
    found: dict[str, None] = {}
    for source in sources:
        folder = posixpath.dirname(source) if is_file(source) else source
        for name in (".waivers.yml", ".waivers.yaml", "waivers.yml", "waivers.yaml"):
            path = posixpath.join(folder, name)
            if is_file(path):
                found[path] = None
    return list(found)


def findings(report: str) -> list[Finding]:
    """Return what conftest's JSON report says, warnings first.

    Raises BadReport on anything else.
    """
    try:
        results = json.loads(report)
        return [
            _finding(entry, level == "failures")
            for level in ("warnings", "failures")
            for result in results
            for entry in result.get(level) or []
        ]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadReport(f"conftest printed no report: {report[:200]!r}") from error


def _finding(entry: dict[str, Any], denied: bool) -> Finding:
    about = entry.get("metadata") or {}
    return Finding(denied, str(about.get("code", "")), tuple(map(str, about.get("hosts") or ())), str(entry["msg"]))


def table(found: list[Finding]) -> list[str]:
    """Return the summary as lines: each rule with how often it spoke, and of how many hosts; denials first."""
    rows = []
    for denied in (True, False):
        for rule in sorted({finding.rule for finding in found if finding.denied == denied}):
            spoken = [finding for finding in found if (finding.denied, finding.rule) == (denied, rule)]
            hosts = {host for finding in spoken for host in finding.hosts}
            rows.append((rule, "deny" if denied else "warn", str(len(spoken)), str(len(hosts)) if hosts else "-"))
    if not rows:
        return []
    rows.insert(0, ("rule", "severity", "findings", "hosts"))
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    return [
        f"{rule:<{widths[0]}}  {severity:<{widths[1]}}  {number:>8}  {hosts:>5}"
        for rule, severity, number, hosts in rows
    ]


def too_old(version: str) -> str:
    """Return what is wrong with a conftest that printed this for --version; empty if it reads the policies' Rego.

    The policies are written in Rego as OPA 1.0 has it.
    """
    found = re.search(r"^OPA: v?(\d+)\.(\S+)$", version, re.MULTILINE)
    if found is None or int(found.group(1)) >= 1:
        return ""
    return f"it has OPA {found.group(1)}.{found.group(2)}, and the policies need OPA 1.0 or newer: install a newer conftest"


def counted(number: int, noun: str) -> str:
    """Return "1 denial", "2 denials"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
