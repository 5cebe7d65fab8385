# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recognize scripts: by their first line, by here-documents, by commands that start etcd, or by the name of their file or key."""

from __future__ import annotations

import re

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.documents.ansible_yaml import SCRIPTS
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.recognize import Text, first_server_setting
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.scripts import appended, script
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import lines_of

_SCRIPT = re.compile(r"\A#!.*\b(ba|da|z|k)?sh\b|^[^#\n]*<<[-~]?\s*\\?['\"]?[A-Z_]{3,}['\"]?", re.MULTILINE)
_HERE_DOCUMENT = re.compile(r"^[^#\n]*<<-?\s*\\?['\"]?[A-Z_]{3,}['\"]?", re.MULTILINE)
_COMMANDS = re.compile(
    r"^\s*(\$\s+|sudo\s+)*((docker|podman|nerdctl)[ \t]+run|(exec[ \t]+|nohup[ \t]+)?([\w./-]*/)?etcd[ \t]+-|(sed|echo|printf)[ \t].*ETCD_[A-Z_]+=)",
    re.MULTILINE,
)
# A line that only runs etcd, in a file that sets variables of etcd for it.
_SETS_VARIABLE = re.compile(r"^(env|export)[ \t]+ETCD_[A-Z_]+=", re.MULTILINE)
_RUNS_ALONE = re.compile(r"^[ \t]*(exec[ \t]+)?/[\w./-]+/etcd[ \t]*$", re.MULTILINE)
_SHELL_FILE = re.compile(r"\.(ba|z|k)?sh$")
_RUNS_IMAGE = re.compile(r"\b(docker|podman|nerdctl)[ \t]+run\b.*/etcd:")


def is_script(text: str) -> bool:
    """Return whether a text is a script by its first line or a here-document."""
    return _SCRIPT.search(text) is not None


def has_here_document(text: str) -> bool:
    """Return whether a text has a here-document of a shell."""
    return _HERE_DOCUMENT.search(text) is not None


def has_commands(text: str) -> bool:
    """Return whether a text has a line that starts etcd or a container, or that writes a variable of etcd."""
    runs_alone = _SETS_VARIABLE.search(text) and _RUNS_ALONE.search(text)
    return bool(_COMMANDS.search(text) or runs_alone)


def runs_image(text: str) -> bool:
    """Return whether a text has a line that starts a container with an image of etcd."""
    return _RUNS_IMAGE.search(text) is not None


def mentioned_in(path: str, text: str) -> str:
    """Return the first setting of a server in a file, with its line, but none of the help text that a script prints."""
    return first_server_setting(script.without_help(lines_of(path, text)) if is_script(text) else text)


def starts_etcd(file: Text) -> bool:
    """Return whether a text is a script by its name or place and starts etcd, perhaps without flags; or is one by its name and installs etcd."""
    is_named = _SHELL_FILE.search(file.target) is not None
    if not (is_named or file.target in SCRIPTS or file.text.startswith("#!")) or "etcd" not in file.text:
        return False
    is_writer = is_named and bool(appended.files_of(file.lines, {}))
    return (
        is_writer
        or bool(script.members_of(file.lines))
        or (is_named and script.served_elsewhere(file.lines) is not None)
    )
