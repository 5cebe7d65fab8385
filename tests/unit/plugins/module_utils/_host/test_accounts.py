# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Users and groups."""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.module_utils._host import accounts


def test_group_facts() -> None:
    assert accounts.group_facts("root") == {"exists": True, "gid": 0}
    assert accounts.group_facts("no-such-group") == {"exists": False}


def test_user_facts() -> None:
    assert accounts.user_facts("root")["uid"] == 0
    assert accounts.user_facts("no-such-user") == {"exists": False}
