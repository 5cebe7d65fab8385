# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The minor version of what members and programs report."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.versions import minor, minor_key


@pytest.mark.parametrize(
    ("version", "text", "key"),
    [
        ("3.6.16", "3.6", (3, 6)),
        ("3.10.0-rc.1", "3.10", (3, 10)),
        ("3.6", "3.6", (3, 6)),
        ("", "", ()),
        ("3", "3", ()),
        ("3.x.1", "3.x", ()),
        ("3.6-rc.1", "3.6-rc", ()),
        ("not_decided", "not_decided", ()),
    ],
)
def test_minor(version: str, text: str, key: tuple[int, ...]) -> None:
    assert (minor(version), minor_key(version)) == (text, key)
