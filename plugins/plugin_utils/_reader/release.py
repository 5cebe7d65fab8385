# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the release of etcd that a script or a configuration of cloud-init downloads, since a command line does not state it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.source import Line

_NUMBER = r"v?(\d{1,3}\.\d{1,3}\.\d{1,3})"
_ARCHITECTURE = r"(?:-(?:amd64|arm64|ppc64le|s390x))?"
_VARIABLE = r"ETCD_?(?:VER|VERSION|RELEASE|TAG|IMAGE_TAG)"
# In a shell, the value unless the environment has another one.
_DEFAULT = r"(?:\$\{\w+:?[-=])?"
_END = r"\s*(?:\s#.*)?$"
_STATED = re.compile(
    rf"etcd/releases/download/{_NUMBER}/"
    rf"|^\s*(?:export\s+|Environment=[\"']?|-\s*|(?:ARG|ENV)\s+)?{_VARIABLE}[\"']?\s*[=:]\s*[\"']?{_DEFAULT}{_NUMBER}{_ARCHITECTURE}\}}?[\"']?{_END}"
    rf"|^\s*(?:-\s*)?ETCD_?(?:DOCKER_?)?IMAGE[\"']?\s*[=:]\s*[\"']?{_DEFAULT}[\w./:-]*/etcd:{_NUMBER}(?:-\d+)?{_ARCHITECTURE}\}}?[\"']?{_END}",
    re.IGNORECASE,
)
# The name of an archive or a package, which may also be that of an old one.
_ARCHIVE = re.compile(rf"\betcd-{_NUMBER}(?:/|-linux|-\d+[\w.]*\.rpm)", re.IGNORECASE)
# The same with a variable, and the variable's value.
_INDIRECT = re.compile(r"\betcd-v?(?:\{\{\s*(\w+)\s*\}\}|\$\{?(\w+)\}?)-linux", re.IGNORECASE)
_ASSIGNMENT = re.compile(
    rf"^\s*(?:export\s+|-\s*)?(\w+)[\"']?\s*[=:]\s*[\"']?{_DEFAULT}{_NUMBER}\}}?[\"']?{_END}", re.IGNORECASE
)
# Another variable's value, as in ETCD_VER="${version}".
_ALIAS = re.compile(r"^\s*(?:export\s+|local\s+|readonly\s+)?(\w+)=[\"']?\$\{?(\w+)\}?[\"']?\s*(?:;|$)")


def find_release(lines: Iterable[Line]) -> tuple[str, Line] | None:
    """Return the release with its line; None if the file names none or several."""
    kept = [line for line in lines if not line.text.lstrip().startswith("#")]
    for found in (_named(_STATED, kept), _by_variable(kept), _named(_ARCHIVE, kept)):
        if found:
            return next(iter(found.items())) if len(found) == 1 else None
    return None


def _named(pattern: re.Pattern[str], lines: list[Line]) -> dict[str, Line]:
    found: dict[str, Line] = {}
    for line in lines:
        for match in pattern.finditer(line.text):
            found.setdefault(next(filter(None, match.groups())), line)
    return found


def _by_variable(lines: list[Line]) -> dict[str, Line]:
    """Return the values of the variables that stand for the release in the name of an archive."""
    names = {match[1] or match[2] for line in lines for match in _INDIRECT.finditer(line.text)}
    names |= {match[2] for line in lines if (match := _ALIAS.match(line.text)) and match[1] in names}
    assigned = [(match, line) for line in lines if (match := _ASSIGNMENT.match(line.text)) and match[1] in names]
    return {match[2]: line for match, line in reversed(assigned)}
