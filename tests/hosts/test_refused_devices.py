# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Devices that role etcd_storage refuses on a real host."""

from __future__ import annotations

import re


def test_unusable_devices_are_refused(site):
    run = site.ansible("ansible-playbook", "tests/hosts/storage_refused.yml", timeout=600)
    assert run.code == 0, run.output
    assert len(re.findall(r"Assert that the device was refused for the right reason", run.output)) >= 20
