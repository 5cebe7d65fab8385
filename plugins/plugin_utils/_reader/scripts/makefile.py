# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read Makefiles as shell scripts: their variables and the commands of their recipes."""

from __future__ import annotations

import posixpath
import re

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line

_NAME = re.compile(r"^((GNU)?[Mm]akefile([._-].*)?|.*\.(mk|mak))$")
_ASSIGNMENT = re.compile(r"^ *(?:override +)?(export +)?([A-Za-z_]\w*) *(?:[?!:]|::)?= *(.*?) *(?:#.*)?$")
_INCLUDE = re.compile(r"^ *(?:-|s)?include +(\S*\.env\S*|\S*/\.?env)\s*$")
# All variables, those with these names, or those that a command prints.
_EXPORT = re.compile(r"^ *export\b([ \w]*|\s+\$\(.*)$")
_REFERENCE = re.compile(r"\$[({](\w+)[)}]")


def is_makefile(path: str) -> bool:
    """Return whether a file is a Makefile, by its name."""
    return _NAME.match(posixpath.basename(path)) is not None


def shell_lines(lines: list[Line]) -> list[Line]:
    """Return the assignments and the recipes as lines of a shell script; other lines are empty."""
    found: list[Line] = []
    exports_all = any(export[1].strip()[:1] in ("", "$") for line in lines if (export := _EXPORT.match(line.text)))
    continues = False
    for line in lines:
        assignment = None if continues or line.text.startswith("\t") else _ASSIGNMENT.match(line.text)
        if assignment:
            quote = "'" if '"' in assignment[3] else '"'
            prefix = "export " if assignment[1] or exports_all else ""
            text = f"{prefix}{assignment[2]}={quote}{assignment[3].strip(quote)}{quote}"
        elif line.text.startswith("\t") or continues:
            text = re.sub(r"^[\s@+-]*(?=[^\s@+-])", "", line.text) if not continues else line.text
        elif (included := _INCLUDE.match(line.text)) and exports_all:
            text = f". {included[1]}"
        else:
            text = line.text if _EXPORT.match(line.text) and not exports_all else ""
        continues = line.text.endswith("\\") and bool(text)
        text = _REFERENCE.sub(r"${\1}", text.replace("$$", "\0")).replace("\0", "$")
        found.append(line._replace(text=text))
    return found
