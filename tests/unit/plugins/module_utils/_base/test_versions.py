# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The minor version of what members and programs report, and the newest of several."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._base.versions import minor, minor_key, newest


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


@pytest.mark.parametrize(
    ("versions", "found"),
    [
        ([], ""),
        (["", ""], ""),
        (["3.6.16", "", "3.7.3", "3.5.35"], "3.7.3"),
        (["3.6.9", "3.6.16"], "3.6.16"),
        (["3.10", "3.9"], "3.10"),
        (["3.6.16", "3.6"], "3.6.16"),
        (["3.6.16", "3.6.16-custom.2", "3.6.16-custom.10"], "3.6.16-custom.10"),
        (["3.6.16-custom", "3.6.17"], "3.6.17"),
        (["3.6.16", "3.6.x"], "3.6.16"),
    ],
)
def test_newest(versions: list[str], found: str) -> None:
    assert newest(versions) == newest(reversed(versions)) == found
