# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose the file that another file names by its path on a host, such as the environment file of a unit."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.recognize import Text

# Of a path, relative or absolute.
_START = re.compile(r"^(\.{0,2}/)+")


def find_named(files: Sequence[Text], named: str, user: str) -> Text | None:
    """Return the file that the file ``user`` names: as find_at, or the only one of that name. None if several may be meant."""
    return find_at(files, named, user) or only_one([file for file in files if has_name(file.target, named)])


def find_at(files: Sequence[Text], named: str, user: str) -> Text | None:
    """Return the file at the path that the file ``user`` names: inside the same file, below the same root, or the only one below any root."""
    below = [file for file in files if _is_at(file.target, named)]
    inside = [file for file in below if file.path == user]
    beside = [file for file in below if file.path == file.target and user.startswith(_root(file.path, named))]
    return only_one(inside, beside, below)


def only_one(*candidates: Sequence[Text]) -> Text | None:
    """Return the file of the first list that has exactly one; None if none has."""
    return next((files[0] for files in candidates if len(files) == 1), None)


def has_name(path: str, named: str) -> bool:
    """Return whether a file has the name of the named one, in whatever folder."""
    return posixpath.basename(path) == posixpath.basename(named)


def _is_at(path: str, named: str) -> bool:
    """Return whether a file may be the named one below some root: etc/etcd.env and root/etc/etcd.env may be /etc/etcd.env."""
    return f"/{path}".endswith(f"/{_START.sub('', named)}")


def _root(path: str, named: str) -> str:
    """Return the folder below which a file has the path that is named: root/ for root/etc/etcd.env and /etc/etcd.env."""
    return path[: -len(_START.sub("", named))]
