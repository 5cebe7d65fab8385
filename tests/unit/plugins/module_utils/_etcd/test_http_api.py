# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked of a member over HTTP."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._etcd.http_api import parse_quota


@pytest.mark.parametrize(
    ("page", "quota"),
    [
        ("# HELP x\netcd_server_quota_backend_bytes 2.147483648e+09\n", 2 << 30),
        ("etcd_server_quota_backend_bytes_other 1\n", None),
    ],
)
def test_parse_quota(page: str, quota: int | None) -> None:
    assert parse_quota(page) == quota
