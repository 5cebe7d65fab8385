# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the files that belong together: a unit with its drop-ins, and the environment file that a unit names."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader import unit
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.recognize import Text


def by_unit(files: Iterable[Text]) -> list[list[Text]]:
    """Return each unit with its drop-ins in the order of their names."""
    units: dict[str, list[Text]] = {}
    for file in sorted(files, key=lambda file: posixpath.basename(file.target)):
        name = unit.unit_of(file.target)
        # A drop-in in /etc belongs to the unit in /usr/lib as well.
        key = next((known for known in units if posixpath.basename(known) == posixpath.basename(name)), name)
        own = unit.unit_of(file.target) == file.target
        if own and any(unit.unit_of(part.target) == part.target for part in units.get(key, [])):
            key = f"{file.path}:{file.target}"
        units.setdefault(key, []).append(file)
    return [sorted(parts, key=lambda part: unit.unit_of(part.target) != part.target) for parts in units.values()]


def find_environment(files: list[Text], named: str, unit_path: str) -> Text | None:
    """Return an environment file: of the unit's own file, below the same root, or the only one of that name."""
    same = [file for file in files if file.target == named and file.path == unit_path]
    below = [file for file in files if file.target.endswith(named)]
    alike = [file for file in files if posixpath.basename(file.target) == posixpath.basename(named)]
    return next((candidates[0] for candidates in (same, below, alike) if len(candidates) == 1), None)
