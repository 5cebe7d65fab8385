# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines are joined to messages."""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.plugin_utils._play.messages import messages


def test_lines_of_one_color_are_one_message() -> None:
    lines = [("a", None), ("b", None), ("c", "red"), ("d", None)]
    assert list(messages(lines)) == [("a\nb", None), ("c", "red"), ("d", None)]
    assert not list(messages([]))
