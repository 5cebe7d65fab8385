# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuse to start members with a quota that a database reaches: etcd refuses all writes above it. Pure.

Quotas are in bytes. 0 means etcd's default, and a negative one limits nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from ansible_collections.etcdops.headroom.plugins.module_utils._base.units import format_size, format_sizes_distinctly
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.database_space import is_below_quota
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.settings import DEFAULT_QUOTA

_REMEDY = "State the workload as it is today, or set etcd_quota_backend_bytes"


def full_quota_problem(what: str, size: int, quota: int | None) -> str:
    """Return why a new member must not start with a database of this size in bytes; empty if it may, or if the quota is unknown (None).

    what: names the database in the message.
    """
    limit = DEFAULT_QUOTA if quota == 0 else quota
    if limit is None or limit < 0 or size < limit:
        return ""
    has, allowed = format_sizes_distinctly(size, limit)
    return f"{what} has {has}, and the quota would be {allowed}: etcd would refuse all writes. {_REMEDY}"


def lowered_quota_problem(planned: int, running: int | None, sizes: Mapping[str, int]) -> str:
    """Return why running members must not be started with a lower quota; empty if they may.

    running: None if it is unknown; then nothing is refused, because a member that already has the quota must stay repairable. sizes:
    member → bytes of its database file.
    """
    largest = _full_member(planned, running, sizes)
    if not largest:
        return ""
    return (
        f"would get a quota of {_describe(planned)} (now {_describe(running)}), and the database of {largest} has {format_size(sizes[largest])}: "
        f"etcd would refuse all writes above the quota. {_REMEDY}, or compact and defragment first. Nothing was changed."
    )


def later_quota_problem(planned: int, before: int | None, sizes: Mapping[str, int]) -> str:
    """Return why a later step of an upgrade must not lower the quota; empty if it may.

    before: the quota that the step before it sets. sizes: as in ``lowered_quota_problem``, today.
    """
    largest = _full_member(planned, before, sizes)
    if not largest:
        return ""
    return (
        f"the quota falls from {_describe(before)} to {_describe(planned)}, and the database of {largest} has {format_size(sizes[largest])}: etcd "
        f"would refuse all writes above the quota. {_REMEDY}, or compact and defragment first"
    )


def _full_member(planned: int, before: int | None, sizes: Mapping[str, int]) -> str:
    """Return the member with the largest database if a lower quota would be too low for it; empty if none is."""
    limit = planned or DEFAULT_QUOTA
    if limit < 0 or before is None or 0 <= (before or DEFAULT_QUOTA) <= limit or not sizes:
        return ""
    largest = max(sizes, key=lambda member: sizes[member])
    return "" if is_below_quota(sizes[largest], limit) else largest


def _describe(quota: int | None) -> str:
    return "no limit" if (quota or 0) < 0 else format_size(quota or DEFAULT_QUOTA)
