# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the config files of etcd that a script writes line by line, as in sudo sh -c "echo 'name: a' >> FILE" and echo 'name: a' | tee -a FILE."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents.template_outline import unknown
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.commands import commands_of
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.environment import unquote
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.variables import expand_line
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line

# One key of a config file, or of one of its sections, perhaps in quotes, and the file behind it.
_APPENDS = re.compile(
    r"(?:^|[\s;&\"'])(?:echo|printf)\s+(?:-[neE]+\s+)?(?P<quote>\\?[\"']|)(?P<text>\s*[a-z][a-z-]+:(?:\s[^\"'>|]*|))(?P=quote)\s*"
    r"(?:>>?|\|\s*(?:sudo\s+)?tee\s+(?:-a\s+|--append\s+)?)\s*\\?[\"']?(?P<path>[^\s\"';&|>\\]+)"
)
_MAY_APPEND = re.compile(r"\b(?:echo|printf)\b[^>|]*[a-z]:[^>|]*[>|]")
_LONGEST = 1_000


def files_of(own: list[Line], constants: dict[str, str]) -> dict[str, list[Line]]:
    """Return path → lines. A line in another branch than the file's first line has an unknown value."""
    # Most scripts have no such line, and are not split into commands.
    if not any(_MAY_APPEND.search(line.text[:_LONGEST]) for line in own):
        return {}
    files: dict[str, list[Line]] = {}
    branches: dict[str, tuple[int, ...]] = {}
    for line, target, branch in _appended(own, constants):
        is_certain = branches.setdefault(target, branch) == branch
        files.setdefault(target, []).append(line if is_certain else unknown(line))
    return files


def _appended(own: list[Line], constants: dict[str, str]) -> Iterator[tuple[Line, str, tuple[int, ...]]]:
    """Yield the lines with their targets, and the branches of conditions around them."""
    seen: set[Line] = set()
    for command in commands_of(own):
        first = command.source.lines[0]
        is_writer = any("echo" in word or "printf" in word for word in command.words)
        if not is_writer or first in seen or len(command.source.text) > _LONGEST:
            continue
        seen.add(first)
        for found in _APPENDS.finditer(command.source.text):
            text = found["text"].rstrip().removesuffix("\\n")
            line = Line(*command.source.position(text.strip()), text)
            known = {} if found["quote"] == "'" and '"' not in command.source.text else constants
            is_guarded = command.is_guarded or "&&" in command.source.text[: found.start()]
            guard = (-1,) if is_guarded else ()
            yield expand_line(line, known), unquote(found["path"]), (*command.blocks, *guard)
