# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks that must not run as root set ansible_become, because an inventory's variable has precedence over a task's keyword."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.etcdops.headroom.plugins.module_utils._membership import topology

ROOT = Path(topology.__file__).parents[3]
FILES = sorted(ROOT.glob("roles/*/tasks/*.yml"))
# They run in Ansible's own process, without become.
ACTIONS = {f"etcdops.headroom.{path.stem}" for path in (ROOT / "plugins" / "action").glob("*.py")}


def tasks(entries: list[dict[str, Any]], inherited: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield tasks with the keywords and variables of the blocks around them."""
    for entry in entries:
        whole = {**inherited, **entry, "vars": {**inherited.get("vars", {}), **entry.get("vars", {})}}
        blocks = [name for name in ("block", "rescue", "always") if name in entry]
        for name in blocks:
            yield from tasks(
                entry[name], {key: whole[key] for key in ("become", "delegate_to", "vars") if key in whole}
            )
        if not blocks:
            yield whole


def without_root(task: dict[str, Any]) -> bool:
    """Whether a task must not, or in some cases must not, run as root."""
    return task.get("become", True) is not True or "localhost" in str(task.get("delegate_to", ""))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parents[1].name}-{path.stem}")
def test_tasks_without_root_set_the_variable_too(path: Path) -> None:
    found = [task for task in tasks(yaml.safe_load(path.read_text(encoding="utf-8")), {}) if without_root(task)]
    for task in found:
        own = task["vars"].get("ansible_become")
        templated = isinstance(task.get("become"), str)
        assert ACTIONS & set(task) or (isinstance(own, str) if templated else own is False), task["name"]


def test_the_tasks_on_the_controller_are_found() -> None:
    found = [
        task["name"]
        for path in FILES
        for task in tasks(yaml.safe_load(path.read_text(encoding="utf-8")), {})
        if without_root(task)
    ]
    assert len(found) >= 20 and {"Make Git ignore the CAs", "Sign the requests on the controller"} <= set(found)
