# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read files that have nothing but flags of etcd, one a line, such as args/etcd of MicroK8s."""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader import member
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.command_line import (
    SERVER_FLAG,
    Command,
    split_words,
)
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line

_FLAG = re.compile(r"^\s*(--?[a-z][\w-]*)(?=[=\s]|$)")


def is_list(lines: list[Line]) -> bool:
    """Return whether each line is a flag, and one of them is a flag of etcd's server."""
    flags = [_FLAG.match(line.text) for line in _with_text(lines)]
    return all(flags) and any(flag and SERVER_FLAG.match(flag[1]) for flag in flags)


def member_of(lines: list[Line]) -> dict[str, Any]:
    """Return the member that some program starts with these flags, and perhaps with more."""
    flags = _with_text(lines)
    words = [word for line in flags for word in split_words(line.text)]
    where = {
        f"--{found[1].lstrip('-')}": (line.path, line.number) for line in flags if (found := _FLAG.match(line.text))
    }
    built = member.build("list of flags", Command(("etcd", *words)), where=where)
    return {**built, "silent": ["extra_config"]}


def _with_text(lines: list[Line]) -> list[Line]:
    return [line for line in lines if line.text.strip() and not line.text.lstrip().startswith("#")]
