# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The free pages of the database."""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import CONSTANTS_HIGH
from ansible_collections.etcdops.headroom.plugins.module_utils._model.formulas import backend, records


def test_a_large_value_leaves_its_pages_in_one_span() -> None:
    constants = CONSTANTS_HIGH["3.7"]
    small = records.Database(revision=4096, history=0, live=0, limit=0, in_use=0, size=4096000)
    large = records.Database(revision=409600, history=0, live=0, limit=0, in_use=0, size=4096000)
    assert backend.freelist(constants, small) - backend.freelist(constants, large) == 990 * constants.freelist_span
