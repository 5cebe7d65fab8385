# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Describe the member that the current config file of etcd names, for a comparison with the inventory."""

from __future__ import annotations

import os
from typing import Any

from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.config_file import (
    configured_value,
    corruption_checks,
)
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.member_identity import read_identity
from ansible_collections.etcdops.headroom.plugins.module_utils._storage.wal_move import member_facts


def configured_facts(config: str, data_dir: str) -> dict[str, Any]:
    """Return the settings of a config file that are compared with the inventory, and the ids of a member in its data dir.

    config: its text. data_dir: of the inventory. A host that left its group no longer has the variables of the group, and so another data dir. etcd_host_info's
    RETURN documents the keys.
    """
    configured = configured_value(config, "data-dir")
    moved = configured and os.path.realpath(configured) != os.path.realpath(data_dir)
    other: dict[str, Any] = (
        member_facts(configured, None) if configured and moved else {"present": False, "wal_dirs": []}
    )
    return {
        "configured_peer_url": configured_value(config, "initial-advertise-peer-urls"),
        "corruption_checks": corruption_checks(config),
        "other_data_dir": configured if other["present"] else None,
        "other_identity": read_identity(other["wal_dirs"]),
    }
