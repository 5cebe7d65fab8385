# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the files that belong together: a unit with its drop-ins, and the environment file that a unit names."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from itertools import takewhile

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.named_files import (
    are_of_several_hosts,
    find_at,
    find_named,
    has_name,
    only_one,
    root_of_unit,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.recognize import Text
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.units import unit

_DROP_IN = re.compile(r"\.conf(\.(j2|jinja2?|erb|epp|ejs|tmpl|tpl|gotmpl|in))?$")
_PATTERN = re.compile(r"[*?\[]")


def is_ignored(path: str) -> bool:
    """Return whether systemd ignores a file in a folder of drop-ins because of its name. A template makes a file without its own suffix."""
    return unit.unit_of(path) != path and not _DROP_IN.search(path)


def by_unit(files: Iterable[Text]) -> list[list[Text]]:
    """Return each unit with its drop-ins in the order of their names, then drop-ins whose unit is not among the files."""
    ordered = sorted(files, key=lambda file: posixpath.basename(file.target))
    units = [[file] for file in ordered if unit.unit_of(file.target) == file.target]
    alone: dict[tuple[str, str], list[Text]] = {}
    for file in ordered:
        name = unit.unit_of(file.target)
        if name == file.target:
            continue
        # A drop-in in /etc belongs to the unit in /usr/lib as well, but not to that of another host.
        named = [
            parts for parts in units if has_name(parts[0].target, name) and not _are_of_several_hosts(file, parts[0])
        ]
        if named:
            max(named, key=lambda parts: _shared_folders(file, parts[0])).append(file)
        else:
            inside = "" if file.path == file.target else file.path
            alone.setdefault((inside, name), []).append(file)
    return [*units, *alone.values()]


def _are_of_several_hosts(file: Text, other: Text) -> bool:
    """Return whether two files are below the roots of several hosts. The path of a text inside a file shows no root."""
    is_outside = file.path == file.target and other.path == other.target
    return is_outside and are_of_several_hosts(root_of_unit(file.path), root_of_unit(other.path))


def _shared_folders(file: Text, other: Text) -> tuple[bool, int]:
    """Return how close two files are: whether one file contains both, and how many folders their paths share from the start."""
    pairs = zip(file.path.split("/")[:-1], other.path.split("/")[:-1])
    return file.path == other.path, len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


def find_environments(files: list[Text], others: list[Text], named: str, unit_path: str) -> list[Text]:
    """Return the environment files that a unit names: one, or those that match a pattern, in the order of their names.

    others: files whose content alone does not show what they are, such as one with only GOGC.
    """
    if _PATTERN.search(named):
        found = [file for file in [*files, *others] if _matches(file.target, named)]
        own = [file for file in found if _has_root_of(unit_path, file, named)]
        elsewhere = [file for file in found if not _is_of_other_host(unit_path, file, named)]
        return sorted(own or elsewhere, key=lambda file: file.target)
    single = find_named(files, named, unit_path) or _find_other(others, named, unit_path)
    return [single] if single else []


def _find_other(others: list[Text], named: str, unit_path: str) -> Text | None:
    """Return one of the other files: at an absolute path, or in the unit's folder."""
    found = find_at(others, named, unit_path) if named.startswith("/") else None
    folder = posixpath.dirname(unit_path)
    return found or only_one(
        [one for one in others if posixpath.dirname(one.path) == folder and has_name(one.path, named)]
    )


def _matches(path: str, pattern: str) -> bool:
    """Return whether the end of a path matches a pattern of glob(7), in which no wildcard matches a slash."""
    wanted = pattern.strip("/").split("/")
    parts = path.strip("/").split("/")[-len(wanted) :]
    try:
        return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))
    except re.error:
        # Python before 3.12 does not accept [z-a].
        return False


def _has_root_of(unit_path: str, file: Text, pattern: str) -> bool:
    """Return whether a file that matches a pattern is on the host of the unit: inside the unit's file, or below the same root."""
    if file.path != file.target:
        return file.path == unit_path
    return unit_path.startswith(_root(file, pattern))


def _is_of_other_host(unit_path: str, file: Text, pattern: str) -> bool:
    return file.path == file.target and are_of_several_hosts(_root(file, pattern), root_of_unit(unit_path))


def _root(file: Text, pattern: str) -> str:
    """Return the folder below which a file matches a pattern."""
    above = file.path.split("/")[: -len(pattern.strip("/").split("/"))]
    return "".join(f"{folder}/" for folder in above)
