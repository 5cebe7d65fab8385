# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the release of etcd that a script or a configuration of cloud-init downloads, since a command line does not state it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.source import Line

_NUMBER = r"v?(\d{1,3}\.\d{1,3}\.\d{1,3})"
_STATED = re.compile(
    rf"etcd/releases/download/{_NUMBER}/"
    rf"|^\s*(?:export\s+|Environment=[\"']?|-\s*|(?:ARG|ENV)\s+)?ETCD_?(?:VER|VERSION|RELEASE|TAG|IMAGE_TAG)[\"']?\s*[=:]\s*[\"']?{_NUMBER}[\"']?\s*$",
    re.IGNORECASE,
)
# The name of an archive, which may also be that of an old one.
_ARCHIVE = re.compile(rf"\betcd-{_NUMBER}(?:/|-linux)", re.IGNORECASE)


def find_release(lines: Iterable[Line]) -> tuple[str, Line] | None:
    """Return the release with its line; None if the file names none or several."""
    kept = [line for line in lines if not line.text.lstrip().startswith("#")]
    for pattern in (_STATED, _ARCHIVE):
        found: dict[str, Line] = {}
        for line in kept:
            for match in pattern.finditer(line.text):
                found.setdefault(next(filter(None, match.groups())), line)
        if found:
            return next(iter(found.items())) if len(found) == 1 else None
    return None
