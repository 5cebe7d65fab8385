# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the texts in modules of NixOS, such as a cloud-config. What the options of a module mean, only Nix knows."""

from __future__ import annotations

import re

from ansible_collections.etcdops.headroom.plugins.plugin_utils._reader.text.lines import Line

_OPTIONS = re.compile(r"\bservices\.etcd\b|^\s*(services\s*=\s*\{[^}]*\b)?etcd\s*=\s*\{", re.MULTILINE)


def has_options(text: str) -> bool:
    """Return whether a module sets options of etcd."""
    return _OPTIONS.search(text) is not None


def texts_of(lines: list[Line]) -> list[list[Line]]:
    """Return the indented strings of a file in Nix, from '' to '', with several lines each."""
    texts: list[list[Line]] = []
    body: list[Line] | None = None
    for line in lines:
        marks = len(re.findall(r"(?<!')''(?!['$\\])", line.text))
        if body is None and marks % 2:
            body = []
        elif body is not None and marks % 2:
            texts.append(_dedented(body))
            body = None
        elif body is not None:
            body.append(line)
    return [text for text in texts if text]


def _dedented(lines: list[Line]) -> list[Line]:
    margin = min((len(line.text) - len(line.text.lstrip()) for line in lines if line.text.strip()), default=0)
    return [line._replace(text=line.text[margin:]) for line in lines]
