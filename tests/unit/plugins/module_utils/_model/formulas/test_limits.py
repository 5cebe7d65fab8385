# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The memory that Go counts as heap, but the kernel does not count, because it is never touched."""

from __future__ import annotations

import pytest
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import CONSTANTS_HIGH
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas import limits
from ansible_collections.etcdops.headroom.plugins.module_utils._model.workload import parse_input


@pytest.mark.parametrize(
    ("members", "size", "untouched"),
    [(1, 1000, 0), (3, 1000, 4 * (1048576 - 1000)), (5, 1000, 8 * (1048576 - 1000)), (3, 1048576, 0), (3, 1200000, 0)],
)
def test_entries_touch_the_buffers_of_peers_only_up_to_their_size(members: int, size: int, untouched: int) -> None:
    """Idle members of three (3.7.3) had 4.1 to 5.4 MiB more between what Go counted and RssAnon than a single one."""
    given = parse_input("3.7.3", {"value_size": size - 64, "key_size": 64}, {}, members)
    assert limits.untouched_buffers(CONSTANTS_HIGH["3.7"], given.workload, members) == untouched
