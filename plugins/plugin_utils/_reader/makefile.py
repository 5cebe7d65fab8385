# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read Makefiles as shell scripts: their variables and the commands of their recipes."""

from __future__ import annotations

import posixpath
import re

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.source import Line

_NAME = re.compile(r"^((GNU)?[Mm]akefile([._-].*)?|.*\.(mk|mak))$")
_ASSIGNMENT = re.compile(r"^ *(?:override +)?(export +)?([A-Za-z_]\w*) *(?:[?!:]|::)?= *(.*?) *(?:#.*)?$")
_REFERENCE = re.compile(r"\$[({](\w+)[)}]")


def is_makefile(path: str) -> bool:
    """Tell whether a file is a Makefile, by its name."""
    return _NAME.match(posixpath.basename(path)) is not None


def shell_lines(lines: list[Line]) -> list[Line]:
    """Return the assignments and the recipes as lines of a shell script; other lines are empty."""
    found: list[Line] = []
    continues = False
    for line in lines:
        assignment = None if continues or line.text.startswith("\t") else _ASSIGNMENT.match(line.text)
        if assignment:
            quote = "'" if '"' in assignment[3] else '"'
            text = f"{assignment[1] or ''}{assignment[2]}={quote}{assignment[3].strip(quote)}{quote}"
        elif line.text.startswith("\t") or continues:
            text = re.sub(r"^[\s@+-]*(?=[^\s@+-])", "", line.text) if not continues else line.text
        else:
            text = ""
        continues = line.text.endswith("\\") and bool(text)
        text = _REFERENCE.sub(r"${\1}", text.replace("$$", "\0")).replace("\0", "$")
        found.append(line._replace(text=text))
    return found
