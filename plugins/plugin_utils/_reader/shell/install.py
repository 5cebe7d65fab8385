# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Return whether a script or a playbook installs etcd's server from an archive, rather than etcdctl alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.command_line import split_words
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.variables import constants_of, filled
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line, logical_shell_lines

_ARCHIVE = re.compile(r"etcd/releases/download/|storage\.googleapis\.com/etcd/|\betcd-[^\s/]*(linux|darwin)")
# A command that unpacks an archive.
_UNPACKS = re.compile(r"\b(tar|bsdtar|unzip)\s")
_CLIENT = re.compile(r"\betcd(ctl|utl)\b")
_BACKUP = re.compile(r"\betcd(ctl|utl)\s.*\bsnapshot\s+(save|restore)\b")
# The program, perhaps with its companions (etcd*), but not its folders.
_SERVER = re.compile(r"(?!(/(etc|opt|srv|data|home|root)|.*/lib|.*/log)/etcd$)(.*[/,{])?etcd\*?([,}].*)?$")
# Its unit, of any name that contains etcd's.
_UNIT = re.compile(r"(^|[/-])etcd[\w@-]*\.service$")
_MESSAGE = re.compile(r"^\s*(echo|printf|log\w*|info|print)\s")
_FILES = re.compile(r"(^|[\s;&|(])(sudo\s+)?(mv|cp|install|ln|tar|chmod|unzip)\s")
_WITH_TARGET = re.compile(r"(^|.*[;&|]\s*)(sudo\s+)?(mv|cp|ln|install)\s")
# Options of tasks that name no program.
_OTHER_OPTIONS = {"group", "msg", "name", "notify", "owner", "register", "tags", "user", "when"}


def of_script(own: list[Line]) -> bool:
    """Return whether a script unpacks an archive of etcd, and uses more of it than etcdctl."""
    constants = constants_of(own)
    commands = [
        filled(logical.text, constants) for logical in logical_shell_lines(own) if not _MESSAGE.match(logical.text)
    ]
    if not any(map(_ARCHIVE.search, commands)) or not any(map(_UNPACKS.search, commands)):
        return False
    return not any(_CLIENT.search(command) for command in commands) or any(map(_handles_server, commands))


def of_client(own: Iterable[Line]) -> bool:
    """Return whether a script unpacks an archive of etcd for a backup or its restoration: the release is that of etcdctl."""
    commands = [logical.text for logical in logical_shell_lines(own)]
    return any(map(_BACKUP.search, commands)) and not any(map(_handles_server, commands))


def _handles_server(command: str) -> bool:
    """Return whether a command names the program: as a file that it copies or unpacks, or by a path."""
    words = split_words(command)
    # The last word may be a folder.
    words = words[:-1] if _WITH_TARGET.match(command) else words
    return any(_SERVER.match(word) and ("/" in word or _FILES.search(command)) for word in words) or bool(
        _FILES.search(command) and any(map(_UNIT.search, words))
    )


def of_tasks(documents: Iterable[Any]) -> bool:
    """Return whether tasks of Ansible unpack an archive of etcd, and use more of it than etcdctl."""
    texts = [text for document in documents if isinstance(document, list) for text in _texts(document)]
    unpacks = any(text.endswith("unarchive") or _UNPACKS.search(text) for text in texts)
    if not unpacks or not any(map(_ARCHIVE.search, texts)):
        return False
    return not any(map(_CLIENT.search, texts)) or any(_SERVER.match(text) or _handles_server(text) for text in texts)


def _texts(value: Any) -> Iterator[str]:
    """Return the names of modules and the texts in their options."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            options = {name: inner for name, inner in item.items() if name not in _OTHER_OPTIONS}
            pending += [*options, *options.values()]
        elif isinstance(item, list):
            pending += item
