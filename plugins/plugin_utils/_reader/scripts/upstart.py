# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read jobs of upstart, such as /etc/init/etcd.conf, as shell scripts: their variables, and the command or the script that runs."""

from __future__ import annotations

import re

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line

_BEGINS = re.compile(
    r"(author|console|description|emits|env|expect|export|instance|kill|limit|manual|respawn|set[ug]id|start|stop|task|umask|usage|version)\b(?!\s*=)"
)
_EVENT = re.compile(r"^(start|stop)\s+on\s", re.MULTILINE)
_RUNS = re.compile(r"^(exec\s|script\s*$)", re.MULTILINE)
_STANZA = re.compile(r"^(env|exec)\s+(.*)$")
_SCRIPT = re.compile(r"^((?:(?:pre|post)-(?:start|stop)\s+)?script)\s*$")
_END = re.compile(r"^\s*end\s+script\s*$")


def is_job(text: str) -> bool:
    """Return whether a text is a job of upstart: it begins as one, rather than as a script that writes one, and has an event and something to run."""
    begins = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    return (
        _BEGINS.match(begins) is not None
        and not text.startswith("#!")
        and _EVENT.search(text) is not None
        and _RUNS.search(text) is not None
    )


def shell_lines(lines: list[Line]) -> list[Line]:
    """Return the variables and what runs as lines of a shell script; other lines are empty, such as those of pre-start."""
    found: list[Line] = []
    block = ""
    continues = False
    for line in lines:
        opening = None if block or continues else _SCRIPT.match(line.text)
        stanza = None if block or continues else _STANZA.match(line.text)
        text = ""
        if opening:
            block = opening[1]
        elif block and _END.match(line.text):
            block = ""
        elif block == "script" or continues:
            text = line.text
        elif stanza and stanza[1] == "exec":
            text = stanza[2]
        elif stanza and "=" in stanza[2]:
            # A job passes its variables to what it runs.
            text = f"export {stanza[2]}"
        continues = text.endswith("\\") and not block
        found.append(line._replace(text=text))
    return found
