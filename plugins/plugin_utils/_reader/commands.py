# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read files whose lines name the commands that a supervisor runs: a Procfile, and the programs of supervisord."""

from __future__ import annotations

import posixpath
import re

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.source import Line

_PROCESS = re.compile(r"^[\w.-]+:\s*(.+)$")
_PROGRAM = re.compile(r"^\s*command\s*=\s*(.+)$")


def commands_of(path: str, lines: list[Line]) -> list[Line]:
    """Return the commands, each with its line; empty for another file."""
    if posixpath.basename(path).startswith("Procfile"):
        pattern = _PROCESS
    elif any(line.text.startswith("[program:") for line in lines):
        pattern = _PROGRAM
    else:
        return []
    return [line._replace(text=found[1]) for line in lines if (found := pattern.match(line.text))]
