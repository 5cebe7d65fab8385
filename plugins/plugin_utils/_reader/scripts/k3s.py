# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the server of k3s or RKE2 that a script installs or starts, in the form of its config file."""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.command_line import split_words
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.shell.variables import constants_of, filled
from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line, logical_shell_lines

_MENTION = re.compile(r"k3s|rke2", re.IGNORECASE)
# The arguments for the installer.
_ARGUMENTS = re.compile(r"^INSTALL_(?:K3S|RKE2)_EXEC=(.*)$", re.DOTALL)
_ENDS = re.compile(r"^[;&|<>]")


def document_of(own: list[Line]) -> dict[str, Any] | None:
    """Return the first server with a setting of etcd; None without one, or if unknown words may set more."""
    constants = constants_of(own)
    for logical in logical_shell_lines(own):
        words = _server_arguments(filled(logical.text, constants)) if _MENTION.search(logical.text) else []
        if any(word.startswith(("$", "{{")) for word in words):
            continue
        flags = [word[len("--etcd-arg=") :] for word in words if word.startswith("--etcd-arg=")]
        flags += [after for word, after in zip(words, words[1:]) if word == "--etcd-arg"]
        arguments = {"etcd-arg": [f"--{flag.lstrip('-')}" for flag in flags]} if flags else {}
        starts = {"cluster-init": True} if {"--cluster-init", "--cluster-init=true"} & set(words) else {}
        if arguments or starts:
            return {**starts, **arguments}
    return None


def _server_arguments(text: str) -> list[str]:
    """Return the words of a command after `server`; empty for another command."""
    words = split_words(text)
    given = next((found[1] for word in words if (found := _ARGUMENTS.match(word))), None)
    words = words if given is None else split_words(given)
    if "server" not in words:
        return []
    start = 0 if given is not None else words.index("server")
    end = next((number for number in range(start, len(words)) if _ENDS.match(words[number])), len(words))
    return words[start:end]
