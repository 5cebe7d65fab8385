# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of role etcd with their defaults, for tests of what is wrong with them."""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.module_utils._membership import unit_settings

DEFAULTS = unit_settings.UnitSettings(
    data_dir="/var/lib/etcd/data",
    wal_dir="",
    install_dir="/opt/etcd",
    config_file="/etc/etcd/etcd.yml",
    tls_dir="/etc/etcd/tls",
    io_weight=500,
    cpu_weight=500,
    oom_score_adjust=-900,
    heartbeat_interval=100,
    election_timeout=1000,
)
