# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Single settings of a config file that Headroom wrote."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.config_file import (
    configured_value,
    corruption_checks,
)

TEXT = """# Managed by etcdops.headroom: changes here are overwritten.
data-dir: /var/lib/etcd/data
initial-advertise-peer-urls: 'https://[fd00::1]:2380'
name: "with space"
peer-transport-security:
    cert-file: /etc/etcd/tls/peer.crt
"""


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("data-dir", "/var/lib/etcd/data"),
        ("initial-advertise-peer-urls", "https://[fd00::1]:2380"),
        ("name", "with space"),
        ("cert-file", None),
        ("peer-transport-security", None),
        ("wal-dir", None),
    ],
)
def test_values(key: str, value: str | None) -> None:
    assert configured_value(TEXT, key) == value


@pytest.mark.parametrize(
    ("text", "checks"),
    [
        (TEXT, []),
        ("feature-gates: StopGRPCServiceOnDefrag=true\n", []),
        (
            "feature-gates: A=true,InitialCorruptCheck=true, CompactHashCheck=true\n",
            ["InitialCorruptCheck", "CompactHashCheck"],
        ),
        ("feature-gates: InitialCorruptCheck=false,CompactHashCheck=true\n", ["CompactHashCheck"]),
        (
            "experimental-initial-corrupt-check: true\nexperimental-compact-hash-check-enabled: false\n",
            ["InitialCorruptCheck"],
        ),
    ],
)
def test_corruption_checks(text: str, checks: list[str]) -> None:
    assert corruption_checks(text) == checks
