# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the request of the playbooks scale and replace. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Request:
    """The request of the playbook.

    replace: names of members to replace. replace_healthy: also healthy ones. replace_again: also those that were
    replaced before. remove: names of members that may be removed. allow_even: an even
    number of voting members is accepted. version: the release that the inventory asks for.
    """

    replace: Sequence[str] = ()
    replace_healthy: bool = False
    replace_again: bool = False
    remove: Sequence[str] = ()
    allow_even: bool = False
    version: str = ""


def parse_request(given: Mapping[str, Any]) -> Request:
    """Parse the request of a playbook; names may be a list or separated by commas. Raises ValueError."""
    return Request(
        replace=_names(given.get("replace"), "etcd_replace"),
        replace_healthy=_flag(given.get("replace_healthy")),
        replace_again=_flag(given.get("replace_again")),
        remove=_names(given.get("remove"), "etcd_scale_remove"),
        allow_even=_flag(given.get("allow_even")),
        version=str(given.get("version") or ""),
    )


def _names(value: Any, what: str) -> list[str]:
    items = value.split(",") if isinstance(value, str) else ([] if value is None else value)
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise ValueError(f"{what} is {value!r}, but must be a list of members' names, such as ['etcd-5']")
    return [item.strip() for item in items if item.strip()]


def _flag(value: Any) -> bool:
    return value if isinstance(value, bool) else str(value).strip().lower() in ("true", "yes", "on", "1")
