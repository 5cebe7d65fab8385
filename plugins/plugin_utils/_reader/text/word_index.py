# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Index the words of a file that may be settings by their lines."""

from __future__ import annotations

import re

_COMMENT = re.compile(r"^\s*(#|;|//).*$|\s#.*$")
# A key of YAML or JSON, a flag, a variable of the environment or of Ansible, and a name before `=`.
_WORDS = re.compile(
    r"""(?:^|[\s{,\[-])["']?(?:[\w.-]*\.)?([A-Za-z_][\w-]*)["']?\s*:(?=\s|$|")"""
    r"""|(?:^|[\s"'\[,(])--?([A-Za-z][\w-]*)"""
    r"""|\b([A-Z][A-Z0-9_]{3,})\b"""
    r"""|\b([A-Za-z_][\w-]*)\s*="""
)
# extraArgs of Kubernetes has the setting in the value of `name:`.
_NAME = re.compile(r"""\bname["']?\s*:\s*["']?([A-Za-z][\w-]*)""")


def index_words(text: str, first: int = 1) -> dict[str, list[int]]:
    """Return word → its lines, in their order, without comments."""
    found: dict[str, list[int]] = {}
    for number, line in enumerate(text.splitlines(), first):
        code = _COMMENT.sub("", line)
        words = {word for groups in _WORDS.findall(code) for word in groups if word} | set(_NAME.findall(code))
        for word in words:
            found.setdefault(word, []).append(number)
    return found
