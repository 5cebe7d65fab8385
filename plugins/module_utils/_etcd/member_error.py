# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The error of an operation on a member, with what its module returns in addition. Private to the collection."""

from __future__ import annotations

from typing import Any


class MemberError(ValueError):
    """A member cannot be changed, or does not serve. The text says why; results: what the module returns in addition."""

    def __init__(self, text: str, **results: Any) -> None:
        super().__init__(text)
        self.results = results
