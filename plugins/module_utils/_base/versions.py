# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the versions that members and programs report, known releases or not. Pure."""

from __future__ import annotations

import re

_MINOR = re.compile(r"(\d+)\.(\d+)(?:\.|$)")


def minor(version: str) -> str:
    """Return the minor version: "3.6" of "3.6.16". Other text is returned up to its second dot."""
    return ".".join(version.split(".")[:2])


def minor_key(version: str) -> tuple[int, ...]:
    """Return the minor version as integers that compare: (3, 6) of "3.6.16"; () for other text, such as "not_decided"."""
    match = _MINOR.match(version)
    return tuple(int(part) for part in match.groups()) if match else ()
