# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Defragment this host's member, from its timer."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.decision import Thresholds
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.one_member import Request
from ansible_collections.etcdops.headroom.plugins.module_utils._defrag.rolling import run_defrag
from ansible_collections.etcdops.headroom.plugins.module_utils._maintenance.configuration import Config


def run(config: Config, check: bool) -> dict[str, Any]:
    """Defragment this host's member if it is worthwhile and possible. Returns the record. Raises ValueError."""
    section = config.defrag
    request = Request(
        endpoints=config.endpoints,
        member=config.member,
        all_members=False,
        thresholds=Thresholds(section.free_share, section.free_size),
        pause=section.pause,
        wait=section.wait,
        timeout=section.timeout,
        raise_memory=section.raise_memory,
        unit=config.unit,
        data_dir=config.data_dir,
    )
    (outcome,) = run_defrag(request, config.connection, check=check)
    return asdict(outcome)
