# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose the file that another file names by its path on a host, such as the environment file of a unit."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.recognize import Text

# Where systemd and Podman look for units.
_OF_UNITS = re.compile(r"^(?P<root>(?:.*?/)??)(?:etc|run|(?:usr/(?:local/)?)?lib|usr/share)/(?:containers/)?systemd/")
# A role or cookbook has files and templates of one host in two folders.
_SOURCE = re.compile(r"(?:files|templates)/(?:default/)?$")
# Of a path, relative or absolute.
_START = re.compile(r"^(\.{0,2}/)+")


def find_named(files: Sequence[Text], named: str, user: str) -> Text | None:
    """Return the file that the file ``user`` names: as find_at, or the only one of that name. None if several may be meant."""
    files = [file for file in files if not _is_of_other_host(file, named, user)]
    return find_at(files, named, user) or only_one([file for file in files if has_name(file.target, named)])


def find_at(files: Sequence[Text], named: str, user: str) -> Text | None:
    """Return the file at the path that the file ``user`` names: inside the same file, below the same root, or the only one below any root."""
    below = [file for file in files if _is_at(file.target, named) and not _is_of_other_host(file, named, user)]
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


def root_of_unit(path: str) -> str | None:
    """Return the folder that stands for the root of a unit's host: host1/ for host1/etc/systemd/system/etcd.service. None if it is unknown."""
    found = _OF_UNITS.match(path)
    return found["root"] if found else None


def are_of_several_hosts(root: str | None, other: str | None) -> bool:
    """Return whether two roots are those of several hosts: each has files that the other one has not. A root around the other one may be that of all hosts."""
    if root is None or other is None:
        return False
    first, second = (_SOURCE.sub("", known) for known in (root, other))
    return not first.startswith(second) and not second.startswith(first)


def _is_of_other_host(file: Text, named: str, user: str) -> bool:
    """Return whether a file is at the path that a unit names, but below the root of another host."""
    is_outside = file.path == file.target and named.startswith("/") and _is_at(file.path, named)
    return is_outside and are_of_several_hosts(_root(file.path, named), root_of_unit(user))


def _root(path: str, named: str) -> str:
    """Return the folder below which a file has the path that is named: root/ for root/etc/etcd.env and /etc/etcd.env."""
    return path[: -len(_START.sub("", named))]
