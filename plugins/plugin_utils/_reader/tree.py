# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the files below the paths that the user named."""

from __future__ import annotations

import codecs
import os
import re
import stat
from collections.abc import Iterable
from typing import NamedTuple

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents import dot_env
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.recognize import DOCUMENT

# A configuration that a person wrote is smaller.
_LARGEST = 16 * 1024 * 1024
# What Ansible ignores in an inventory's folder, and the folders of version control.
_IGNORED = re.compile(r"(^|/)(\.git|\.hg|\.svn|__pycache__|node_modules)(/|$)|(\.(orig|bak|retry|swp|pyc|pyo)|~)$")


class Tree(NamedTuple):
    """The files below the paths that a user named.

    - texts: path → text
    - problems: path → why a file could not be read, or why no other program can read it
    - named: the paths of files that the user named
    - beside: path → text of each .env in the folder of a Compose file, if it is not among the texts
    - empty_folders: folders that contain no file, or only such as are ignored
    """

    texts: dict[str, str]
    problems: dict[str, str]
    named: set[str]
    beside: dict[str, str]
    empty_folders: set[str]


def collect(paths: Iterable[str], ignore: str = "") -> Tree:
    """Read the files below paths. Folders are searched for files, hidden ones included, in the order of their names."""
    tree = Tree({}, {}, set(), {}, set())
    pattern = re.compile(ignore) if ignore else None
    for path in paths:
        if not os.path.isdir(path):
            tree.named.add(os.path.normpath(path))
        for file in [path] if not os.path.isdir(path) else _files_below(path, tree):
            name = os.path.normpath(file)
            if not (pattern and pattern.search(name)):
                _add(tree, name)
    for name in {dot_env.beside(path) for path, text in tree.texts.items() if dot_env.is_compose(path, text)}:
        if name not in tree.texts and os.path.isfile(name) and not (pattern and pattern.search(name)):
            # Nobody named it, so nobody hears of it if it cannot be read.
            found = Tree(tree.beside, {}, set(), {}, set())
            _add(found, name)
    return tree


def _files_below(folder: str, tree: Tree) -> list[str]:
    """Return the files below a folder. Links are followed, but not into a folder around them: that would never end."""
    found = []
    around = {folder: {_identity(folder)}}

    def report(error: OSError) -> None:
        tree.problems[os.path.normpath(error.filename)] = error.strerror or str(error)

    for parent, folders, files in os.walk(folder, followlinks=True, onerror=report):
        above = around.pop(parent)
        inner = {name: _identity(os.path.join(parent, name)) for name in folders if not _IGNORED.search(name)}
        folders[:] = sorted(name for name, identity in inner.items() if identity not in above)
        around.update({os.path.join(parent, name): {*above, inner[name]} for name in folders})
        read = [name for name in sorted(files) if not _IGNORED.search(name)]
        found += [os.path.join(parent, name) for name in read]
        if not read and not folders:
            tree.empty_folders.add(os.path.normpath(parent))
    units = {path for path in found if path.endswith(".service") and not os.path.islink(path)}
    return [path for path in found if not _is_alias(path, units)]


def _identity(folder: str) -> tuple[int, int] | str:
    """Return what tells a folder from all others, whatever its path; the path if that is not known."""
    try:
        status = os.stat(folder)
    except OSError:
        return folder
    return status.st_dev, status.st_ino


def _is_alias(path: str, units: set[str]) -> bool:
    """Return whether a path is a link that systemctl makes to a unit among the files: an alias, or one to enable the unit."""
    if not path.endswith(".service") or not os.path.islink(path):
        return False
    enables = os.path.dirname(path).endswith((".wants", ".requires"))
    # Of a copy of /etc, the link leads to another place.
    same_name = enables and any(os.path.basename(unit) == os.path.basename(path) for unit in units)
    return same_name or os.path.realpath(path) in map(os.path.realpath, units)


def _add(tree: Tree, path: str) -> None:
    try:
        status = os.stat(path)
        # A pipe that the user names, such as <(command), has a writer; reading one that lies in a folder may block for ever.
        if not stat.S_ISREG(status.st_mode) and path not in tree.named:
            tree.problems[path] = "it is a pipe, a socket or a device"
            return
        if status.st_size > _LARGEST:
            tree.problems[path] = f"it has {status.st_size:,} bytes, over the limit of {_LARGEST:,}"
            return
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        tree.problems[path] = error.strerror or str(error)
        return
    _add_text(tree, path, content)


def _add_text(tree: Tree, path: str, content: bytes) -> None:
    """Add the text of a file. systemd and shells read settings beside a comment of any encoding, so such a file is read as well."""
    try:
        tree.texts[path] = content.decode("utf-8-sig")
        return
    except UnicodeDecodeError:
        pass
    is_utf_16 = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if b"\0" in content and not is_utf_16:
        tree.problems[path] = "it is not UTF-8 text"
        return
    tree.texts[path] = content.decode("utf-16" if is_utf_16 else "utf-8", errors="replace")
    if DOCUMENT.search(path):
        tree.problems[path] = "it is not UTF-8 text, as YAML and JSON must be: save it as UTF-8"
