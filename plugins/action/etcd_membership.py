# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the module etcd_membership, with the same information on plays as etcd_member."""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.action import etcd_member


class ActionModule(etcd_member.ActionModule):
    """The action in front of the module; plugins/modules/etcd_membership.py documents both."""

    MODULE = "etcdops.headroom.etcd_membership"
