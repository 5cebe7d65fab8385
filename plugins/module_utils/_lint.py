# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the linter is given of an inventory, and what it says of it.

Private to the collection. Pure, but for what the caller's mapping does when it is read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

# Ansible's own mark for a value that is encrypted, as `ansible-inventory --list` writes it: unknown to the linter.
ENCRYPTED = {"__ansible_vault": True}


class BadReport(ValueError):
    """conftest printed something that is no report."""


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it; what is neither text, number, list nor map counts as encrypted."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(item) for item in value]
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


def findings(report: str) -> tuple[list[str], list[str]]:
    """Return the denials and the warnings of conftest's JSON report, each a line.

    Raises BadReport on anything else.
    """
    try:
        results = json.loads(report)
        denials = [entry["msg"] for result in results for entry in result.get("failures") or []]
        warnings = [entry["msg"] for result in results for entry in result.get("warnings") or []]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadReport(f"conftest printed no report: {report[:200]!r}") from error
    return denials, warnings


def counted(number: int, noun: str) -> str:
    """Return "1 denial", "2 denials"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
