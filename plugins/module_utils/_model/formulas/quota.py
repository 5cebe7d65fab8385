# Copyright (c) 2026, Headroom contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The quota that a plan sets.

Private to the collection. Pure, in the subset of Python that formulas/__init__.py describes.
"""

from __future__ import annotations

from ansible_collections.etcdops.headroom.plugins.module_utils._model.arithmetic import divide_up, permille
from ansible_collections.etcdops.headroom.plugins.module_utils._model.constants import Constants


def quota_with_margin(constants: Constants, margin: int, step: int, size: int, ceiling: int) -> int:
    """Return the quota for a database of this size: with a margin in permille, in whole steps, between etcd's default and a ceiling.

    Unit: bytes
    Source: the section plan of model/inputs.yml
    """
    wanted = divide_up(permille(size, margin), step) * step
    return min(max(wanted, constants.quota_default), ceiling)
