# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Join what the hosts of a cluster found before a change of its release. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ansible_collections.etcdops.headroom.plugins.module_utils._base.versions import minor_key


@dataclass(frozen=True)
class HostBlockers:
    """The obstacles that one host found: to this step, and to later steps of an upgrade."""

    host: str
    step: Sequence[str]
    later: Sequence[str] = ()


def cluster_blockers(hosts: Sequence[HostBlockers]) -> list[str]:
    """Return the obstacles of all hosts, each once. One that every host has to this step comes without a host."""
    found: dict[str, None] = {}
    for own in hosts:
        for blocker in [*own.step, *own.later]:
            everywhere = all(blocker in other.step for other in hosts)
            found[blocker if everywhere else f"{own.host}: {blocker}"] = None
    return list(found)


def higher_members(started: Mapping[str, str], release: str) -> list[str]:
    """Return the members whose units start a higher minor version than ``release``, each with the release that its unit starts.

    started: that release by the member's name; empty if it is unknown.
    """
    limit = minor_key(release)
    return [f"{name} ({own})" for name, own in started.items() if minor_key(own) > limit]
