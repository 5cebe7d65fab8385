# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the modules of the maintenance program, and compute the digest of a copy of them. Reads only."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Mapping

# Text and mode of each file, by path.
Files = dict[str, tuple[str, int]]

PACKAGE = __name__.rsplit(".", 2)[0]
PROGRAM = f"{PACKAGE}._maintenance.program"
# The module and, in parentheses or not, the names that it imports from there.
_IMPORT = re.compile(rf"^[ \t]*from ({re.escape(PACKAGE)}\S*) import (\([^)]*\)|.*)", re.MULTILINE)
_TOP = PACKAGE.split(".", maxsplit=1)[0]


def imported_sources(source_of: Callable[[str], str | None]) -> dict[str, str]:
    """Return the source of the program and of each module of this collection that it imports, by name.

    source_of: returns the source of a module, None for the name of anything else, such as a package or a function.
    """
    found: dict[str, str] = {}
    waiting = [PROGRAM]
    while waiting:
        name = waiting.pop()
        source = None if name in found else source_of(name)
        if source is None:
            continue
        found[name] = source
        for package, names in _IMPORT.findall(source):
            waiting += [package, *(f"{package}.{part}" for part in re.findall(r"\w+", names))]
    return found


def source_on_controller(name: str) -> str | None:
    """Return the source of a module of the collection as it is installed on the controller. For imported_sources."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = os.path.join(folder, *name[len(PACKAGE) + 1 :].split(".")) + ".py"
    if not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8") as stream:
        return stream.read()


def module_files(sources: Mapping[str, str], lib_dir: str) -> Files:
    """Return the files of the program's modules.

    Each directory above the modules is a package of its own, so that no other ansible_collections on the host is found.
    """
    found: Files = {}
    for name, text in sorted(sources.items()):
        found[os.path.join(lib_dir, *name.split(".")) + ".py"] = (text, 0o644)
        directory = lib_dir
        for part in name.split(".")[:-1]:
            directory = os.path.join(directory, part)
            found[os.path.join(directory, "__init__.py")] = ("", 0o644)
    return found


def copied_paths(lib_dir: str) -> list[str]:
    """Return the paths of all modules below the directory, those of earlier versions included."""
    folders = os.walk(os.path.join(lib_dir, _TOP))
    return sorted(
        os.path.join(folder, name) for folder, dummy, names in folders for name in names if name.endswith(".py")
    )


def digest(files: Files, lib_dir: str) -> str:
    """Return the SHA-256 of the paths below the directory, modes and texts of files."""
    total = hashlib.sha256()
    for path, (text, mode) in sorted(files.items()):
        content = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        total.update(f"{os.path.relpath(path, lib_dir)} {mode:o} {content}\n".encode())
    return total.hexdigest()
