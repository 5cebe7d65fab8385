# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the versions that members and programs report, known releases or not. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MINOR = re.compile(r"(\d+)\.(\d+)(?:\.|$)")
_PARTS = re.compile(r"\d+|[^\d.]+")


def minor(version: str) -> str:
    """Return the minor version: "3.6" of "3.6.16". Other text is returned up to its second dot."""
    return ".".join(version.split(".")[:2])


def minor_key(version: str) -> tuple[int, ...]:
    """Return the minor version as integers that compare: (3, 6) of "3.6.16"; () for other text, such as "not_decided"."""
    match = _MINOR.match(version)
    return tuple(int(part) for part in match.groups()) if match else ()


def newest(versions: Iterable[str]) -> str:
    """Return the newest version, empty without versions. Numbers compare as numbers: 3.10.0 is newer than 3.9.0.

    The suffix of a custom build counts as newer than its release, as in Ansible's test ``version``. Of equal versions, the first one.
    """
    return max(filter(None, versions), key=_order, default="")


def _order(version: str) -> list[tuple[bool, int, str]]:
    """Return the parts of a version in a form that compares. Text is older than a number in its place."""
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in _PARTS.findall(version)]
