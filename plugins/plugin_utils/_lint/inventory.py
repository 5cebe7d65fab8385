# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the linter's input from an inventory that Ansible has resolved."""

from __future__ import annotations

import datetime
import math
import posixpath
from collections.abc import Callable, Iterable, Mapping
from typing import Any

# What `ansible-inventory --list` writes in place of an encrypted value; the linter treats it as unknown.
ENCRYPTED = {"__ansible_vault": True}


def to_json(value: Any) -> Any:
    """Convert a value to types that JSON knows: dates, infinity and NaN become text, any other type counts as encrypted."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [to_json(item) for item in value]
    if isinstance(value, datetime.date):
        return value.isoformat()
    return dict(ENCRYPTED)


def is_unresolved(value: Any) -> bool:
    """Return whether a value must still be templated or decrypted."""
    if value is None or isinstance(value, (bool, int, float)):
        return False
    if isinstance(value, str):
        return "{{" in value or "{%" in value
    if isinstance(value, Mapping):
        return any(is_unresolved(item) for item in value.values())
    if isinstance(value, (list, tuple, set)):
        return any(is_unresolved(item) for item in value)
    return True


def resolve_variables(
    variables: Mapping[str, Any], template: Callable[[str], Any], internal: Iterable[str] = ()
) -> dict[str, Any]:
    """Return a host's variables with templates and vaults resolved where possible.

    ``template`` returns a variable's final value by its name. If it raises, the value stays as written, and the linter
    treats it as unknown. Connection variables (``ansible_*``) and the names in ``internal`` are dropped: no rule needs
    them, and some are secret.
    """
    dropped = set(internal)
    resolved = {}
    for name, value in variables.items():
        if name in dropped or name.startswith("ansible_"):
            continue
        if is_unresolved(value):
            try:
                value = template(name)
            except Exception:
                pass
        resolved[str(name)] = to_json(value)
    return resolved


def inventory_document(hosts: Mapping[str, dict[str, Any]], groups: Mapping[str, Iterable[str]]) -> dict[str, Any]:
    """Return hosts and groups in the format of ``ansible-inventory --list``."""
    listed: dict[str, Any] = {str(name): {"hosts": [str(host) for host in members]} for name, members in groups.items()}
    listed["_meta"] = {"hostvars": {str(name): variables for name, variables in hosts.items()}}
    return listed


def waiver_files(sources: Iterable[str], is_file: Callable[[str], bool]) -> list[str]:
    """Return the waiver files in inventory folders and next to inventory files.

    ``sources`` are the inventories as Ansible was given them; a list of hosts has no waiver file.
    """
    found: dict[str, None] = {}
    for source in sources:
        folder = posixpath.dirname(source) if is_file(source) else source
        for name in (".waivers.yml", ".waivers.yaml", "waivers.yml", "waivers.yaml"):
            path = posixpath.join(folder, name)
            if is_file(path):
                found[path] = None
    return list(found)


def variable_files(
    sources: Iterable[str], is_file: Callable[[str], bool], walk: Callable[[str], Iterable[str]]
) -> list[str]:
    """Return the files that may set variables: inventory files, and the group_vars and host_vars beside them.

    ``walk`` returns the files below a folder.
    """
    found: dict[str, None] = {}
    for source in sources:
        if is_file(source):
            folder = posixpath.dirname(source)
            below = [path for name in ("group_vars", "host_vars") for path in walk(posixpath.join(folder, name))]
            found |= dict.fromkeys([source, *below])
        else:
            found |= dict.fromkeys(walk(source))
    return list(found)
